"""Fast arithmetic: the facts of a result decide its form (values/results.py), and that form is emitted.

A value is uniform (one scalar), affine (one scalar plus an offset per lane known at compile time; a static
pattern is the same thing with arbitrary offsets) or a general vector. Every operation keeps the cheapest form
that is exact modulo the width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.lanes import Outline
from ...isa.rounding import NAN
from ...isa.types import BITS, is_float
from ..builder import Deferred, constant_vector
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..registers import line_text
from ..shape import BlockShape, Promises
from ..values.affine import line_of
from ..values.division import tested_divisor, total_division
from ..values.narrow import keeps_narrow
from ..values.operations import BLIND_CONVERSIONS, KEEPS_NAN, OPERATIONS, PASSES_NAN, SEES_NAN, UNKNOWN
from ..values.results import (
    DIVISION,
    DONE,
    ENDS,
    EXTENDED,
    FIRST,
    LANES,
    LIMIT,
    LIMITS,
    LINE,
    PARTS,
    SCALAR,
    SIGN,
    Operands,
    arithmetic,
    comparison,
    conversion,
    selection,
)
from ..values.value import (
    EXACT_NAN,
    LOOSE_NAN,
    ONE_NAN,
    SINGLE,
    Value,
    constant,
    literal,
    no_offsets,
    one_value,
    replace,
)
from .division import divide
from .nans import DelayedNans
from .narrow import NarrowVectors
from .reference import ReferenceLanes


class FastArithmetic(ReferenceLanes):
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
        self.narrow = NarrowVectors(self)

    # ------------------------------------------------------------------------------------ forms
    def constant(self, type_: str, pattern: int) -> Value:
        return constant(type_, pattern, self.width)

    def as_vector(self, a: Value) -> Value:
        if a.offsets is None:
            return a
        text = a.lanes() if a.lanes is not None else self._spread(a)
        if a.type == "i64" and a.ok is None:
            self.narrow.note(text, a)
        return Value(a.type, text, None, None, a.low, a.high, nan=a.nan)

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
        return tuple([value if value.offsets is None else self.as_vector(value) for value in values])

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
            result.lanes = Deferred(self.builder, lambda: emit().ir)
        return result

    # ------------------------------------------------------------------------------------ NaNs
    def one_nan(self, a: Value, pattern: int) -> Value:
        return replace(a, nan=LOOSE_NAN)

    def late(self, a: Value) -> bool:
        return a.ir in self.nans.late

    def exact(self, a: Value) -> Value:
        if a.ir in self.nans.late:
            return self.nans.settle(a)
        if a.nan != LOOSE_NAN:
            return a
        single = self.bitcast(a, "float")
        settled = self.select(
            self.compare("uno", single, single), self.constant("float", NAN["float"]), single
        )
        return self.bitcast(replace(settled, nan=ONE_NAN), a.type)

    def _all_exact(self, values: Operands) -> Operands:
        late = self.nans.late
        for value in values:
            if value.nan == LOOSE_NAN or value.ir in late:
                return tuple([self.exact(value) for value in values])
        return values

    def exact_all(self, values: Sequence[Value]) -> list[Value]:
        return self.nans.settle_all(values)

    # ------------------------------------------------------------------------------------ arithmetic
    def apply(self, operation: str, *operands: Value) -> Value:
        sees = OPERATIONS.get(operation, UNKNOWN).nan
        if operands[0].type == "double":
            if sees == PASSES_NAN:
                result = self._arithmetic(operation, operands)
                self.nans.note(result, operands)
                return result
            operands = self._all_exact(operands)
        if sees in (PASSES_NAN, SEES_NAN):
            return self._arithmetic(operation, operands)
        if sees == KEEPS_NAN:
            return replace(self._arithmetic(operation, operands), nan=operands[0].nan)
        if operation == "llvm.copysign" and operands[0].constant == 0:
            return replace(self._arithmetic(operation, operands), nan=ONE_NAN)
        return self._arithmetic(operation, self._all_exact(operands))

    def _arithmetic(self, operation: str, operands: Operands) -> Value:
        form, result, sources = arithmetic(operation, operands, self.shape)
        if form == LANES:
            result.ir = self.emit(operation, self.vectors(*operands)).ir
            return result
        if form == DONE:
            return result
        if form == LINE:
            return self.of_line(result)
        if form == DIVISION:
            a, b = operands
            plain = lambda a, b: divide(self, operation, a, b)  # noqa: E731
            made = total_division(self, operation, a, tested_divisor(b), plain)
            if made.constant is not None:
                return made
            return replace(
                made, low=result.low, high=result.high, zeros=0 if made.offsets is None else made.zeros
            )
        test = None
        if form == SCALAR:
            result.ir = self.emit(operation, operands, lanes=1).ir
        elif form == PARTS:
            result.ir = self.apply(operation, *sources).ir
        elif form == SIGN:
            result.ir = self.emit(operation, operands, lanes=1).ir
            test = self._one_sign(operands[0])
        else:
            assert form == LIMIT
            result.ir, test = self._limited(operation, *operands)
        if result.ok is None:
            return result
        return self._guard(result, operands, lambda: self.emit(operation, self.vectors(*operands)), test)

    def _limited(self, operation: str, a: Value, b: Value) -> tuple[str, str]:
        """An affine value that a uniform one may limit, as a border limits an index: mostly it does not."""
        free, limit = (a, b) if one_value(b.offsets) else (b, a)
        assert free.offsets is not None
        extreme, predicate = LIMITS[operation]
        outermost = self.builder.value(f"add {free.type} {free.ir}, {extreme(free.offsets)}")
        inside = self.builder.value(f"icmp {predicate} {free.type} {outermost}, {limit.ir}")
        return free.ir, self.builder.value(f"and i1 {self._stays(free, signed=True)}, {inside}")

    def _one_sign(self, a: Value) -> str:
        """An i1 that holds if base plus offset wraps in no lane and all lanes have one sign."""
        assert a.offsets is not None
        same = self._stays(a, signed=True)
        ends = [self.builder.value(f"add {a.type} {a.ir}, {x}") for x in (min(a.offsets), max(a.offsets))]
        mixed = self.builder.value(f"xor {a.type} {ends[0]}, {ends[1]}")
        agree = self.builder.value(f"icmp sge {a.type} {mixed}, 0")
        return self.builder.value(f"and i1 {same}, {agree}")

    def _stays(self, a: Value, signed: bool) -> str:
        """An i1 that holds if base plus offset wraps in no lane; one of the offsets is zero."""
        assert a.offsets is not None
        width, low, high = BITS[a.type], min(a.offsets), max(a.offsets)
        # The values of the base for which no lane wraps are one interval; an unsigned test from its start.
        start = (-(1 << (width - 1)) if signed else 0) - low
        room = (1 << width) - 1 - (high - low)
        distance = self.builder.value(f"sub {a.type} {a.ir}, {start}")
        return self.builder.value(f"icmp ule {a.type} {distance}, {literal(a.type, room, width)}")

    # ------------------------------------------------------------------------------------ comparisons
    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if not is_float(a.type):
            a, b = self._all_exact((a, b))
        form, result, _ = comparison(predicate, a, b, self.shape)
        if form == DONE:
            return result
        if form == LINE:
            return self.of_line(result)
        if form == LANES:
            result.ir = self.emit_compare(predicate, *self.vectors(a, b)).ir
            if predicate == "uno" and a is b and a.type == "double":
                self.nans.tests[result.ir] = a
            return result
        test = None
        if form == FIRST:
            first = [self._first_lane(value) for value in (a, b)]
            result.ir = self.emit_compare(predicate, *first, lanes=1).ir
        elif form == SCALAR:
            result.ir = self.emit_compare(predicate, a, b, lanes=1).ir
        else:
            assert form == ENDS
            result.ir, test = self._compare_ends(predicate, a, b)
        if result.ok is None:
            return result
        return self._guard(result, (a, b), lambda: self.emit_compare(predicate, *self.vectors(a, b)), test)

    def _first_lane(self, a: Value) -> Value:
        """A value's first lane for all lanes."""
        assert a.offsets is not None
        first = literal(a.type, a.offsets[0], BITS[a.type])
        return Value(a.type, self.builder.value(f"add {a.type} {a.ir}, {first}"), self.same)

    def _compare_ends(self, predicate: str, a: Value, b: Value) -> tuple[str, str]:
        """A comparison with a uniform value: uniform where the outermost lanes agree, as they mostly do."""
        free = b if one_value(a.offsets) else a
        assert free.offsets is not None
        ends: list[str] = []
        for distance in (min(free.offsets), max(free.offsets)):
            end = replace(free, ir=self.builder.value(f"add {free.type} {free.ir}, {distance}"))
            pair = (a, end) if free is b else (end, b)
            ends.append(self.emit_compare(predicate, *pair, lanes=1).ir)
        differ = self.builder.value(f"xor i1 {ends[0]}, {ends[1]}")
        agree = self.builder.value(f"xor i1 {differ}, true")
        stays = self._stays(free, signed=predicate[0] == "s")
        return ends[0], self.builder.value(f"and i1 {stays}, {agree}")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if EXACT_NAN in (a.nan, b.nan):
            a, b = self._all_exact((a, b))
        form, result, _ = selection(condition, a, b)
        if form == DONE:
            return result
        if form == LANES:
            result.ir = self.emit_select(*self.vectors(condition, a, b)).ir
            return result
        result.ir = self.emit_select(condition, a, b, lanes=1).ir
        if result.ok is None:
            return result
        return self._guard(
            result, (condition, a, b), lambda: self.emit_select(*self.vectors(condition, a, b))
        )

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        tested = self.nans.tests.get(rare.ir)
        if tested is not None and self.nans.delays(rare, usual, other, tested):
            return usual
        usual, settled = self.exact(usual), lambda: self.exact(other())
        if rare.constant is not None:
            return settled() if rare.constant else usual
        if tested is None and rare.uniform and usual.uniform:
            return replace(self.around(rare.ir, usual, settled, lanes=1), offsets=self.same)
        in_lanes = lambda: self.emit_select(rare, self.as_vector(settled()), usual)  # noqa: E731
        if tested is not None:
            return self.around(self.nans.someone(tested), self.as_vector(usual), in_lanes)
        rare, usual = self.vectors(rare, usual)
        return self.around(self.builder.someone(self.builder.mask_bits(rare.ir)), usual, in_lanes)

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if operation == "bitcast" and a.type in SINGLE and type_ in SINGLE:
            return replace(self._converted(operation, a, type_), nan=a.nan)
        return self._converted(operation, a if operation in BLIND_CONVERSIONS else self.exact(a), type_)

    def _converted(self, operation: str, a: Value, type_: str) -> Value:
        form, result, _ = conversion(operation, a, type_, self.shape)
        if form == DONE:
            return result
        if form == LINE:
            return self.of_line(result)
        if form == LANES:
            result.ir = self.emit_convert(operation, self.as_vector(a), type_).ir
            return result
        test = self._stays(a, signed=operation == "sext") if form == EXTENDED else None
        result.ir = self.emit_convert(operation, a, type_, lanes=1).ir
        if result.ok is None:
            return result
        return self._guard(result, (a,), lambda: self.emit_convert(operation, self.as_vector(a), type_), test)

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return super().outline(outline, self._all_exact(tuple(operands)))

    def multiply_high(self, a: Value, b: Value, signed: bool) -> Value:
        if a.constant is not None:
            a, b = b, a
        return self.narrow.product_high(a, b, signed) or super().multiply_high(a, b, signed)

    # ------------------------------------------------------------------------------------ emission
    # Vectors of 64-bit integers are computed as narrow ones where that suffices (narrow.py).
    def emit(self, operation: str, operands: Operands, *, lanes: int = 0) -> Value:
        if lanes or operands[0].type != "i64" or not keeps_narrow(operation, operands):
            return super().emit(operation, operands, lanes=lanes)
        narrow = None if self.narrow.shifts(operation, operands) else self.narrow.find(*operands)
        if narrow is None:
            return super().emit(operation, operands)
        return self.narrow.extended(super().emit(operation, narrow))

    def emit_compare(self, predicate: str, a: Value, b: Value, *, lanes: int = 0) -> Value:
        narrow = None if lanes else self.narrow.find(a, b)
        return super().emit_compare(predicate, *(narrow or (a, b)), lanes=lanes)

    def emit_select(self, condition: Value, a: Value, b: Value, *, lanes: int = 0) -> Value:
        narrow = None if lanes else self.narrow.find(a, b)
        if narrow is None:
            return super().emit_select(condition, a, b, lanes=lanes)
        return self.narrow.extended(super().emit_select(condition, *narrow))

    def emit_convert(self, operation: str, a: Value, type_: str, *, lanes: int = 0) -> Value:
        if lanes or type_ != "i64" or a.type not in ("i8", "i16", "i32") or operation not in ("sext", "zext"):
            return super().emit_convert(operation, a, type_, lanes=lanes)
        if a.type != "i32":
            return self.narrow.extended(super().emit_convert(operation, a, "i32"))
        if operation == "sext" or (a.low is not None and a.low >= 0):
            return self.narrow.extended(a)
        return super().emit_convert(operation, a, type_)
