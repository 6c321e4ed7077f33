"""The result of an operation: all facts of it, and the form in which it is best computed.

Each function takes operands of which everything is known that will be, and returns the form, the result
without its names, and the operands. A form names what `lanes/` has to emit.
"""

from __future__ import annotations

from ...isa.types import BITS, is_float
from ..shape import BlockShape
from .affine import line_of, wrapped
from .bounds import bounds_of, decide, in_order, join, keeps_offsets
from .known_bits import (
    clears_zeros,
    divide_bits,
    fills_zeros,
    lane_zeros,
    result_zeros,
    whole_multiples,
    zeros_of,
)
from .lane_tables import Table, compare, extend, form_of, table_of
from .operations import (
    DIVISIONS,
    FOLD_CONVERSION,
    OPERATIONS,
    UNKNOWN,
    Operation,
    converted_bounds,
    fold,
    identity,
)
from .value import Offsets, Value, constant, no_offsets, one_value, replace, signed

# Nothing is to be computed. The scalar that the warp's number gives. The operation on scalars; on vectors.
DONE, LINE, SCALAR, LANES = range(4)
# An operation on bits, on scalars without those that are the offsets', which follow as operands. The sign of
# an affine value, one for all lanes unless they straddle zero. An affine value that a uniform one may limit.
# A division, of several operations.
PARTS, SIGN, LIMIT, DIVISION = range(4, 8)
# An affine value extended, unless a lane wraps. A comparison of which the outermost lanes tell whether all
# agree; one that is the same for all lanes of a warp, so the first decides. A quotient, by a division or a
# shift, of which the outermost lanes tell that, too; what is left of lanes that have one quotient.
EXTENDED, ENDS, FIRST, QUOTIENT, REST = range(8, 13)

Operands = tuple[Value, ...]
Result = tuple[int, Value, Operands]

# Which lane reaches a limit first, and what holds while it has not.
LIMITS = {"llvm.smin": (max, "sle"), "llvm.smax": (min, "sge")}
# Of how many warps at least all but one lie between two multiples of a divisor, for a guard to be worth it:
# lanes that have left their form take some five times as long as those whose form is found at each access.
_MOSTLY = 8
# How many lanes' steps a divisor may be off a multiple of them.
_INEXACT = 1e-3


def arithmetic(operation: str, operands: Operands, shape: BlockShape) -> Result:
    """An operation whose result has its operands' type."""
    a = operands[0]
    if len(operands) == 2 and not is_float(a.type):
        return integers(OPERATIONS.get(operation, UNKNOWN), a, operands[1], shape)
    for one in operands:
        if not one_value(one.offsets):
            return LANES, Value(a.type, ""), operands
    return _guarded(SCALAR, Value(a.type, "", no_offsets(shape.width)), operands)


def integers(row: Operation, a: Value, b: Value, shape: BlockShape) -> Result:
    """An operation on two integers."""
    type_, width = a.type, BITS[a.type]
    if a.constant is not None or b.constant is not None:
        known = _by_constants(row, a, b, shape)
        if known is not None:
            return DONE, known, ()
    if row.name in ("or", "xor") and (fills_zeros(a, b) or fills_zeros(b, a)):
        row = OPERATIONS["add"]  # as no bit meets another
    low = high = None
    if row.bounds is not None and (a.low is not None or b.low is not None):
        low, high = row.bounds(width, bounds_of(a), bounds_of(b)) or (None, None)
        if low is not None and low == high:
            return DONE, constant(type_, low, shape.width), ()
    if a.offsets is not None and b.offsets is not None:
        found = (
            _of_table(row, a, b, shape)
            or _in_parts(row, a, b, shape)
            or _by_number(row, a, b, shape)
            or _with_form(row, a, b, shape)
        )
        if found is not None:
            value = found[1]
            if value.constant is None:
                value.low, value.high = low, high
            return found
    result = Value(type_, "", None, None, low, high)
    if row.name in DIVISIONS:
        return DIVISION, result, (a, b)
    if row.low_bits is not None and (a.zeros or b.zeros or a.offsets is not b.offsets):
        result.zeros = result_zeros(row.low_bits, a, b, lane_zeros)
    return LANES, result, (a, b)


