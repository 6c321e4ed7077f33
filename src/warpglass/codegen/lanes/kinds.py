"""The fast implementation of isa/lanes.py: a scalar stands for all lanes wherever it can.

A value is uniform (one scalar), affine (one scalar plus an offset per lane known at compile time; a static
pattern is the same thing with arbitrary offsets) or a general vector. Every operation keeps the cheapest form
that is exact modulo the width, and falls back to the reference implementation (vector.py) otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.specials import SPECIALS
from ...isa.types import BITS, is_float
from ..builder import WIDTH, constant_vector
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics, combines, is_plain
from ..probes import Probe
from ..shape import BlockShape, Promises
from . import ranges
from .division import DividingLanes
from .forms import (
    AFFINE,
    CONVERT_CONSTANT,
    compare_constants,
    fold,
    identity,
    join,
    lane_form,
    range_of,
    regular,
    wrapped,
)
from .specials import LANE_TABLES, scalar_special
from .values import UNIFORM, Lanes, Offsets, Value, literal, no_offsets, one_value, replace


class KindLanes(DividingLanes):
    """Operations on values of any form, given what the launches promise."""

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
        table = shape.thread_table().astype(int)
        self._tids = {axis: lane_form(row, self.width) for axis, row in zip("xyz", table, strict=True)}
        self.same = no_offsets(self.width)

    # ------------------------------------------------------------------------------------ forms
    def constant(self, type_: str, pattern: int) -> Value:
        width = BITS[type_]
        pattern &= (1 << width) - 1
        signed = pattern - (1 << width) if pattern >> (width - 1) and width > 1 else pattern
        low = high = None if is_float(type_) else signed
        return Value(type_, literal(type_, pattern, width), self.same, pattern, low, high)

    def as_vector(self, a: Value) -> Value:
        if a.offsets is None:
            return a
        if a.lanes is not None:
            return Value(a.type, a.lanes(), None, None, a.low, a.high)
        text = self.builder.splat(a.type, a.ir)
        if not a.uniform:
            offsets = constant_vector(a.type, a.offsets)
            text = self.builder.value(f"add {self.builder.vector(a.type)} {text}, {offsets}")
        return Value(a.type, text, None, None, a.low, a.high)

    def guard_like(self, a: Value, guarded: bool) -> Value:
        if not guarded or a.ok is not None:
            return a
        return replace(a, ok="true", lanes=Lanes(self.builder, lambda: self.as_vector(a).ir))

    def _guarded(self, a: Value, sources: Sequence[Value], emit: Callable[[], Value]) -> Value:
        """A scalar result made of sources that may be guarded: guarded by all their guards."""
        guards = dict.fromkeys(source.ok for source in sources if source.ok is not None)
        if not guards:
            return a
        ok = None
        for guard in guards:
            ok = guard if ok is None else self.builder.value(f"and i1 {ok}, {guard}")
        return replace(a, ok=ok, lanes=Lanes(self.builder, lambda: emit().ir))

    def _vectors(self, *values: Value) -> tuple[Value, ...]:
        return tuple(self.as_vector(value) for value in values)

    # ------------------------------------------------------------------------------------ arithmetic
    def apply(self, operation: str, *operands: Value) -> Value:
        integer = not is_float(operands[0].type)
        if len(operands) == 2 and integer:
            known = fold(operation, *operands) or identity(operation, *operands)
            if isinstance(known, int):
                return self.constant(operands[0].type, known)
            if known is not None:
                return known
            bounds = ranges.combine(
                operation, BITS[operands[0].type], range_of(operands[0]), range_of(operands[1])
            )
        else:
            bounds = None
        low, high = bounds if bounds is not None else (None, None)
        if low is not None and low == high:
            return self.constant(operands[0].type, low)
        return replace(self._apply(operation, operands), low=low, high=high)

    def _apply(self, operation: str, operands: tuple[Value, ...]) -> Value:
        width = BITS[operands[0].type]
        affine = AFFINE.get(operation)
        if affine is not None and all(operand.offsets is not None for operand in operands):
            offsets = affine(*operands)
            if offsets is not None:
                return self._scalar(operation, operands, wrapped(offsets, width))
        if operation in _DIVISIONS:
            return super().apply(operation, *operands)
        if all(one_value(operand.offsets) for operand in operands):
            return self._scalar(operation, operands, self.same)
        first = operands[0].offsets
        if operation == "ashr" and first is not None and 0 in first and operands[1].constant == width - 1:
            return self._sign(operands[0], operands[1])
        if operation in _LIMITS and not all(operand.offsets is None for operand in operands):
            return self._limited(operation, *operands)
        return self._emit(operation, self._vectors(*operands))

    def _limited(self, operation: str, a: Value, b: Value) -> Value:
        """An affine value that a uniform one may limit, as a border limits an index: mostly it does not."""
        in_lanes = lambda: self._emit(operation, self._vectors(a, b))  # noqa: E731
        free, limit = (a, b) if one_value(b.offsets) else (b, a)
        if not one_value(limit.offsets) or free.offsets is None or 0 not in free.offsets:
            return in_lanes()
        extreme, predicate = _LIMITS[operation]
        outermost = self.builder.value(f"add {free.type} {free.ir}, {extreme(free.offsets)}")
        inside = self.builder.value(f"icmp {predicate} {free.type} {outermost}, {limit.ir}")
        ok = self.builder.value(f"and i1 {self._stays(free, signed=True)}, {inside}")
        result = Value(free.type, free.ir, free.offsets)
        return self._guarded(result, (a, b, replace(free, ok=ok)), in_lanes)

    def _scalar(self, operation: str, operands: tuple[Value, ...], offsets: Offsets) -> Value:
        result = replace(self._emit(operation, operands, lanes=1), offsets=offsets)
        return self._guarded(result, operands, lambda: self._emit(operation, self._vectors(*operands)))

    def _sign(self, a: Value, shift: Value) -> Value:
        """The sign of an affine value, spread over the word: uniform unless the lanes straddle zero."""
        assert a.offsets is not None
        sign = self._emit("ashr", (a, shift), lanes=1)
        return self._guarded(
            Value(a.type, sign.ir, self.same),
            (a, replace(a, ok=self._one_sign(a))),
            lambda: self._emit("ashr", self._vectors(a, shift)),
        )

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

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if not is_float(a.type):
            known = ranges.decide(predicate, range_of(a), range_of(b))
            if known is None and a.constant is not None and b.constant is not None:
                known = compare_constants(predicate, a, b)
            if known is not None:
                return self.constant("i1", int(known))
        if one_value(a.offsets) and one_value(b.offsets):
            scalar = Value("i1", self._compare(predicate, a, b, lanes=1).ir, self.same)
            return self._guarded(scalar, (a, b), lambda: self._compare(predicate, *self._vectors(a, b)))
        if a.offsets is None or b.offsets is None:
            return self._compare(predicate, *self._vectors(a, b))
        return self._compare_ends(predicate, a, b)

    def _compare_ends(self, predicate: str, a: Value, b: Value) -> Value:
        """A comparison with a uniform value: uniform where the outermost lanes agree, as they mostly do."""
        in_lanes = lambda: self._compare(predicate, *self._vectors(a, b))  # noqa: E731
        free = b if one_value(a.offsets) else a
        if (
            not (one_value(a.offsets) or one_value(b.offsets))
            or predicate in ("eq", "ne")
            or 0 not in (free.offsets or ())
        ):
            return in_lanes()
        assert free.offsets is not None
        ends: list[str] = []
        for distance in (min(free.offsets), max(free.offsets)):
            end = replace(free, ir=self.builder.value(f"add {free.type} {free.ir}, {distance}"))
            pair = (a, end) if free is b else (end, b)
            ends.append(self._compare(predicate, *pair, lanes=1).ir)
        differ = self.builder.value(f"xor i1 {ends[0]}, {ends[1]}")
        agree = self.builder.value(f"xor i1 {differ}, true")
        ok = self.builder.value(f"and i1 {self._stays(free, signed=predicate[0] == 's')}, {agree}")
        return self._guarded(Value("i1", ends[0], self.same), (a, b, replace(free, ok=ok)), in_lanes)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if condition.constant is not None:
            return a if condition.constant else b
        low, high = join(range_of(a), range_of(b)) or (None, None)
        in_lanes = lambda: self._select(*self._vectors(condition, a, b))  # noqa: E731
        if not one_value(condition.offsets) or a.offsets is None or a.offsets != b.offsets:
            return replace(in_lanes(), low=low, high=high)
        ir = self._select(condition, a, b, lanes=1).ir
        scalar = Value(a.type, ir, a.offsets, None, low, high)
        return self._guarded(scalar, (condition, a, b), in_lanes)

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        if rare.constant is not None:
            return other() if rare.constant else usual
        if not (rare.uniform and usual.uniform):
            rare, usual = self._vectors(rare, usual)
            return super().unless(rare, usual, lambda: self.as_vector(other()))
        value = self._unless(rare.ir, usual, other, lanes=1)
        return replace(value, offsets=self.same)

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if a.constant is not None and operation in CONVERT_CONSTANT:
            return self.constant(type_, CONVERT_CONSTANT[operation](a.constant, BITS[a.type]))
        bounds = self._converted_range(operation, a, type_)
        low, high = bounds if bounds is not None else (None, None)
        if a.offsets is None:
            return Value(type_, self._convert(operation, a, type_).ir, None, None, low, high)
        in_lanes = lambda: self._convert(operation, self.as_vector(a), type_)  # noqa: E731
        sources = (a,)
        if not one_value(a.offsets):
            if operation in ("sext", "zext") and 0 in a.offsets and not self._keeps_offsets(operation, a):
                sources = (a, replace(a, ok=self._stays(a, signed=operation == "sext")))
            elif operation != "trunc" and not self._keeps_offsets(operation, a):
                return replace(in_lanes(), low=low, high=high)
        ir = self._convert(operation, a, type_, lanes=1).ir
        scalar = Value(type_, ir, wrapped(a.offsets, BITS[type_]), None, low, high)
        return self._guarded(scalar, sources, in_lanes)

    @staticmethod
    def _keeps_offsets(operation: str, a: Value) -> bool:
        """Whether the bounds show that extending the base extends every lane: none wraps."""
        bounds = range_of(a)
        if bounds is None:
            return False
        # The base must not wrap either, and it is a lane's value only if that lane's offset is zero.
        assert a.offsets is not None
        base_low, base_high = bounds[0] - max(a.offsets), bounds[1] - min(a.offsets)
        limit = 1 << (BITS[a.type] - 1)
        if operation == "sext":
            return -limit <= base_low and base_high < limit
        return operation == "zext" and bounds[0] >= 0 and 0 in a.offsets and min(a.offsets) >= 0

    @staticmethod
    def _converted_range(operation: str, a: Value, type_: str) -> ranges.Range:
        bounds = range_of(a)
        width = BITS[a.type]
        if operation == "trunc":
            return ranges.fit(*bounds, BITS[type_]) if bounds else None
        if operation == "sext":
            return bounds or (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        if operation == "zext":
            return bounds if bounds and bounds[0] >= 0 else (0, (1 << width) - 1)
        return None

    def _divide(self, operation: str, a: Value, b: Value) -> Value:
        # A register's range is that of what was written to it. Lanes that do not act, and programs that read
        # what they never wrote, may hold 0, by which an integer division ends the process; so the test for it
        # must stay, except where the quotient goes through double precision.
        if b.constant is None and (b.uniform or b.type != "i32"):
            b = replace(b, low=None, high=None)
        return super()._divide(operation, a, b)

    def _plain_division(self, operation: str, a: Value, b: Value) -> Value:
        if a.uniform and b.uniform:
            return self._scalar(operation, (a, b), self.same)
        if b.uniform and b.constant is None:
            return self._divide_by_power(operation, a, b)
        return self._divide_vectors(operation, a, b)

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        register, _, axis = name.partition(".")
        if register == "tid" and axis != "w":
            offsets, low, high = self._tids[axis]
            if low == high:
                return self.constant("i32", low)
            if offsets is None:
                return Value("i32", super().special(name).ir, None, None, low, high)
            where = self.builder.offset("%threads_of_warp", self.shape.table_offset(axis))
            return Value("i32", self.builder.load("i32", where), offsets, None, low, high)
        if register == "laneid":
            return Value("i32", "0", tuple(range(WIDTH)), None, 0, WIDTH - 1)
        if register in LANE_TABLES:
            return super().special(name)
        type_, text = SPECIALS[name], scalar_special(self.builder, self.shape, name)
        if not text.startswith("%"):
            return self.constant(type_, int(text))
        low, high = self._special_range(register, axis)
        if low is not None and low == high:
            return self.constant(type_, low)
        return Value(type_, text, self.same, None, low, high)

    def _special_range(self, register: str, axis: str) -> tuple[int | None, int | None]:
        if register == "warpid":
            return 0, self.shape.warps - 1
        if register not in ("ctaid", "nctaid"):
            return None, None
        bound = self.promises.grid["xyz".index(axis)]
        if register == "ctaid":
            return 0, bound - 1
        return bound if self.promises.exact else 1, min(bound, (1 << 31) - 1)

    def window(self, space: str) -> Value:
        return self.constant("i64", super().window(space).constant or 0)

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        if space == "param":
            known = self.promises.parameters.get(address.constant) if address.constant is not None else None
            if known is not None and count == 1:
                return (self.constant(type_, known),)
            names = self.access.load_parameter(address, type_, count)
            return tuple(Value(type_, name, self.same) for name in names)
        site = self.announce(space, False, address, type_, count)
        if space == "local":
            place = address if address.uniform else self.as_vector(address)
            return tuple(Value(type_, name) for name in self.local.load(site, place, type_, count, self.mask))
        if address.uniform and not self.local.may_be_meant(space):
            names = self.access.load_uniform(site, address.ir, type_, count, self.mask)
            return tuple(Value(type_, name, self.same) for name in names)
        if address.offsets is not None and regular(address.offsets, BITS[type_] // 8 * count):
            names = self.access.load_affine(site, address, type_, count, self.mask)
            return tuple(Value(type_, name) for name in names)
        names = self.access.load_any(site, self.as_vector(address).ir, type_, count, self.mask)
        return tuple(Value(type_, name) for name in names)

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        type_ = values[0].type
        site = self.announce(space, True, address, type_, len(values), values)
        if space == "local":
            place = address if address.uniform else self.as_vector(address)
            self.local.store(site, place, type_, [v.ir for v in self._vectors(*values)], self.mask)
            return
        if address.uniform and not self.local.may_be_meant(space):
            scalars = [value.ir if value.uniform else None for value in values]
            names = [s or self.as_vector(v).ir for s, v in zip(scalars, values, strict=True)]
            uniform = [s is not None for s in scalars]
            self.access.store_uniform(site, address.ir, type_, names, uniform, self.mask)
            return
        names = [value.ir for value in self._vectors(*values)]
        if address.offsets is not None and regular(address.offsets, BITS[type_] // 8 * len(values)):
            self.access.store_affine(site, address, type_, names, self.mask)
        else:
            self.access.store_any(site, self.as_vector(address).ir, type_, names, self.mask)

    def atomic(self, space: str, operation: str, address: Value, operands: tuple[Value, ...]) -> Value:
        if not is_plain(operation):
            return super().atomic(space, operation, address, operands)
        (operand,) = operands
        site = self.announce(space, True, address, operand.type, 1)
        whole = self.as_vector(operand).ir
        if address.uniform and combines(operation) and not self.local.may_be_meant(space):
            old = self.access.change_one(site, operation, address.ir, operand, whole, self.mask)
        else:
            where = self.as_vector(address).ir
            old = self.access.change_any(site, operation, where, operand, whole, self.mask)
        return Value(operand.type, old)

    def one_of(self, a: Value) -> str:
        return a.ir if a.uniform else super().one_of(self.as_vector(a))

    def everywhere(self, type_: str, scalar: str) -> Value:
        return Value(type_, scalar, self.same)

    # ------------------------------------------------------------------------------------ across lanes
    def known(self, a: Value) -> int | None:
        return a.constant

    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        if type_ == "i1" or is_float(type_):
            return super().lane_constants(type_, patterns)
        offsets = wrapped(patterns, BITS[type_])
        return Value(type_, "0", offsets, None, min(offsets), max(offsets))

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        if a.uniform:
            self.note_exchange(self.lane_constants("i32", sources))
            return a
        return super().permute(self.as_vector(a), sources)

    def shuffle(self, a: Value, source: Value) -> Value:
        if a.uniform:
            self.note_exchange(source)
            return a
        return super().shuffle(*self._vectors(a, source))

    def active(self) -> Value:
        return Value("i32", self.mask, UNIFORM)

    def ballot(self, predicate: Value) -> Value:
        if predicate.uniform:
            votes = self.builder.value(f"select i1 {predicate.ir}, i32 {self.mask}, i32 0")
            return Value("i32", votes, UNIFORM)
        return Value("i32", self._ballot_bits(self.as_vector(predicate)), UNIFORM)

    def mask_predicate(self, mask: Value) -> Value:
        if mask.uniform:
            return Value("i1", self.builder.mask_vector(mask.ir))
        return super().mask_predicate(self.as_vector(mask))

    def reduce(self, operation: str, a: Value) -> Value:
        return Value(a.type, self._reduced(operation, self.as_vector(a)), UNIFORM)

    def equal_lanes(self, a: Value) -> Value:
        return self.constant("i32", -1) if a.uniform else super().equal_lanes(self.as_vector(a))


# Which lane reaches a limit first, and what holds while it has not.
_LIMITS = {"llvm.smin": (max, "sle"), "llvm.smax": (min, "sge")}
_DIVISIONS = ("udiv", "sdiv", "urem", "srem")
