"""The processor that kernels are compiled for: this host, or less of it.

`WARPGLASS_CPU` names one of the levels of x86-64, for code that is the same on all machines of a cluster or
to see what an older processor would do. Features can be left out of it, or of "host", and with them what
builds on them: "x86-64-v3,-fma". It is read once.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from functools import lru_cache

import llvmlite
import llvmlite.binding as llvm

from ...errors import ArgumentError
from .jit import OPTION, Target, host_target, reaches_near

VARIABLE = "WARPGLASS_CPU"
_HOST = "host"
# What each level has beyond the one before it: the x86-64 psABI's table, in LLVM's names.
_LEVELS = {
    "x86-64": "",
    "x86-64-v2": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3",
    "x86-64-v3": "avx avx2 bmi bmi2 f16c fma lzcnt movbe",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
# What all code for x86-64 uses, so nobody can leave it out.
_BASE = frozenset("64bit cmov cx8 fxsr mmx sse sse2 x87".split())
# Which vector features build on which: LLVM drops them together.
_BUILT_ON = {
    "ssse3": "sse3",
    "sse4.1": "ssse3",
    "sse4.2": "sse4.1",
    "avx": "sse4.2",
    "avx2": "avx",
    "f16c": "avx",
    "fma": "avx",
    "avx512f": "avx2 f16c fma",
}


def _builds_on(feature: str) -> list[str]:
    """What a feature needs; those of which the table says nothing are told by their names."""
    if feature in _BUILT_ON:
        return _BUILT_ON[feature].split()
    prefixes = {"avx512": "avx512f", "avx": "avx2", "vaes": "avx2", "vpclmul": "avx2"}
    return [base for prefix, base in prefixes.items() if feature.startswith(prefix)][:1]


def _left_out(wish: str, without: Sequence[str]) -> list[str]:
    """The features that `without` names, and all that build on them."""
    known = {*llvm.get_host_cpu_features(), *(one for level in _LEVELS for one in _features(level))}
    gone: list[str] = []
    for one in without:
        name = one[1:]
        if one[:1] != "-" or name not in known | _BASE:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean -{close[0]}?" if close else ""
            raise ArgumentError(
                f"{VARIABLE} is {wish!r}; behind the name features may be left out, as in host,-fma, but "
                f"{one!r} leaves out none{hint}"
            )
        if name in _BASE:
            raise ArgumentError(f"{VARIABLE} is {wish!r}, but there is no x86-64 without {name}")
        gone.append(name)
    for name in gone:
        gone += [one for one in sorted(known) if name in _builds_on(one) and one not in gone]
    return gone


def _features(level: str) -> set[str]:
    """All features of a level."""
    names = list(_LEVELS)
    return {name for one in names[: names.index(level) + 1] for name in _LEVELS[one].split()}


@lru_cache(maxsize=1)
def chosen_target() -> Target:
    """What to compile for. Raises ArgumentError if it is unknown or more than this host."""
    host = host_target()
    wish = os.environ.get(VARIABLE, "") or _HOST
    name, *without = wish.split(",")
    gone = _left_out(wish, without)
    removed = "".join(f",-{one}" for one in gone)
    if name == _HOST:
        return Target(host.triple, host.cpu, host.features + removed)
    if not host.triple.startswith("x86_64") or name not in _LEVELS:
        known = [_HOST, *(_LEVELS if host.triple.startswith("x86_64") else ())]
        raise ArgumentError(f"{VARIABLE} is {wish!r}; it may be {', '.join(known)}")
    has = llvm.get_host_cpu_features()
    missing = sorted(one for one in _features(name) if not has.get(one) and one not in gone)
    if missing:
        raise ArgumentError(f"{VARIABLE} is {wish!r}, but this processor lacks {', '.join(missing)}")
    return Target(host.triple, name, removed.removeprefix(","))


@lru_cache(maxsize=1)
def host_key() -> str:
    """What object code depends on besides its IR: the processor, its features, LLVM's version and option."""
    target = chosen_target()
    reach = "near" if reaches_near(target.triple) else "far"
    return f"{target.triple} {target.cpu} {target.features} {reach} llvmlite {llvmlite.__version__} {OPTION}"


@lru_cache(maxsize=1)
def _available() -> frozenset[str]:
    """The features that code may use, apart from those that follow from others."""
    target = chosen_target()
    has = _features(target.cpu) if target.cpu in _LEVELS else set[str]()
    has |= {one[1:] for one in target.features.split(",") if one[:1] == "+"}
    return frozenset(has - {one[1:] for one in target.features.split(",") if one[:1] == "-"})


