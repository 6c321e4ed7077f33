"""Kernels for cases: short instruction sequences with operands of every kind, and what each lane must store.

A case is PTX with places for registers, `bfe.u32 {r}, {a}, {b}, {c};`, and a function of Python integers.
Each slot of a kernel runs it once more, with sources that differ by lane, are the same in a block, follow the
thread index, or are immediates, with or without a guard.
"""

from __future__ import annotations

import random
import string
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.ptx_text import kernel

from .assemble import flag, literal, places
from .inputs import edges, random_pattern
from .oracles import width, wrap

BLOCK, GRID = 33, 20
THREADS = BLOCK * GRID
_AFFINE = ((3, -40), (-1, 5), (8, 1), (1, 0), (-5, 77))  # factor and offset of each source's affine values
# The registers that address the output, by the bits of a store.
_PLACES = {8: "%rd80", 16: "%rd81", 32: "%rd82", 64: "%rd83", 128: "%rd84"}
_SENTINEL = 0x5A5A5A5A5A5A5A5A

# Sources that are not any number of their type: name -> type and values to choose from.
POOLS: dict[str, tuple[str, tuple[int, ...]]] = {
    "position": ("u32", (0, 1, 5, 8, 15, 16, 31, 32, 33, 40, 63, 64, 65, 255, 256, 288, 1 << 31, 0xFFFFFFFF)),
    "field": ("u32", (0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 65, 100, 255, 256, 288, 1 << 31, 0xFFFFFFFF)),
    "lane": ("u32", tuple(range(32))),
    "offset": ("s32", (0, 1, 2, 3, 5, 8, 32, 33, *(-k & 0xFFFFFFFF for k in (1, 2, 3, 5, 8, 32)))),
    "selector": ("u32", (0x3210, 0x7654, 0x0123, 0x4567, 0xFEDC, 0xBA98, 0x5432, 0x77770000, 0x9A3, 0xFFFF)),
}

# ptxas refuses larger immediates for these.
_LARGEST_IMMEDIATE = {"field": 255}

