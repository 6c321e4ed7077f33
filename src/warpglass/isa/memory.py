"""Loads and stores (PTX manual, "ld", "ld.global.nc", "ldu", "st").

A narrow load into a wider register is zero-extended, or sign-extended for `.s` types; a store writes the
low part of a wider register. Both happen in the meaning: the address operand is a 64-bit value. An access of
128 bits is one of two 64-bit elements. Every block is a cluster of its own, so `.shared::cluster` is its own
shared memory.

What blocks tell each other by a strong access of a vector of up to 128 bits, GPUs read and write at once, and
look-back scans (CUB's, for one: a status and a sum) rely on it, though the manual leaves it open. So they are
accesses of one element here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from .hints import L1_PRIORITY, L2_PRIORITY, LOAD_CACHE, PREFETCH_SIZE, STORE_CACHE, hinted
from .lanes import Lanes, Update
from .table import Match, add_row
from .types import LLVM_TYPE, MEMORY, bits, integer_of

V = TypeVar("V")

SHARED = "shared shared::cta shared::cluster"
COMMON = f"global {SHARED}"  # what threads share: only here are accesses ordered
SCOPES = "cta cluster gpu sys"
_WRITABLE = f"{COMMON} local"
_READABLE = f"{_WRITABLE} const"
_COUNT = {None: 1, "v2": 2, "v4": 4, "v8": 8}

_DOUBLEWORDS = "b64 u64 s64 f64"
_WORDS = "b32 u32 s32 f32"
_NARROW = " ".join(type_ for type_ in MEMORY.split() if type_ not in _DOUBLEWORDS.split())
# What follows an access's other modifiers: vector and type. Those of 256 bits are for global memory only.
_ELEMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("{.vec}.type", {"vec": "v2 v4", "type": _NARROW}),
    ("{.vec}.type", {"vec": "v2", "type": _DOUBLEWORDS}),
    ("{.vec}.type", {"vec": "", "type": "b128"}),
)
_WIDE_ELEMENTS = (
    (".vec.type", {"vec": "v8", "type": _WORDS}),
    (".vec.type", {"vec": "v4", "type": _DOUBLEWORDS}),
)


def is_strong(m: Match) -> bool:
    """Whether other threads' accesses to the same place are seen in order: volatile, relaxed, acquire, ..."""
    return m.volatile is not None or m.sem is not None or m.mmio is not None


_WIDEST = 128  # bits of a vector that is accessed at once
_EXCHANGE = Update("put_b128", lambda lanes, old, new: new)
_READ = Update("get_b128", lambda lanes, old, given: old, writes=False)


def _at_once(m: Match, size: int) -> bool:
    """Whether an access of so many bits in all, more than one element, must not be seen in parts."""
    shared_by_blocks = m.state_space in ("global", "generic")
    return is_strong(m) and shared_by_blocks and (m.vec is not None or m.type == "b128") and size <= _WIDEST


def _load_at_once(lanes: Lanes[V], space: str, a: V, size: int) -> V:
    whole = f"i{size}"
    if size < _WIDEST:
        return lanes.load(space, a, whole, 1, volatile=True)[0]
    return lanes.update(space, _READ, a, [(lanes.constant(whole, 0),)])[0]


def _store_at_once(lanes: Lanes[V], space: str, a: V, whole: V, size: int) -> None:
    if size < _WIDEST:
        lanes.store(space, a, (whole,), volatile=True)
    else:
        lanes.update(space, _EXCHANGE, a, [(whole,)])


def in_window(lanes: Lanes[V], space: str, a: V) -> V:
    """Whether a generic address is one of a space that has a window of its own, shared or local."""
    distance = lanes.sub(a, lanes.window(space))
    return lanes.compare("ult", distance, lanes.constant("i64", 1 << 32))


def ld(lanes: Lanes[V], m: Match, a: V, policy: V | None = None) -> V | tuple[V, ...]:
    """The elements at an address."""
    space, type_, count = m.state_space, LLVM_TYPE[m.values["type"]], _COUNT[m.vec]
    size = count * bits(type_)
    if _at_once(m, size):
        whole = _load_at_once(lanes, space, a, size)
        return tuple(lanes.bitcast(part, type_) for part in lanes.split(whole, count)) if m.vec else whole
    if m.type == "b128":
        return lanes.join(lanes.load(space, a, "i64", 2, volatile=is_strong(m)))
    loaded = lanes.load(space, a, type_, count, volatile=is_strong(m))
    return loaded if m.vec else loaded[0]


