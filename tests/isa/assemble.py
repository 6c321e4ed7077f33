"""One kernel that runs a group of instruction forms on every kind of operand, and what it must store.

Each slot of the output is one instruction: its sources are different in every lane, the same in all lanes of
a block, affine in the lane, or immediates; it may stand under a guard. A block of 33 threads leaves a
warp with one lane.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests.ptx_text import kernel

from .floats import FORMATS
from .forms import Form
from .inputs import IMMEDIATE_SHIFTS_SKIPPED, combinations, edges, shift_edges
from .oracles import oracle_for, width, wrap

BLOCK, GRID = 33, 32
THREADS = BLOCK * GRID
_DISTINCT = 640  # different source combinations; they repeat over the lanes
_AFFINE = ((3, -40), (-1, 5), (8, 1))  # factor and offset of each source's affine values
# The registers that address the output, by the bits of a store.
_PLACES = {8: "%rd80", 16: "%rd81", 32: "%rd82", 64: "%rd83"}

Lane = int


@dataclass
class Slot:
    """One instruction of the kernel: its text for a failure, and what each lane stores."""

    text: str
    bits: int
    expected: Callable[[Lane], int]
    floating: str | None  # the type, if results are compared as numbers
    first: int = 0  # byte of the output where the slot begins


@dataclass
class Assembly:
    """A kernel under construction."""

    types: tuple[str, ...]
    sources: list[tuple[int, ...]]  # what each lane loads, repeating
    lines: list[str] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    size: int = 0

    def text(self) -> str:
        """The PTX."""
        return kernel("\n".join([*self.lines, "ret;"]), "u64 a, u64 b, u64 c, u64 flags, u64 out")

    def arrays(self) -> list[np.ndarray]:
        """The arguments: three sources by thread then by block, flags, output."""
        columns = []
        for k in range(3):
            values = [self.lane(lane)[k] if k < len(self.types) else 0 for lane in range(THREADS)]
            values += [self.block(block)[k] if k < len(self.types) else 0 for block in range(GRID)]
            columns.append(
                np.array(values, dtype=f"u{storage(self.types[k]) // 8 if k < len(self.types) else 1}")
            )
        flags = np.array([flag(lane) for lane in range(THREADS)], np.uint8)
        return [*columns, flags, np.zeros(self.size, np.uint8)]

    def lane(self, lane: Lane) -> tuple[int, ...]:
        """The source patterns of a thread."""
        return self.sources[lane % len(self.sources)]

    def block(self, block: int) -> tuple[int, ...]:
        """The source patterns of a block's uniform operands."""
        return self.sources[block * 3 % len(self.sources)]


def flag(lane: Lane) -> bool:
    """The predicate that guards have, different in neighbouring lanes."""
    return bool(zlib.crc32(lane.to_bytes(4, "little")) & 4)


def storage(type_: str) -> int:
    """Bits that a source of a type takes in memory."""
    return 8 if type_ == "pred" else width(type_)


def register_bits(type_: str) -> int:
    """Bits of a register for a type."""
    return max(16, width(type_)) if type_ != "pred" else 8


def register(type_: str, number: int) -> str:
    """A register for a type."""
    if type_ == "pred":
        return f"%p{number}"
    if type_ in FORMATS:
        return f"%{'f' if type_ == 'f32' else 'fd'}{number}"
    return f"%{ {16: 'rs', 32: 'r', 64: 'rd'}[register_bits(type_)] }{number}"


def literal(type_: str, pattern: int) -> str:
    """An immediate operand."""
    if type_ in FORMATS:
        return f"0{type_.replace('f32', 'f').replace('f64', 'd')}{pattern:0{width(type_) // 4}X}"
    value = wrap(type_, pattern)
    return f"{value}U" if value >= 1 << 63 else str(value)


