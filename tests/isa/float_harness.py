"""Runs floating-point instructions, many in one kernel, over lane-wise and uniform sources.

Sources and results are bit patterns. Results are compared as patterns, NaN included: NVIDIA's hardware gives
one NaN in each format narrower than f64, and lets f64's pass.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.engines import run_ptx
from tests.ptx_text import kernel

from .floats import FORMATS, Format

BLOCK, GRID = 64, 12
THREADS = BLOCK * GRID

HALF, BRAIN = Format(16, 10), Format(16, 7)
ALL_FORMATS = {**FORMATS, "f16": HALF, "bf16": BRAIN, "tf32": Format(19, 10), "e5m2": Format(8, 2)}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}

Oracle = Callable[..., int]


@dataclass(frozen=True)
class Case:
    """An instruction without its operands, its types, and what it computes.

    `accepts` says whether a result will do in place of what the oracle says; by default only that will.
    """

    opcode: str
    destination: str
    sources: tuple[str, ...]
    oracle: Oracle
    accepts: Callable[[int, int], bool] = int.__eq__


def width(type_: str) -> int:
    """Bits of a PTX type in memory."""
    if type_ in ("pred", "tf32"):
        return {"pred": 8, "tf32": 32}[type_]
    if type_ in ("e4m3x2", "e5m2x2"):
        return 16
    bits, _, pair = type_.lstrip("bfsu").partition("x")
    return int(bits) * (2 if pair else 1)


def _register(type_: str, number: int) -> str:
    if type_ in FORMATS:
        return f"%{'f' if type_ == 'f32' else 'fd'}{number}"
    if type_ == "pred":
        return f"%p{number}"
    return f"%{ {16: 'rs', 32: 'r', 64: 'rd'}[max(16, width(type_))] }{number}"


# ---------------------------------------------------------------------------------------- operands
def edges(type_: str) -> list[int]:
    """Patterns at which floating instructions change their ways, for one half of a pair."""
    f = ALL_FORMATS[type_]
    one, half = f.encode(Fraction(1)), f.encode(Fraction(1, 2))
    normal = 1 << f.fraction
    sizes = [0, 1, 2, 3, normal - 1, normal, normal + 1, half - 1, half, half + 1, one - 1, one, one + 1]
    sizes += [one + 2, f.infinity - 1, f.infinity - 2, f.infinity, f.infinity + 1, f.nan, f.nan | 5]
    sizes += [2 * normal - 2, f.infinity | 5 << (f.fraction - 4)]
    sizes += [f.encode(Fraction(value)) for value in (2, 3, 10)]
    sizes += [f.encode(Fraction(number, 2)) for number in (3, 5, 2**9 + 1, 2**25 - 1)]
    sizes += [f.encode(Fraction(2) ** (power - f.bias)) for power in (-1, f.fraction, f.bias // 2)]
    if f.width > 16:
        exponents = (7, 8, 15, 16, 31, 32, 63, 64)
        sizes += [f.encode(Fraction(2) ** e) for e in exponents]
        sizes += [f.encode(Fraction(2) ** e) - 1 for e in exponents]
    return [pattern | sign for pattern in sizes for sign in (0, f.sign)]


def random_pattern(type_: str, rng: random.Random) -> int:
    """Any bits, or a number of ordinary size."""
    if type_ not in ALL_FORMATS or rng.random() < 0.3:
        return rng.getrandbits(width(type_))
    f = ALL_FORMATS[type_]
    exponent = f.bias + rng.randint(-min(f.bias - 1, 12), min(f.bias - 1, 12))
    return rng.getrandbits(1) * f.sign | exponent << f.fraction | rng.getrandbits(f.fraction)


def _integers(type_: str) -> list[int]:
    bits = width(type_)
    top = 1 << (bits - 1)
    found = [0, 1, (1 << bits) - 1, top, top - 1, top + 1, 3, (1 << bits) - 3]
    found += [(1 << k) + d for k in (11, 24, 25, 53, 54) if k < bits - 1 for d in (-1, 1, 3)]
    return found


def column(type_: str, rng: random.Random) -> list[int]:
    """Operands of all threads: first edges, in an order of their own, then others."""
    base = type_.removesuffix("x2")
    if base == "pred":
        return [rng.getrandbits(1) for _ in range(THREADS)]
    if type_.startswith(("e4m3", "e5m2")):
        return [rng.getrandbits(16) for _ in range(THREADS)]
    ends = edges(base) if base in ALL_FORMATS else _integers(base)

    def one(thread: int) -> int:
        return rng.choice(ends) if thread % 2 or thread < len(ends) * 2 else random_pattern(base, rng)

    if base == type_:
        listed = [*ends, *(one(k) for k in range(THREADS - len(ends)))]
        rng.shuffle(listed)
        return listed
    return [one(k) | one(k) << width(base) for k in range(THREADS)]


def columns(cases: Sequence[Case]) -> list[list[int]]:
    """A column of operands for each source; cancelling and near operands among them."""
    types = cases[0].sources
    rng = random.Random(zlib.crc32(cases[0].opcode.encode()))
    found = [column(type_, rng) for type_ in types]
    if len(types) > 1 and types[0] == types[-1] and types[0] in ALL_FORMATS:
        f = ALL_FORMATS[types[0]]
        for k in range(0, THREADS, 8):
            found[-1][k] = _nearby(f, found, k, rng)
        for k in range(4, THREADS, 32):
            found[0][k], found[1][k] = rng.choice(_almost_normal(f))
            found[2:] = [[*one[:k], 0, *one[k + 1 :]] for one in found[2:]]
    return found


def _almost_normal(f: Format) -> list[tuple[int, int]]:
    """Operands of mul, fma and div whose results round to the smallest normal number, or almost do."""
    one, half, normal = f.encode(Fraction(1)), f.encode(Fraction(1, 2)), 1 << f.fraction
    pairs = [(one - 1, normal), (half + 1, 2 * normal - 2), (one - 1, f.encode(1 / f.smallest))]
    return [(a | sign, b) for a, b in pairs for sign in (0, f.sign)]


def _nearby(f: Format, found: list[list[int]], k: int, rng: random.Random) -> int:
    """A last operand that (almost) cancels the others, or is (almost) in their ratio."""
    values = [f.decode(one[k]) for one in found[:-1]]
    if any(isinstance(value, float) for value in values):
        return found[-1][k]
    product = Fraction(1)
    for value in values:
        assert isinstance(value, Fraction)
        product *= value
    pattern = f.encode(-product if rng.random() < 0.7 else product)
    return (pattern + rng.choice((-1, 0, 0, 1))) & ((f.sign << 1) - 1)


# ---------------------------------------------------------------------------------------- running
def run(cases: Sequence[Case], engine: str) -> list[tuple[Case, list[int], list[tuple[int, ...]]]]:
    """Each case with its results and their operands: lane-wise first, then those of uniform operands."""
    sources = columns(cases)
    types = cases[0].sources
    lines = [
        "mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x; mov.u32 %r92, %ntid.x;",
        "mad.lo.u32 %r93, %r91, %r92, %r90; ld.param.u64 %rd90, [out];",
    ]
    for k, type_ in enumerate(types):
        lines.append(f"ld.param.u64 %rd91, [s{k}];")
        for number, index in ((10 + k, "%r93"), (20 + k, "%r91")):
            bits = width(type_)
            target = "%rs90" if type_ == "pred" else _register(type_, number)
            lines.append(
                f"mad.wide.u32 %rd92, {index}, {bits // 8}, %rd91; ld.global.b{bits} {target}, [%rd92];"
            )
            if type_ == "pred":
                lines.append(f"setp.ne.u16 %p{number}, %rs90, 0;")
    size = 0
    places: list[int] = []
    for case in cases:
        for first in (10, 20):
            size, line = _one(case, types, first, size, places)
            lines.append(line)
    parameters = ", ".join([*(f"u64 s{k}" for k in range(len(types))), "u64 out"])
    out = np.zeros(size, np.uint8)
    arrays = [np.array(one, dtype=f"u{width(t) // 8}") for one, t in zip(sources, types, strict=True)]
    run_ptx(kernel("\n".join([*lines, "ret;"]), parameters), GRID, BLOCK, [*arrays, out], engine=engine)
    operands = list(zip(*sources, strict=True))
    operands += [operands[thread // BLOCK] for thread in range(THREADS)]
    found = []
    for k, case in enumerate(cases):
        results: list[int] = []
        for first in places[2 * k : 2 * k + 2]:
            bytes_ = out[first : first + THREADS * width(case.destination) // 8]
            results += bytes_.view(f"u{width(case.destination) // 8}").tolist()
        found.append((case, results, operands))
    return found


def _one(case: Case, types: tuple[str, ...], first: int, size: int, places: list[int]) -> tuple[int, str]:
    bits = width(case.destination)
    names = ", ".join(_register(type_, first + k) for k, type_ in enumerate(types))
    target = _register(case.destination, 50)
    stored = "%rs50" if case.destination == "pred" else target
    as_number = "selp.u16 %rs50, 1, 0, %p50; " if case.destination == "pred" else ""
    places.append(size)
    line = (
        f"{case.opcode} {target}, {names}; {as_number}"
        f"mad.wide.u32 %rd93, %r93, {bits // 8}, %rd90; st.global.b{bits} [%rd93+{size}], {stored};"
    )
    return -(-(size + THREADS * bits // 8) // 8) * 8, line


def check(cases: Sequence[Case], engine: str) -> None:
    """Run cases and compare; a failure shows the first wrong results of each case."""
    wrong: list[str] = []
    for case, results, operands in run(cases, engine):
        cache: dict[tuple[int, ...], int] = {}
        count = 0
        for have, given in zip(results, operands, strict=True):
            want = cache.setdefault(given, -1)
            if want < 0:
                want = cache[given] = case.oracle(*given)
            if case.accepts(have, want):
                continue
            count += 1
            if count <= 3:
                shown = ", ".join(f"{x:#x}" for x in given)
                wrong.append(f"{case.opcode} of {shown} is {have:#x}, should be {want:#x}")
    assert not wrong, "\n".join(wrong[:24])
