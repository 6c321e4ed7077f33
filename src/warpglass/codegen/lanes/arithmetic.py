"""Fast arithmetic: the facts of a result decide its form (values/results.py), and that form is emitted.

A value is uniform (one scalar), affine (one scalar plus an offset per lane known at compile time; a static
pattern is the same thing with arbitrary offsets) or a general vector. Every operation keeps the cheapest form
that is exact modulo the width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.lanes import Outline, Table
from ...isa.rounding import NAN
from ...isa.types import BITS
from ..builder import Deferred, constant_vector
from ..machine.target import vector_bytes
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..registers import line_text
from ..shape import BlockShape, Promises
from ..values.affine import line_of
from ..values.facts import FactArithmetic
from ..values.operations import DIVISIONS
from ..values.results import (
    DONE,
    ENDS,
    EXTENDED,
    FIRST,
    LANES,
    LIMIT,
    LIMITS,
    LINE,
    PARTS,
    QUOTIENT,
    REST,
    SCALAR,
    SIGN,
    Operands,
    Result,
)
from ..values.specials import Specials
from ..values.value import LOOSE_NAN, ONE_NAN, Value, literal, no_offsets, one_value, replace
from .byte_differences import ByteDifferences
from .choices import Choices
from .division import divide
from .embedded_rounding import rounded
from .extremes import EXTREMES, extreme
from .indices import Indices
from .nans import DelayedNans
from .narrow import HALVES, WORDS, NarrowVectors
from .narrow_sums import NarrowSums
from .paired_products import PairedProducts
from .reference import ReferenceLanes
from .saturation import SATURATING, saturated
from .tables import looked_up
from .word_bytes import WordBytes
from .words_of_bytes import dot_of_bytes, dot_of_halves, windows_of_bits

# Vectors of guarded values that are made of each other and wait to be asked for: each is a few calls deep.
_DEEPEST = 50


class FastArithmetic(FactArithmetic, ReferenceLanes):
    """Arithmetic on values of any form, given what the launches promise."""

    access: WarpAtomics

    def __init__(
        self,
        access: WarpAtomics,
        local: LocalMemory,
        shape: BlockShape,
        promises: Promises,
        probes: Sequence[Probe] = (),
    ):
        super().__init__(access, local, shape, probes)
        self.promises = promises
        self.same = no_offsets(self.width)
        self.nans = DelayedNans(self)
        self.narrow = NarrowVectors(self, WORDS)
        # Halves are of no use where the words of all lanes fit one register.
        several, halves = self.width * 4 > vector_bytes(), NarrowVectors(self, HALVES)
        self._narrowings = (self.narrow, halves) if several else (self.narrow,)
        self.pairs = PairedProducts(self, halves)
        self.sums = NarrowSums(self, halves)
        self.differences = ByteDifferences(self)
        self.indices = Indices(self)
        self.choices = Choices(self)
        self.bytes = WordBytes(self)
        self.specials = Specials(shape, promises)

    # ------------------------------------------------------------------------------------ forms
    def pick_bytes(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        # What is made of values with a form may have one, which then is that of the register.
        used = [one for one, own in ((a, range(4)), (b, range(4, 8))) if not set(own).isdisjoint(places)]
        if a.constant is not None or b.constant is not None or all(one.offsets is not None for one in used):
            return super().pick_bytes(a, b, places)
        return self.bytes.picked(a, b, places)

    def dot(self, onto: Value, a: Value, b: Value, a_signed: bool, b_signed: bool) -> Value:
        forms = a.offsets is not None and b.offsets is not None
        if a.constant is not None or b.constant is not None or forms:
            return super().dot(onto, a, b, a_signed, b_signed)
        return dot_of_bytes(self, onto, a, b, a_signed, b_signed)

    def dot_halves(self, onto: Value, a: Value, b: Value) -> Value:
        forms = a.offsets is not None and b.offsets is not None
        found = None if forms else dot_of_halves(self, onto, a, b)
        return super().dot_halves(onto, a, b) if found is None else found

    def windows(self, a: Value, starts: Sequence[int]) -> Value | None:
        return windows_of_bits(self, a, starts)

    def as_vector(self, a: Value) -> Value:
        if a.offsets is None:
            return a
        text = a.lanes() if a.lanes is not None else self._spread(a)
        if a.type[0] == "i" and a.ok is None:
            for narrowing in self._narrowings:
                if a.type == narrowing.type:
                    narrowing.note(text, a)
        return Value(a.type, text, None, None, a.low, a.high, nan=a.nan)

    def note_extended(self, a: Value) -> None:
        for narrowing in self._narrowings:
            narrowing.cut(a)
        self.differences.cut(a)

    def _spread(self, a: Value) -> str:
        """A vector of a value that has a form for certain."""
        assert a.offsets is not None
        if one_value(a.offsets):
            return self.builder.splat(a.type, a.ir)
        line = line_of(a)
        if line is not None and line[0] == 0:
            patterns = (literal(a.type, line[1] + offset, BITS[a.type]) for offset in a.offsets)
            return constant_vector(a.type, patterns)
        text, offsets = self.builder.splat(a.type, a.ir), constant_vector(a.type, a.offsets)
        return self.builder.value(f"add {self.builder.vector(a.type)} {text}, {offsets}")

    def of_line(self, a: Value) -> Value:
        """A value whose scalar the warp's number gives."""
        assert a.line is not None
        a.ir = line_text(self.builder, a.type, a.line)
        return a

    def vectors(self, *values: Value) -> Operands:
        """Values as general vectors."""
        for value in values:
            if value.offsets is not None:
                return tuple([self.as_vector(value) for value in values])
        return values

    def guard_like(self, a: Value, guarded: bool) -> Value:
        if not guarded or a.ok is not None:
            return a
        return replace(a, ok="true", lanes=Deferred(self.builder, lambda: self.as_vector(a).ir))

    def _guard(
        self, result: Value, sources: Operands, emit: Callable[[], Value], test: str | None = None
    ) -> Value:
        """A scalar result guarded by its sources' guards and a test of its own; `emit` makes the vector."""
        guards = dict.fromkeys(source.ok for source in sources if source.ok is not None)
        if test is not None:
            guards[test] = None
        result.ok = None
        for guard in guards:
            result.ok = guard if result.ok is None else self.builder.value(f"and i1 {result.ok}, {guard}")
        if guards:
            depths = [one.lanes.depth for one in sources if isinstance(one.lanes, Deferred)]
            depth = 1 + max(depths, default=0)
            if depth <= _DEEPEST:
                result.lanes = Deferred(self.builder, lambda: emit().ir, depth)
            else:
                text = emit().ir
                result.lanes = Deferred(self.builder, lambda: text)
        return result

    # ------------------------------------------------------------------------------------ results
    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        form, result, operands = found
        if form == LANES:
            made = extreme(self, name, *operands) if name in EXTREMES else None
            made = self.emit(name, *self.vectors(*operands), type_=type_) if made is None else made
            result.ir = made.ir
            if result.type == "double":
                self.nans.note(name, result, operands)
            elif result.type == "i64":
                self.indices.note(result, name, operands)
            elif result.type == "i32":
                result.ir = self.pairs.note(name, result, operands)
                result.ir = self.sums.note(result, name, operands)
            self.choices.note(result, name, operands, type_)
            self.differences.note(result, name, operands)
            self.bytes.note(result, name, operands)
            return result
        if form == DONE:
            return result
        if form == LINE:
            return self.of_line(result)
        test = None
        if form == SCALAR:
            result.ir = self.emit(name, *operands, type_=type_, lanes=1).ir
        else:
            result.ir, test = _SPECIAL[form](self, name, operands, type_)
        if result.ok is None:
            return result
        sources = operands[:2] if form == PARTS else operands
        return self._guard(result, sources, lambda: self._in_lanes(name, sources, type_), test)

    def _in_lanes(self, name: str, operands: Operands, type_: str) -> Value:
        """An operation on vectors, as where a guard does not hold."""
        if name in DIVISIONS:
            return divide(self, name, *operands)
        return self.emit(name, *self.vectors(*operands), type_=type_)

    def _parts(self, name: str, operands: Operands, type_: str) -> tuple[str, None]:
        """An operation on bits on scalars, whose bits are none of the offsets'."""
        return self.apply(name, *operands[2:]).ir, None

    def _first(self, name: str, operands: Operands, type_: str) -> tuple[str, None]:
        """A comparison that is the same for all lanes of a warp."""
        return self.emit(name, *map(self._first_lane, operands), lanes=1).ir, None

    def _first_lane(self, a: Value) -> Value:
        assert a.offsets is not None
        first = literal(a.type, a.offsets[0], BITS[a.type])
        return Value(a.type, self.builder.value(f"add {a.type} {a.ir}, {first}"), self.same)

    def _extended(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """An affine value extended, if no lane wraps."""
        (a,) = operands
        test = self._stays(a, signed=name == "sext")
        return self.emit(name, a, type_=type_, lanes=1).ir, test

    def _sign(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """The sign of an affine value, if no lane wraps and all have one."""
        a, b = operands[0], self.builder
        scalar = self.emit(name, *operands, lanes=1).ir
        assert a.offsets is not None
        same = self._stays(a, signed=True)
        ends = [b.value(f"add {a.type} {a.ir}, {end}") for end in (min(a.offsets), max(a.offsets))]
        agree = b.value(f"icmp sge {a.type} {b.value(f'xor {a.type} {ends[0]}, {ends[1]}')}, 0")
        return scalar, b.value(f"and i1 {same}, {agree}")

    def _limited(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """An affine value that a uniform one may limit, as a border limits an index: mostly it does not."""
        a, b = operands
        free, limit = (a, b) if one_value(b.offsets) else (b, a)
        assert free.offsets is not None
        extreme, predicate = LIMITS[name]
        outermost = self.builder.value(f"add {free.type} {free.ir}, {extreme(free.offsets)}")
        inside = self.builder.value(f"icmp {predicate} {free.type} {outermost}, {limit.ir}")
        return free.ir, self.builder.value(f"and i1 {self._stays(free, signed=True)}, {inside}")

    def _ends(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """A comparison with a uniform value: uniform where the outermost lanes agree, as they mostly do."""
        a, b = operands
        free = b if one_value(a.offsets) else a
        assert free.offsets is not None
        ends: list[str] = []
        for distance in (min(free.offsets), max(free.offsets)):
            end = replace(free, ir=self.builder.value(f"add {free.type} {free.ir}, {distance}"))
            pair = (a, end) if free is b else (end, b)
            ends.append(self.emit(name, *pair, lanes=1).ir)
        differ = self.builder.value(f"xor i1 {ends[0]}, {ends[1]}")
        agree = self.builder.value(f"xor i1 {differ}, true")
        stays = self._stays(free, signed=name.startswith("icmp s"))
        return ends[0], self.builder.value(f"and i1 {stays}, {agree}")

    def _agreed(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """A quotient that is uniform where the outermost lanes have the same, as they mostly do."""
        a, b = operands
        assert a.offsets is not None
        ends: list[str] = []
        for distance in (min(a.offsets), max(a.offsets)):
            end = Value(a.type, self.builder.value(f"add {a.type} {a.ir}, {distance}"), self.same)
            ends.append(self.emit(name, end, b, lanes=1).ir)
        same = self.builder.value(f"icmp eq {a.type} {ends[0]}, {ends[1]}")
        stays = self._stays(a, signed=name[0] in "sa")
        return ends[0], self.builder.value(f"and i1 {stays}, {same}")

    def _rest(self, name: str, operands: Operands, type_: str) -> tuple[str, str]:
        """What is left of an affine value where all lanes have one quotient."""
        a, b = operands
        if name == "and":  # what divides is one more
            assert b.constant is not None
            name, b = "urem", self.constant(a.type, b.constant + 1)
        quotient, test = self._agreed(name.replace("rem", "div"), (a, b), type_)
        whole = self.builder.value(f"mul {a.type} {quotient}, {b.ir}")
        return self.builder.value(f"sub {a.type} {a.ir}, {whole}"), test

    def _stays(self, a: Value, signed: bool) -> str:
        """An i1 that holds if base plus offset wraps in no lane; one of the offsets is zero."""
        assert a.offsets is not None
        width, low, high = BITS[a.type], min(a.offsets), max(a.offsets)
        # The values of the base for which no lane wraps are one interval; an unsigned test from its start.
        start = (-(1 << (width - 1)) if signed else 0) - low
        room = (1 << width) - 1 - (high - low)
        distance = self.builder.value(f"sub {a.type} {a.ir}, {start}")
        return self.builder.value(f"icmp ule {a.type} {distance}, {literal(a.type, room, width)}")

    def absolute(self, a: Value) -> Value:
        found = self.differences.absolute(a)
        return super().absolute(a) if found is None else found

    def _quotient(self, operation: str, a: Value, b: Value) -> Value:
        return divide(self, operation, a, b)

    # ------------------------------------------------------------------------------------ NaNs
    def late(self, a: Value) -> bool:
        return a.ir in self.nans.late

    def exact(self, a: Value) -> Value:
        if a.ir in self.nans.late:
            return self.nans.settle(a)
        if a.nan != LOOSE_NAN:
            return a
        single = self.bitcast(a, "float")
        is_nan, nan = self.compare("uno", single, single), self.constant("float", NAN["float"])
        return self.bitcast(replace(self.select(is_nan, nan, single), nan=ONE_NAN), a.type)

    def all_exact(self, values: Operands) -> Operands:
        late = self.nans.late
        for value in values:
            if value.nan == LOOSE_NAN or value.ir in late:
                return tuple([self.exact(value) for value in values])
        return values

    def exact_all(self, values: Sequence[Value]) -> list[Value]:
        return self.nans.settle_all(values)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        result = super().compare(predicate, a, b)
        if predicate == "uno" and a is b and a.type == "double" and a.offsets is None:
            self.nans.tests[result.ir] = a
        return result

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        tested = self.nans.tests.get(rare.ir)
        if tested is not None and self.nans.delays(usual, other, tested):
            return usual
        usual, settled = self.exact(usual), lambda: self.exact(other())
        if rare.constant is not None:
            return settled() if rare.constant else usual
        if tested is None and rare.uniform and usual.uniform:
            return replace(self.around(rare.ir, usual, settled, lanes=1), offsets=self.same)
        in_lanes = lambda: self.emit("select", rare, self.as_vector(settled()), usual)  # noqa: E731
        if tested is not None:
            return self.around(self.nans.someone(tested), self.as_vector(usual), in_lanes)
        rare, usual = self.vectors(rare, usual)
        return self.around(self.builder.someone(self.builder.mask_bits(rare.ir)), usual, in_lanes)

    def look_up(self, table: Table, index: Value) -> Value:
        index = self.exact(index)
        if index.constant is not None:
            return self.constant(table.type, table.patterns[index.constant])
        if index.uniform:
            return Value(table.type, looked_up(self.builder, table, index.ir, 1), self.same)
        return super().look_up(table, self.as_vector(index))

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        operands = self.all_exact(tuple(operands))
        if outline.lanewise and all(value.uniform for value in operands):
            return tuple(outline.make(self, *operands))
        return super().outline(outline, operands)

    def rounded(self, operation: str, mode: str, operands: Sequence[Value]) -> Value | None:
        return rounded(self, operation, mode, tuple(operands))

    def around(self, someone: str, usual: Value, other: Callable[[], Value], *, lanes: int = 0) -> Value:
        def aside() -> Value:
            with self.nans.aside():
                return other()

        return super().around(someone, usual, aside, lanes=lanes)

    # ------------------------------------------------------------------------------------ emission
    def emit(self, name: str, *operands: Value, type_: str = "", lanes: int = 0) -> Value:
        if not lanes:
            for narrowing in self._narrowings:
                if narrowing.type in (operands[-1].type, type_):
                    found = narrowing.emit(name, operands, type_)
                    if found is not None:
                        return found
        if not lanes and name in SATURATING:
            return saturated(self, name, operands[0], type_)
        if self.flushes and lanes == 1 and name.startswith(_OF_NUMBERS):
            operands = self._for_the_host(operands)
        return super().emit(name, *operands, type_=type_, lanes=lanes)

    def _for_the_host(self, operands: Operands) -> Operands:
        """Constants as LLVM does not know them: what it computes itself, it may leave subnormal."""
        if any(value.constant is None for value in operands):
            return operands
        first = operands[0]
        text = f'call {first.type} asm "", "=x,0"({first.type} {first.ir})'
        return replace(first, ir=self.builder.value(text)), *operands[1:]

    def multiply_high(self, a: Value, b: Value, signed: bool) -> Value:
        if a.constant is not None:
            a, b = b, a
        narrow = self.narrow.product_high(a, b, signed)
        if narrow is not None or a.type != "i64" or (a.uniform and b.uniform):
            return narrow or super().multiply_high(a, b, signed)
        unseen = self.builder.value('call i64 asm "", "=r,0"(i64 32)')
        return self.multiply_high_64(a, b, signed, Value("i64", unseen, self.same))


# Operations on numbers that the host may have to flush.
_OF_NUMBERS = ("fadd", "fsub", "fmul", "fdiv", "fcmp", "llvm.fma", "llvm.sqrt")

# What emits a form: the scalar, and an i1 that says whether it stands for all lanes.
_SPECIAL: dict[int, Callable[[FastArithmetic, str, Operands, str], tuple[str, str | None]]] = {
    PARTS: FastArithmetic._parts,
    FIRST: FastArithmetic._first,
    EXTENDED: FastArithmetic._extended,
    SIGN: FastArithmetic._sign,
    LIMIT: FastArithmetic._limited,
    ENDS: FastArithmetic._ends,
    QUOTIENT: FastArithmetic._agreed,
    REST: FastArithmetic._rest,
}