def assemble(forms: list[Form]) -> Assembly:
    """The kernel for forms of the same operand types, each with an oracle."""
    types = forms[0].sources
    rng = random.Random(zlib.crc32(forms[0].opcode.encode()))
    shift = width(types[0]) if forms[0].row.pattern.opcode in ("shl", "shr") else None
    built = Assembly(types, combinations(types, shift, _DISTINCT, rng))
    _prelude(built)
    for number, form in enumerate(forms):
        writer = _Writer(built, form, shift, rng)
        plain = [writer.mixed, writer.guarded, writer.affine, writer.wide, writer.immediates]
        writer.operands("lane " * len(types))
        if number % 8 < 2:
            writer.operands("block " * len(types))
        for write in plain if number == 0 else plain[number % 8 : number % 8 + 1]:
            write()
    return built


def places(registers_: dict[int, str]) -> list[str]:
    """Each thread's place in the output %rd90, a register for each number of bits; %r99 is the lane.

    Threads of blocks of 33 have no form that the engine knows, but lanes have. It compiles stores to known
    forms, of which a kernel has as many as slots, in a tenth of the time of others.
    """
    return [
        "mov.u32 %r99, %laneid; activemask.b32 %r97; setp.ge.u32 %p93, %r90, 32;",
        "vote.sync.any.pred %p94, %p93, %r97; selp.u32 %r97, 32, 0, %p94;",
        "mad.lo.u32 %r97, %r91, %r92, %r97;",
        *(
            f"mad.wide.u32 %rd97, %r97, {bits // 8}, %rd90; mad.wide.u32 {name}, %r99, {bits // 8}, %rd97;"
            for bits, name in registers_.items()
        ),
    ]


def _prelude(built: Assembly) -> None:
    lines = built.lines
    lines += [
        "ld.param.u64 %rd90, [out]; ld.param.u64 %rd91, [flags];",
        "mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x; mov.u32 %r92, %ntid.x;",
        "mad.lo.u32 %r93, %r91, %r92, %r90;",
        "cvt.u64.u32 %rd92, %r93; add.u64 %rd91, %rd91, %rd92;",
        "ld.global.u8 %rs90, [%rd91]; setp.ne.u16 %p90, %rs90, 0;",
        "and.b32 %r94, %r91, 1; setp.eq.u32 %p91, %r94, 1; setp.lt.u32 %p92, %r90, 5;",
    ]
    lines += places(_PLACES)
    for k, type_ in enumerate(built.types):
        size = storage(type_) // 8
        lines.append(f"ld.param.u64 %rd93, [{'abc'[k]}];")
        lines.append(f"mad.wide.u32 %rd94, %r93, {size}, %rd93;")
        lines.append(f"mad.wide.u32 %rd95, %r91, {size}, %rd93;")
        for number, address, offset in ((10 + k, "%rd94", 0), (20 + k, "%rd95", THREADS * size)):
            target = register(type_, number) if type_ != "pred" else "%rs91"
            lines.append(f"ld.global.b{storage(type_)} {target}, [{address}+{offset}];")
            if type_ == "pred":
                lines.append(f"setp.ne.u16 %p{number}, %rs91, 0;")
        if type_ not in FORMATS and type_ != "pred":
            factor, offset = _AFFINE[k]
            lines.append(f"mad.lo.s32 %r95, %r99, {factor}, {offset};")
            lines.append(f"cvt.s{register_bits(type_)}.s32 {register(type_, 30 + k)}, %r95;")