def _by_constants(row: Operation, a: Value, b: Value, shape: BlockShape) -> Value | None:
    """The result that needs no instruction, as an operand or both are constants."""
    folded = fold(row, a, b)
    if folded is not None:
        return constant(a.type, folded, shape.width)
    same = identity(row, a, b)
    if same is None and row.name == "and" and clears_zeros(a, b):
        return a
    return same


def _guarded(form: int, result: Value, operands: Operands) -> Result:
    """A result that is guarded if an operand is."""
    for one in operands:
        if one.ok is not None:
            result.ok = ""
    return form, result, operands


def _of_table(row: Operation, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """The result if all lanes of all warps are known."""
    if row.table is None:
        return None
    one, two = table_of(a, shape.warps), table_of(b, shape.warps)
    if one is None or two is None:
        return None
    like = row.offsets(a, b) if row.offsets is not None else None
    return _tabled(a.type, row.table(one, two, BITS[a.type]), shape, like)


def _tabled(type_: str, table: Table | None, shape: BlockShape, like: Offsets | None = None) -> Result | None:
    """Known lanes as a value, if they have a form: with the offsets `like` those, if that can be.

    They are what the value has where its lanes are not known, as in a loop's later rounds.
    """
    form = None if table is None else form_of(table, BITS[type_])
    if form is None:
        return None
    line, offsets = form
    if like is not None and 0 in like and not one_value(offsets):
        like, distance = wrapped(like, BITS[type_]), offsets[0] - like[0]
        if all(one - other == distance for one, other in zip(offsets, like, strict=True)):
            line, offsets = (line[0], (line[1] + distance) % (1 << BITS[type_])), like
    if line[0] == 0 and one_value(offsets):
        return DONE, constant(type_, line[1], shape.width), ()
    return LINE, Value(type_, "", offsets, line=line), ()


def _in_parts(row: Operation, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """An operation on bits, on scalars and on offsets: none of the offsets' bits is a scalar's."""
    if row.name not in ("and", "or", "xor") or (one_value(a.offsets) and one_value(b.offsets)):
        return None
    assert row.fold is not None
    parts = divide_bits(row.fold, a, b)
    if parts is None:
        return None
    bits, offsets = parts
    above = (_scalar_above(a, bits, shape.width), _scalar_above(b, bits, shape.width))
    _, scalar, _ = integers(row, *above, shape)
    zeros = max(bits, zeros_of(scalar))
    result = Value(a.type, "", wrapped(offsets, BITS[a.type]), line=line_of(scalar), zeros=zeros)
    return PARTS, _guarded(PARTS, result, (a, b))[1], (a, b, *above)


def _scalar_above(a: Value, bits: int, width: int) -> Value:
    """A value's scalar without its low bits, for all lanes."""
    if a.constant is not None:
        return constant(a.type, a.constant & (-1 << bits), width)
    return replace(a, offsets=no_offsets(width), low=None, high=None, ok=None, lanes=None)


def _by_number(row: Operation, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """A value with a form divided by a constant, if no lane's sign matters."""
    if b.constant is None or a.offsets is None:
        return None
    if one_value(a.offsets):
        certain = a.ok is None or _divisor(row.name, a, b) is None
        return None if certain else _scalar(row, a, b, a.offsets)
    if row.name in ("lshr", "ashr"):
        return None if row.offsets and row.offsets(a, b) else _agreed(row, a, b, 1 << b.constant, shape)
    if row.name == "and":
        mask = b.constant | (1 << lane_zeros(a)) - 1
        low = constant(a.type, mask, shape.width)
        return _agreed(row, a, low, mask + 1, shape) if mask & (mask + 1) == 0 else None
    divisor = _divisor(row.name, a, b)
    if divisor is None:
        return None
    quotient = row.name.endswith("div")
    free = whole_multiples(a, divisor)
    if free is None:
        return _agreed(row, a, b, divisor, shape)
    form, result, operands = _scalar(row, a, b, no_offsets(shape.width) if quotient else a.offsets)
    if not quotient:
        result.zeros = free
    return form, result, operands


def _divisor(operation: str, a: Value, b: Value) -> int | None:
    """What a division is by, if that is a constant, and no sign matters."""
    if operation not in DIVISIONS or b.constant is None:
        return None
    if operation[0] == "u":
        return b.constant or None
    divisor = signed(b.constant, BITS[b.type])
    return divisor if divisor > 0 and a.low is not None and a.low >= 0 else None


def by_bits(operation: str, operands: Operands) -> tuple[str, Operands]:
    """An operation; a division by a constant power of two as a shift or a mask, if no sign matters."""
    divisor = _divisor(operation, *operands) if operation in DIVISIONS else None
    if divisor is None or divisor & (divisor - 1):
        return operation, operands
    a, b = operands
    quotient = operation.endswith("div")
    number = divisor.bit_length() - 1 if quotient else divisor - 1
    return "lshr" if quotient else "and", (a, constant(a.type, number, len(b.offsets or ())))


def _agreed(row: Operation, a: Value, b: Value, divisor: int, shape: BlockShape) -> Result | None:
    """The quotient or rest that is mostly that of all lanes of a warp."""
    assert a.offsets is not None
    if not _mostly_one(a.offsets, divisor):
        return None
    if row.name.endswith("rem") or row.name == "and":
        return REST, Value(a.type, "", a.offsets, ok=""), (a, b)
    return QUOTIENT, Value(a.type, "", no_offsets(shape.width), ok=""), (a, b)


def _mostly_one(offsets: Offsets, divisor: int) -> bool:
    """Whether lanes at these offsets mostly lie between the same multiples of a divisor."""
    spread, step = max(offsets) - min(offsets), abs(offsets[1] - offsets[0])
    if spread * _MOSTLY <= divisor:
        return True
    # Compilers divide by a multiplication and a shift: then so many lanes have one quotient.
    lanes = round(divisor / step) if step else 0
    return lanes > 0 and lanes % len(offsets) == 0 and abs(divisor - lanes * step) < step * _INEXACT


def _with_form(row: Operation, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """The result of values with a form, if it has one as well."""
    width = BITS[a.type]
    offsets = row.offsets(a, b) if row.offsets is not None else None
    if offsets is not None:
        return _scalar(row, a, b, wrapped(offsets, width))
    if row.name in DIVISIONS:
        return None
    assert a.offsets is not None
    if one_value(a.offsets) and one_value(b.offsets):
        return _scalar(row, a, b, no_offsets(shape.width))
    if row.name == "ashr" and 0 in a.offsets and b.constant == width - 1:
        return SIGN, Value(a.type, "", no_offsets(shape.width), ok=""), (a, b)
    if row.name in LIMITS:
        free, limit = (a, b) if one_value(b.offsets) else (b, a)
        if one_value(limit.offsets) and 0 in (free.offsets or ()):
            return LIMIT, Value(a.type, "", free.offsets, ok=""), (a, b)
    return None


def _scalar(row: Operation, a: Value, b: Value, offsets: Offsets) -> Result:
    one, two = line_of(a), line_of(b)
    line = row.line(one, two) if row.line is not None and one is not None and two is not None else None
    if line is None:
        zeros = result_zeros(row.low_bits, a, b, zeros_of)
        return _guarded(SCALAR, Value(a.type, "", offsets, zeros=zeros), (a, b))
    ones = (1 << BITS[a.type]) - 1
    if line[0] & ones == 0 and one_value(offsets):
        return DONE, constant(a.type, line[1], len(offsets)), ()
    return SCALAR, Value(a.type, "", offsets, line=(line[0] & ones, line[1] & ones)), (a, b)


# ------------------------------------------------------------------------------------ comparisons
def comparison(predicate: str, a: Value, b: Value, shape: BlockShape) -> Result:
    """An icmp or fcmp predicate."""
    result, integer = Value("i1", ""), not is_float(a.type)
    if integer and a.offsets is not None and b.offsets is not None:
        found = _compared_tables(predicate, a, b, shape) or _compared_scalars(predicate, a, b, shape)
        if found is not None:
            return found
    if integer:
        known = decide(predicate, a, b)
        if known is not None:
            return DONE, constant("i1", int(known), shape.width), ()
    if a.offsets is None or b.offsets is None:
        return LANES, result, (a, b)
    if one_value(a.offsets) and one_value(b.offsets):
        result.offsets = no_offsets(shape.width)
        return _guarded(SCALAR, result, (a, b))
    free, other = (b, a) if one_value(a.offsets) else (a, b)
    if one_value(other.offsets) and predicate not in ("eq", "ne") and 0 in (free.offsets or ()):
        return ENDS, Value("i1", "", no_offsets(shape.width), ok=""), (a, b)
    return LANES, result, (a, b)


def _compared_tables(predicate: str, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """A comparison of lanes that are known."""
    one, two = table_of(a, shape.warps), table_of(b, shape.warps)
    if one is None or two is None:
        return None
    found = compare(predicate, one, two, BITS[a.type])
    if (found == found[0]).all():
        return _tabled("i1", found.astype("uint64"), shape)
    if (found == found[:, :1]).all():
        return FIRST, Value("i1", "", no_offsets(shape.width)), (a, b)
    return None


def _compared_scalars(predicate: str, a: Value, b: Value, shape: BlockShape) -> Result | None:
    """A comparison of values that are as far from their scalars, which decide it."""
    if a.offsets != b.offsets or one_value(a.offsets):
        return None
    if predicate not in ("eq", "ne") and not all(in_order(one, zeros_of(one), predicate) for one in (a, b)):
        return None
    return _guarded(SCALAR, Value("i1", "", no_offsets(shape.width)), (a, b))


def selection(condition: Value, a: Value, b: Value) -> Result:
    """One value or the other, by a condition."""
    nan = max(a.nan, b.nan)
    if condition.constant is not None:
        return DONE, replace(a if condition.constant else b, nan=nan), ()
    low, high = join(bounds_of(a), bounds_of(b)) or (None, None)
    result = Value(a.type, "", None, None, low, high, nan=nan)
    if not one_value(condition.offsets) or a.offsets is None or a.offsets != b.offsets:
        return LANES, result, (condition, a, b)
    result.offsets = a.offsets
    return _guarded(SCALAR, result, (condition, a, b))


# ------------------------------------------------------------------------------------ conversions
def conversion(operation: str, a: Value, type_: str, shape: BlockShape) -> Result:
    """A value of another type."""
    integer = operation in ("trunc", "zext", "sext")
    if a.constant is not None and operation in FOLD_CONVERSION:
        return DONE, constant(type_, FOLD_CONVERSION[operation](a.constant, BITS[a.type]), shape.width), ()
    low, high = converted_bounds(operation, a, type_) or (None, None)
    if integer and a.offsets is not None and BITS[type_] <= 64:
        table = table_of(a, shape.warps)
        found = None
        if table is not None:
            lanes = extend(operation, table, BITS[a.type], BITS[type_])
            found = _tabled(type_, lanes, shape, a.offsets)
        if found is not None:
            if found[1].constant is None:
                found[1].low, found[1].high = low, high
            return found
    form, result = LANES, Value(type_, "", None, None, low, high)
    if a.offsets is not None:
        affine = not one_value(a.offsets)
        if not affine or operation == "trunc" or keeps_offsets(operation, a):
            form = SCALAR
        elif operation in ("sext", "zext") and 0 in a.offsets:
            form = EXTENDED
    if form != LANES:
        assert a.offsets is not None
        result.offsets = wrapped(a.offsets, BITS[type_])
        result.ok = "" if form == EXTENDED or a.ok is not None else None
    if integer:
        zeros = lane_zeros(a) if form == LANES else zeros_of(a)
        result.zeros = min(zeros, BITS[type_])
    return form, result, (a,)