Oracle = Callable[..., int | tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """One sequence: its places {a}, {b}, ... take `sources`, and {r}, {s}, {t} are the `results`, by type."""

    text: str
    sources: tuple[str, ...]  # PTX types or names of POOLS
    results: tuple[str, ...]
    oracle: Oracle
    immediates: bool = True  # whether sources may be immediates
    brief: bool = False  # for the many forms of one operation: fewer kinds of operands

    @property
    def cost(self) -> int:
        """How much of a kernel its slots make up."""
        ways = 3 if self.brief else 9 + len(self.sources) if self.immediates else 6
        return ways * len(self.results)


@dataclass(frozen=True)
class Slot:
    """One run of a case: a result's place in the output and its expected pattern by thread."""

    text: str
    bits: int
    first: int
    expected: Callable[[int], int]


@dataclass
class Kernel:
    """A kernel under construction."""

    lines: list[str] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    inputs: list[np.ndarray] = field(default_factory=list)
    size: int = 0

    def text(self) -> str:
        """The PTX."""
        return kernel("\n".join([*self.lines, "ret;"]), "u64 inputs, u64 flags, u64 out")

    def arguments(self) -> list[np.ndarray]:
        """Inputs, flags and an empty output."""
        flags = np.array([flag(lane) for lane in range(THREADS)], np.uint8)
        inputs = np.concatenate(self.inputs) if self.inputs else np.zeros(1, np.uint64)
        return [inputs, flags, np.zeros(self.size, np.uint8)]

    def wrong(self, output: np.ndarray) -> list[str]:
        """The first wrong thread of every slot that has one."""
        found: list[str] = []
        for slot in self.slots:
            place = output[slot.first : slot.first + slot.bits // 8 * THREADS]
            for thread, have in enumerate(_integers(place, slot.bits)):
                want = slot.expected(thread)
                if have != want:
                    found.append(f"{slot.text}\n  thread {thread}: {have:#x}, should be {want:#x}")
                    break
        return found


def _integers(place: np.ndarray, bits: int) -> list[int]:
    if bits <= 64:
        return place.view(f"u{bits // 8}").tolist()
    low, high = place.view(np.uint64).reshape(-1, 2).T.tolist()
    return [x | y << 64 for x, y in zip(low, high, strict=True)]


def build(cases: Iterable[Case]) -> Kernel:
    """A kernel with slots for every case."""
    built = Kernel()
    built.lines += [
        "ld.param.u64 %rd90, [out]; ld.param.u64 %rd91, [flags]; ld.param.u64 %rd93, [inputs];",
        "mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x; mov.u32 %r92, %ntid.x;",
        "mad.lo.u32 %r93, %r91, %r92, %r90;",
        "cvt.u64.u32 %rd92, %r93; add.u64 %rd91, %rd91, %rd92;",
        "ld.global.u8 %rs90, [%rd91]; setp.ne.u16 %p90, %rs90, 0;",
        "and.b32 %r94, %r91, 1; setp.eq.u32 %p91, %r94, 1; setp.lt.u32 %p92, %r90, 5;",
        *places(_PLACES),
    ]
    for number, case in enumerate(cases):
        _Writer(built, case, number).write()
    return built


class _Writer:
    """Writes the slots of one case."""

    def __init__(self, built: Kernel, case: Case, number: int):
        self.built = built
        self.case = case
        self.number = number
        self.types = tuple(POOLS[name][0] if name in POOLS else name for name in case.sources)
        self.rng = random.Random(zlib.crc32(case.text.encode()))
        self.patterns = [
            tuple(self._pattern(k) for k in range(len(self.types))) for _ in range(THREADS + GRID)
        ]
        self.cache: dict[tuple[int, ...], tuple[int, ...]] = {}

    def write(self) -> None:
        """Load the sources, then run the case on them in several ways."""
        self._load()
        count = len(self.types)
        self._slot(["lane"] * count)
        self._slot(["block"] * count)
        self._slot([("lane", "block")[k % 2] for k in range(count)])
        if self.case.brief:
            return
        affine = ["lane" if type_ == "pred" else "affine" for type_ in self.types]
        self._slot(affine)
        guards = (
            ("@%p90", flag),
            ("@!%p91", lambda t: t // BLOCK % 2 == 0),
            ("@%p92", lambda t: t % BLOCK < 5),
        )
        guard, holds = guards[self.number % 3]
        self._slot(["lane"] * count, guard, holds)
        self._slot(["block"] * count, "@%p91", lambda t: t // BLOCK % 2 == 1)
        if self.case.immediates:
            for place in range(count):
                if self.types[place] != "pred":
                    self._slot([f"={self._immediate(k)}" if k == place else "lane" for k in range(count)])
            for _ in range(3):
                self._slot(
                    [
                        "lane" if type_ == "pred" else f"={self._immediate(k)}"
                        for k, type_ in enumerate(self.types)
                    ]
                )

    def _pattern(self, place: int) -> int:
        name, type_ = self.case.sources[place], self.types[place]
        choices = POOLS[name][1] if name in POOLS else edges(type_)
        if self.rng.random() < (0.7 if name in POOLS else 0.35):
            return self.rng.choice(choices)
        return random_pattern(type_, self.rng) if name != "lane" else self.rng.choice(choices)

    def _immediate(self, place: int) -> int:
        return self._pattern(place) & _LARGEST_IMMEDIATE.get(self.case.sources[place], -1)

    def _load(self) -> None:
        """Every source from memory: by thread in %x10.., by block in %x20..; affine ones in %x30.."""
        for k, type_ in enumerate(self.types):
            first = 8 * THREADS * len(self.built.inputs) + 8 * GRID * len(self.built.inputs)
            self.built.inputs.append(np.array([one[k] for one in self.patterns], np.uint64))
            for index, number, start in (("%r93", 10 + k, first), ("%r91", 20 + k, first + 8 * THREADS)):
                self.built.lines.append(f"mad.wide.u32 %rd94, {index}, 8, %rd93;")
                self.built.lines += _take(type_, number, f"[%rd94+{start}]")
            if type_ != "pred":
                factor, offset = _AFFINE[k]
                self.built.lines.append(f"mad.lo.s32 %r95, %r99, {factor}, {offset};")
                self.built.lines.append(f"cvt.s{_width(type_)}.s32 {register(type_, 30 + k)}, %r95;")

    def _slot(
        self, kinds: list[str], guard: str = "", holds: Callable[[int], bool] = lambda thread: True
    ) -> None:
        case, built = self.case, self.built
        names = {
            string.ascii_letters[k]: self._operand(k, kind, type_)
            for k, (kind, type_) in enumerate(zip(kinds, self.types, strict=True))
        }
        targets = [register(type_, 50 + k) for k, type_ in enumerate(case.results)]
        text = case.text.format(**names, **dict(zip("rstu", targets, strict=False)))
        lines = [_preset(type_, target) for type_, target in zip(case.results, targets, strict=True) if guard]
        lines += [f"{guard} {one.strip()};".strip() for one in text.split(";") if one.strip()]
        built.lines += lines
        for place, (type_, target) in enumerate(zip(case.results, targets, strict=True)):
            bits = 16 if type_ == "pred" else _width(type_)

            def expected(thread: int, place: int = place, bits: int = bits, type_: str = type_) -> int:
                if not holds(thread):
                    return flag(thread) if type_ == "pred" else _SENTINEL & ((1 << bits) - 1)
                given = tuple(self._value(k, kind, thread) for k, kind in enumerate(kinds))
                return self._results(given)[place]

            if type_ == "pred":
                built.lines.append(f"selp.u16 %rs50, 1, 0, {target};")
                target = "%rs50"
            built.size = -(-built.size // 8) * 8
            built.slots.append(Slot("\n".join(lines), bits, built.size, expected))
            built.lines.append(f"st.global.b{bits} [{_PLACES[bits]}+{built.size}], {target};")
            built.size += bits // 8 * THREADS

    def _operand(self, place: int, kind: str, type_: str) -> str:
        first = {"lane": 10, "block": 20, "affine": 30}.get(kind)
        return literal(type_, int(kind[1:])) if first is None else register(type_, first + place)

    def _value(self, place: int, kind: str, thread: int) -> int:
        if kind == "lane":
            return self.patterns[thread][place]
        if kind == "block":
            return self.patterns[THREADS + thread // BLOCK][place]
        if kind == "affine":
            factor, offset = _AFFINE[place]
            return (thread % BLOCK % 32 * factor + offset) & ((1 << width(self.types[place])) - 1)
        return int(kind[1:])

    def _results(self, patterns: tuple[int, ...]) -> tuple[int, ...]:
        if patterns not in self.cache:
            found = self.case.oracle(*(wrap(t, p) for t, p in zip(self.types, patterns, strict=True)))
            values = found if isinstance(found, tuple) else (found,)
            assert len(values) == len(self.case.results)
            self.cache[patterns] = tuple(
                int(value) & ((1 << (1 if t == "pred" else _width(t))) - 1)
                for t, value in zip(self.case.results, values, strict=True)
            )
        return self.cache[patterns]


def _width(type_: str) -> int:
    """Bits of a register for a type."""
    return max(16, width(type_))


def register(type_: str, number: int) -> str:
    """A register for a type, by NVVM's names."""
    if type_ == "pred":
        return f"%p{number}"
    return f"%{ {16: 'rs', 32: 'r', 64: 'rd'}[_width(type_)] }{number}"


def _take(type_: str, number: int, address: str) -> Iterator[str]:
    if type_ != "pred":
        yield f"ld.global.b{_width(type_)} {register(type_, number)}, {address};"
        return
    yield f"ld.global.u16 %rs91, {address};"
    yield f"setp.ne.u16 %p{number}, %rs91, 0;"


def _preset(type_: str, target: str) -> str:
    if type_ == "pred":
        return f"mov.pred {target}, %p90;"
    bits = _width(type_)
    return f"mov.b{bits} {target}, {_SENTINEL & ((1 << bits) - 1)};"