@lru_cache(maxsize=1)
def vector_bytes() -> int:
    """Bytes of the processor's widest vector register."""
    has = _available()
    return 64 if "avx512f" in has else 32 if "avx2" in has else 16


@lru_cache(maxsize=1)
def masks_bytes() -> bool:
    """Whether the processor stores any of a register's bytes."""
    return "avx512bw" in _available()


@lru_cache(maxsize=1)
def picks_words() -> bool:
    """Whether the processor picks words from two registers of 64 bytes."""
    return "avx512f" in _available()


@lru_cache(maxsize=1)
def multiplies_bytes() -> bool:
    """Whether the processor adds up products of bytes, and of halves, in registers of 64 bytes."""
    return "avx512vnni" in _available()


@lru_cache(maxsize=1)
def picks_bits() -> bool:
    """Whether the processor makes bytes of any eight bits that follow each other in words."""
    return "avx512vbmi" in _available()


@lru_cache(maxsize=1)
def packs_bytes() -> bool:
    """Whether the processor moves the bytes of a mask side by side."""
    return "avx512vbmi2" in _available()


@lru_cache(maxsize=1)
def rounds_as_told() -> bool:
    """Whether instructions of the processor can say how they round."""
    return "avx512f" in _available()


@lru_cache(maxsize=1)
def finds_extremes() -> bool:
    """Whether an instruction of the processor finds minima and maxima as IEEE 754's numbers have them."""
    return "avx512dq" in _available()


@lru_cache(maxsize=1)
def converts_any() -> bool:
    """Whether the processor's conversions to integers are told by name, with what they make of the rest."""
    return "avx512f" in _available()


@lru_cache(maxsize=1)
def converts_wide() -> bool:
    """Whether vectors of 64-bit integers become doubles and back, and doubles are inverted approximately."""
    return "avx512dq" in _available()


@lru_cache(maxsize=1)
def flushes() -> bool:
    """Whether the processor has a mode that flushes subnormal numbers as NVIDIA's hardware does.

    aarch64's looks for subnormal results before they are rounded.
    """
    return chosen_target().triple.startswith("x86_64")


@lru_cache(maxsize=1)
def converts_half() -> bool:
    """Whether the processor has instructions that convert between float and half: all but old x86 ones."""
    target = chosen_target()
    if target.triple.split("-")[0] not in ("x86_64", "i686", "i386"):
        return True
    if "-f16c" in target.features.split(","):
        return False
    return "f16c" in _features(target.cpu) if target.cpu in _LEVELS else "+f16c" in target.features.split(",")


@lru_cache(maxsize=1)
def float_register() -> str:
    """The letter by which inline assembly names a register for a float."""
    return "w" if chosen_target().triple.startswith(("aarch64", "arm64")) else "x"


@lru_cache(maxsize=1)
def time_stamp() -> str:
    """LLVM's name of what reads a counter of time that any program may read: x86's counts cycles."""
    x86 = chosen_target().triple.startswith(("x86_64", "i686", "i386"))
    return "llvm.readcyclecounter" if x86 else "llvm.readsteadycounter"


@lru_cache(maxsize=1)
def gathers_quickly() -> bool:
    """Whether a gather of the processor takes no longer than a load for each lane, without code for those.

    So it does on Intel's cores with AMX: Sapphire Rapids and later, half as long as lanes' loads that are put
    together. On Zen 4 it takes longer, and on Intel's older cores several times as long, since their gathers
    were mended against a leak of data.
    """
    return {"amx-tile", "avx512f"} <= _available()


@lru_cache(maxsize=1)
def stream_bytes() -> int:
    """Bytes of an array from which stores to it go past the caches.

    The last cache's size is no guide: a core of many, or a virtual machine's, has only a part of it. On
    Sapphire Rapids, whose 300 MB are shared and slow, sums of 6 to 12 MB take 0.65 to 0.85 of the time past
    it although the next sum reads them, of 16 to 128 MB 0.35 to 0.75. At 4 MB whoever reads the array next
    takes up to 1.25. Zen 4 has 16 to 32 MB for some cores, which are quick.
    """
    return 6 << 20 if gathers_quickly() else 16 << 20


@lru_cache(maxsize=1)
def misses_pages() -> bool:
    """Whether the processor seldom fetches by itself what loads in other pages will need.

    So it was on Zen 4. On Sapphire Rapids, whose own fetching got along, asking for it cost up to half as
    much time again in loops that stride by the grid (`codegen/memory/prefetch.py`).
    """
    return chosen_target().cpu.startswith("znver")