def st(lanes: Lanes[V], m: Match, a: V, b: V | tuple[V, ...], policy: V | None = None) -> None:
    """Write the elements at an address."""
    type_ = LLVM_TYPE[m.values["type"]]
    size = _COUNT[m.vec] * bits(type_)
    if _at_once(m, size):
        parts = [lanes.bitcast(part, integer_of(type_)) for part in b] if isinstance(b, tuple) else [b]
        _store_at_once(lanes, m.state_space, a, lanes.join(parts), size)
        return
    if isinstance(b, tuple):
        values = b
    else:
        values = lanes.split(b, 2) if m.type == "b128" else (b,)
    lanes.store(m.state_space, a, values, volatile=is_strong(m))


# ---------------------------------------------------------------------------------------- rows
# Modifiers behind the opcode, what they stand for, whether they go with a cache policy, and with other hints.
_Head = tuple[str, dict[str, Any], bool, bool]
_LOADS: tuple[_Head, ...] = (
    ("ld{.weak}{.space}{.cache}", {"space": _READABLE, "cache": f"{LOAD_CACHE} {L1_PRIORITY}"}, True, True),
    ("ld.volatile{.space}", {"space": _WRITABLE}, False, True),
    (
        "ld.sem.scope{.space}{.cache}",
        {"sem": "relaxed acquire", "scope": SCOPES, "space": COMMON, "cache": L1_PRIORITY},
        True,
        True,
    ),
    ("ld.mmio.relaxed.sys{.space}", {"space": "global"}, False, False),
    ("ld.space{.cache}.nc", {"space": "global", "cache": LOAD_CACHE}, True, True),
    ("ld.space.nc{.cache}", {"space": "global", "cache": L1_PRIORITY}, True, True),
)
_STORES: tuple[_Head, ...] = (
    ("st{.weak}{.space}{.cache}", {"space": _WRITABLE, "cache": f"{STORE_CACHE} {L1_PRIORITY}"}, True, False),
    (
        "st.sem.scope{.space}{.cache}",
        {"sem": "relaxed release", "scope": SCOPES, "space": COMMON, "cache": L1_PRIORITY},
        True,
        False,
    ),
    ("st.volatile{.space}", {"space": _WRITABLE}, False, False),
    ("st.mmio.relaxed.sys{.space}", {"space": "global"}, False, False),
)


def _forms(head: _Head, operands: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every notation of an access with its choices."""
    words, choices, with_policy, with_hints = head
    size = "{.prefetch}" if with_hints else ""
    for wide in (False, True) if "global" in choices["space"] else (False,):
        priority = "{.priority}" if wide and with_policy else ""
        for elements, types in _WIDE_ELEMENTS if wide else _ELEMENTS:
            everything = {**choices, **types, "prefetch": PREFETCH_SIZE, "priority": L2_PRIORITY}
            everything |= {"space": "global"} if wide else {}
            notations = list(hinted(f"{words}{priority}", f"{size}{elements}", operands))
            for notation in notations if with_policy else notations[:1]:
                yield notation, everything


for _head in _LOADS:
    for _notation, _choices in _forms(_head, "d*, [a]"):
        _waits = _head[0].startswith(("ld.volatile", "ld.sem", "ld.mmio"))
        add_row(_notation, unit="memory", meaning=ld, access="load", waits=_waits, **_choices)
for _head in _STORES:
    for _notation, _choices in _forms(_head, "[a], b*"):
        add_row(_notation, unit="memory", meaning=st, access="store", **_choices)
for _elements, _types in _ELEMENTS:
    add_row(f"ld.param{_elements}  d*, [a]", unit="memory", meaning=ld, access="parameter", **_types)
    add_row(
        f"ldu{{.space}}{_elements}  d*, [a]",
        unit="memory",
        meaning=ld,
        access="load",
        space="global",
        **_types,
    )