class _Writer:
    """Writes the slots of one form."""

    def __init__(self, built: Assembly, form: Form, shift: int | None, rng: random.Random):
        self.built = built
        self.form = form
        self.shift = shift
        self.rng = rng
        oracle = oracle_for(form.row.pattern.opcode, form.values, len(form.sources))
        assert oracle is not None
        self.oracle = oracle
        self.whole = all(type_ not in FORMATS and type_ != "pred" for type_ in form.sources)
        self.cache: dict[tuple[int, ...], tuple[int, ...]] = {}

    # ------------------------------------------------------------------------------------ what is written
    def mixed(self) -> None:
        """Uniform and lane-wise sources side by side."""
        if len(self.form.sources) > 1:
            self.operands("lane block lane")
            self.operands("block lane block")

    def affine(self) -> None:
        """Sources that follow the lane."""
        if self.whole:
            self.operands("affine block block")
            self.operands("affine affine affine")
            self.operands("lane affine affine")
            self.operands("affine affine affine", "@!%p92 ", lambda lane: lane % BLOCK >= 5)

    def guarded(self) -> None:
        """Guards that differ by lane, by block, and by a known pattern."""
        lanes = "lane " * len(self.form.sources)
        self.operands(lanes, "@%p90 ", flag)
        self.operands(lanes, "@!%p91 ", lambda lane: lane // BLOCK % 2 == 0)
        self.operands(lanes, "@%p92 ", lambda lane: lane % BLOCK < 5)
        self.operands("block " * len(self.form.sources), "@%p91 ", lambda lane: lane // BLOCK % 2 == 1)

    def immediates(self) -> None:
        """Constants in each place, then in all of them."""
        types = self.form.sources
        if self.form.row.pattern.opcode.startswith("cvt") or types[0] == "pred":
            return
        for place, type_ in enumerate(types):
            for pattern in self.rng.sample(self._edges(place), 2 if type_ != "pred" else 0):
                kinds = ["lane"] * len(types)
                kinds[place] = f"={pattern}"
                self.operands(" ".join(kinds))
                kinds = ["affine" if self.whole else "block"] * len(types)
                kinds[place] = f"={pattern}"
                self.operands(" ".join(kinds))
        for _ in range(5):
            chosen = [self.rng.choice(self._edges(place)) for place in range(len(types))]
            kinds = ["lane" if t == "pred" else f"={p}" for t, p in zip(types, chosen, strict=True)]
            self.operands(" ".join(kinds))

    def wide(self) -> None:
        """cvt may read the low part of a wider register and fill a wider one."""
        form = self.form
        if form.row.pattern.opcode != "cvt" or not self.whole or form.destination in FORMATS:
            return
        source, bits = form.sources[0], width(form.sources[0])
        lines = [f"cvt.u64.u{bits} %rd40, {register(source, 10)};"]
        if bits < 64:
            lines.append(f"or.b64 %rd40, %rd40, {0xA5A5A5A5A5A5A5A5 << bits & (1 << 64) - 1}U;")
        lines.append(f"{form.opcode} %rd41, %rd40;")
        self._slot("\n".join(lines), 64, ["%rd41"], lambda lane: self._result(self.built.lane(lane), 64)[:1])

    def _edges(self, place: int) -> list[int]:
        last = place == len(self.form.sources) - 1
        if self.shift and last:
            return [amount for amount in shift_edges(self.shift) if amount not in IMMEDIATE_SHIFTS_SKIPPED]
        return edges(self.form.sources[place])

    # ------------------------------------------------------------------------------------ slots
    def operands(
        self, kinds: str, guard: str = "", holds: Callable[[Lane], bool] = lambda lane: True
    ) -> None:
        """A slot whose sources are of the given kinds: lane, block, affine or =pattern."""
        form = self.form
        chosen = kinds.split()[: len(form.sources)]
        names = []
        for k, (kind, type_) in enumerate(zip(chosen, form.sources, strict=True)):
            first = {"lane": 10, "block": 20, "affine": 30}.get(kind)
            names.append(literal(type_, int(kind[1:])) if first is None else register(type_, first + k))
        pair = form.operands[0][0].second is not None
        targets = [register(form.destination, 50 + k) for k in range(2 if pair else 1)]
        lines = [_preset(form.destination, target) for target in targets] if guard else []
        lines.append(f"{guard}{form.opcode} {'|'.join(targets)}, {', '.join(names)};")

        def expected(lane: Lane) -> tuple[int, ...]:
            if not holds(lane):
                return (_preset_pattern(form.destination, lane),) * len(targets)
            return self._result(tuple(self._pattern(k, kind, lane) for k, kind in enumerate(chosen)))

        self._slot("\n".join(lines), register_bits(form.destination), targets, expected)

    def _pattern(self, place: int, kind: str, lane: Lane) -> int:
        if kind == "lane":
            return self.built.lane(lane)[place]
        if kind == "block":
            return self.built.block(lane // BLOCK)[place]
        if kind == "affine":
            factor, offset = _AFFINE[place]
            return (lane % BLOCK % 32 * factor + offset) & ((1 << width(self.form.sources[place])) - 1)
        return int(kind[1:])

    def _result(self, patterns: tuple[int, ...], bits: int | None = None) -> tuple[int, ...]:
        """The destination registers' patterns for source patterns."""
        if patterns not in self.cache:
            form = self.form
            pairs = zip(form.sources, patterns, strict=True)
            given = [p if t in FORMATS else bool(p) if t == "pred" else wrap(t, p) for t, p in pairs]
            result = self.oracle(form.values, *given)
            self.cache[patterns] = result if isinstance(result, tuple) else (result,)
        destination = self.form.destination
        if destination in FORMATS or destination == "pred":
            return tuple(int(value) for value in self.cache[patterns])
        whole = bits or register_bits(destination)
        return tuple(wrap(destination, int(value)) & ((1 << whole) - 1) for value in self.cache[patterns])

    def _slot(
        self, text: str, bits: int, targets: list[str], expected: Callable[[Lane], tuple[int, ...]]
    ) -> None:
        built = self.built
        built.lines.append(text)
        stored = targets[0]
        if targets[0].startswith("%p"):
            built.lines += [
                f"selp.u16 %rs{50 + k}, {k + 1}, 0, {target};" for k, target in enumerate(targets)
            ]
            stored = "%rs50"
        if len(targets) > 1:
            built.lines.append("or.b16 %rs50, %rs50, %rs51;")

        def pattern(lane: Lane) -> int:
            return sum(value << k for k, value in enumerate(expected(lane)))

        built.size = -(-built.size // 8) * 8
        built.slots.append(Slot(text, bits, pattern, self._floating(), built.size))
        built.lines.append(f"st.global.b{bits} [{_PLACES[bits]}+{built.size}], {stored};")
        built.size += bits // 8 * THREADS

    def _floating(self) -> str | None:
        moves = self.form.row.pattern.opcode in ("mov", "selp")
        return self.form.destination if self.form.destination in FORMATS and not moves else None


_SENTINEL = 0x5A5A5A5A5A5A5A5A


def _preset(type_: str, register_: str) -> str:
    if type_ == "pred":
        return f"mov.pred {register_}, %p90;"
    pattern = _preset_pattern(type_, 0)
    kind = type_ if type_ in FORMATS else f"b{register_bits(type_)}"
    return f"mov.{kind} {register_}, {literal(kind, pattern)};"


def _preset_pattern(type_: str, lane: Lane) -> int:
    return int(flag(lane)) if type_ == "pred" else _SENTINEL & ((1 << register_bits(type_)) - 1)


def mismatches(built: Assembly, output: np.ndarray) -> list[str]:
    """The first wrong lane of every slot that has one."""
    found: list[str] = []
    for slot in built.slots:
        bytes_ = output[slot.first : slot.first + slot.bits // 8 * THREADS]
        stored = bytes_.view(f"u{slot.bits // 8}").tolist()
        for lane, have in enumerate(stored):
            want = slot.expected(lane)
            if have == want:
                continue
            f = FORMATS.get(slot.floating or "")
            if f and f.is_nan(have) and f.is_nan(want):
                continue
            sources = [hex(x) for x in built.lane(lane)], [hex(x) for x in built.block(lane // BLOCK)]
            where = f"thread {lane}: {have:#x}, should be {want:#x}"
            found.append(f"{slot.text}\n  {where}; sources of lane and block: {sources}")
            break
    return found
