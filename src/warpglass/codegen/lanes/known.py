"""Values that the warp's number decides, computed when code is generated, and operations on bits (lines.py).

`t ^ 8`, `t % 2` and `t < 64` have a form here: a static pattern of the lanes, or one truth for a whole warp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise

from ...isa.types import BITS, is_float
from ..builder import constant_vector
from ..memory.access import DECLARED
from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..registers import line_text
from ..shape import BlockShape, Promises
from . import lines
from .forms import range_of, wrapped
from .kinds import KindLanes
from .values import Line, Offsets, Value, literal, one_value, replace

_ANYWHERE = nullcontext()


class KnownLanes(KindLanes):
    """Operations on values of any form, which remembers what follows from the warp's number."""

    def __init__(
        self,
        access: WarpAtomics,
        local: LocalMemory,
        shape: BlockShape,
        promises: Promises,
        probes: Sequence[Probe] = (),
    ):
        super().__init__(access, local, shape, promises, probes)
        starts = shape.thread_table()[:, :: self.width].tolist()
        self._starts = {axis: _line(row) for axis, row in zip("xyz", starts, strict=True)}

    # ------------------------------------------------------------------------------------ forms
    def as_vector(self, a: Value) -> Value:
        line = lines.line_of(a)
        if line is None or line[0] or a.offsets is None or one_value(a.offsets):
            return super().as_vector(a)
        patterns = (literal(a.type, line[1] + offset, BITS[a.type]) for offset in a.offsets)
        return Value(a.type, constant_vector(a.type, patterns), None, None, a.low, a.high)

    def _scalar(self, operation: str, operands: tuple[Value, ...], offsets: Offsets) -> Value:
        line, zeros = lines.scalar_facts(operation, operands)
        if line is not None and line[0] == 0 and one_value(offsets):
            return self.constant(operands[0].type, line[1])
        return replace(super()._scalar(operation, operands, offsets), line=line, zeros=zeros)

    def _of_table(self, type_: str, table: lines.Table | None) -> Value | None:
        """Known lanes as a value, if they have a form."""
        form = None if table is None else lines.form_of(table, BITS[type_])
        if form is None:
            return None
        line, offsets = form
        if line[0] == 0 and one_value(offsets):
            return self.constant(type_, line[1])
        return Value(type_, line_text(self.builder, type_, line), offsets, line=line)

    # ------------------------------------------------------------------------------------ arithmetic
    def _apply(self, operation: str, operands: tuple[Value, ...]) -> Value:
        found = None
        if len(operands) == 2 and not is_float(operands[0].type):
            found = self._known(operation, *operands) or self._in_parts(operation, *operands)
        if found is not None:
            return found
        result = super()._apply(operation, operands)
        if result.offsets is not None:
            return result
        return replace(result, zeros=lines.result_zeros(operation, operands, lines.lane_zeros))

    def _known(self, operation: str, a: Value, b: Value) -> Value | None:
        """The result if all lanes of all warps are known."""
        if not lines.operates(operation):
            return None
        one, two = (lines.table(value, self.shape.warps) for value in (a, b))
        if one is None or two is None:
            return None
        return self._of_table(a.type, lines.operate(operation, one, two, BITS[a.type]))

    def _in_parts(self, operation: str, a: Value, b: Value) -> Value | None:
        """An operation on bits, on scalars and on offsets: none of the offsets' bits is a scalar's."""
        if operation not in ("and", "or", "xor") or (one_value(a.offsets) and one_value(b.offsets)):
            return None
        parts = lines.divide_bits(operation, a, b)
        if parts is None:
            return None
        bits, offsets = parts
        above = [
            replace(value, offsets=self.same, low=None, high=None, ok=None, lanes=None)
            if value.constant is None
            else self.constant(a.type, value.constant & (-1 << bits))
            for value in (a, b)
        ]
        scalar = self.apply(operation, *above)
        zeros = max(bits, lines.zeros_of(scalar))
        whole = Value(
            a.type, scalar.ir, wrapped(offsets, BITS[a.type]), line=lines.line_of(scalar), zeros=zeros
        )
        return self._guarded(whole, (a, b), lambda: self._emit(operation, self._vectors(a, b)))

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        if is_float(a.type):
            return super().compare(predicate, a, b)
        return self._compare_known(predicate, a, b) or super().compare(predicate, a, b)

    def _compare_known(self, predicate: str, a: Value, b: Value) -> Value | None:
        """A comparison of lanes that are known, or of values whose scalars decide it."""
        one, two = (lines.table(value, self.shape.warps) for value in (a, b))
        if one is not None and two is not None:
            found = lines.compare(predicate, one, two, BITS[a.type])
            if (found == found[0]).all():
                return self._of_table("i1", found.astype("uint64"))
            if (found == found[:, :1]).all():
                ends = [self._first_lane(value) for value in (a, b)]
                return Value("i1", self._compare(predicate, *ends, lanes=1).ir, self.same)
        if a.offsets is None or a.offsets != b.offsets or one_value(a.offsets):
            return None
        if predicate not in ("eq", "ne") and not all(_in_order(value, predicate) for value in (a, b)):
            return None
        scalar = Value("i1", self._compare(predicate, a, b, lanes=1).ir, self.same)
        return self._guarded(scalar, (a, b), lambda: self._compare(predicate, *self._vectors(a, b)))

    def _first_lane(self, a: Value) -> Value:
        """A value's first lane for all lanes."""
        assert a.offsets is not None
        first = literal(a.type, a.offsets[0], BITS[a.type])
        return Value(a.type, self.builder.value(f"add {a.type} {a.ir}, {first}"), self.same)

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        if operation not in ("trunc", "zext", "sext"):
            return super().convert(operation, a, type_)
        table = lines.table(a, self.shape.warps)
        if table is not None and BITS[type_] <= 64:
            found = self._of_table(type_, lines.extend(operation, table, BITS[a.type], BITS[type_]))
            if found is not None and found.constant is None:
                low, high = self._converted_range(operation, a, type_) or (None, None)
                return replace(found, low=low, high=high)
            if found is not None:
                return found
        result = super().convert(operation, a, type_)
        if result.constant is not None:
            return result
        zeros = lines.lane_zeros(a) if result.offsets is None else lines.zeros_of(a)
        return replace(result, zeros=min(zeros, BITS[type_]))

    # ------------------------------------------------------------------------------------ memory
    def _inside(self, space: str, address: Value, size: int) -> AbstractContextManager[None]:
        """Without checks if the address is known to lie in the shared memory that the kernel declares."""
        return self._inside_shared(address, size) if space == "shared" else _ANYWHERE

    @contextmanager
    def _inside_shared(self, address: Value, size: int) -> Iterator[None]:
        access = self.access
        before = access.proven
        if access.step not in access.apart and self._is_declared(address, size):
            access.declared = True
            # Bounds hold for lanes that act, and more may be accessed together.
            if lines.line_of(address) is not None:
                access.proven = {**before, access.step: DECLARED}
        yield
        access.proven, access.declared = before, False

    def _is_declared(self, address: Value, size: int) -> bool:
        if address.ok is not None or lines.lane_zeros(address) < size.bit_length() - 1:
            return False
        table = lines.table(address, self.shape.warps)
        bounds = range_of(address) if table is None else (int(table.min()), int(table.max()))
        return bounds is not None and bounds[0] >= 0 and bounds[1] + size <= self.shape.static_shared

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        with self._inside(space, address, BITS[type_] // 8 * count):
            return super().load(space, address, type_, count, volatile)

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        with self._inside(space, address, BITS[values[0].type] // 8 * len(values)):
            super().store(space, address, values, volatile)

    def atomic(self, space: str, operation: str, address: Value, operands: tuple[Value, ...]) -> Value:
        with self._inside(space, address, BITS[operands[0].type] // 8):
            return super().atomic(space, operation, address, operands)

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        value = super().special(name)
        register, _, axis = name.partition(".")
        if register == "laneid":
            return replace(value, line=(0, 0))
        line = self._starts.get(axis) if register == "tid" else None
        if line is None or value.offsets is None or value.constant is not None:
            return value
        return replace(value, ir=line_text(self.builder, value.type, line), line=line)

    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        value = super().lane_constants(type_, patterns)
        return value if value.offsets is None else replace(value, line=(0, 0))


def _line(starts: Sequence[int]) -> Line | None:
    """What the warps start with, if it grows by one step from warp to warp."""
    step = starts[1] - starts[0] if len(starts) > 1 else 0
    return (step, starts[0]) if all(b - a == step for a, b in pairwise(starts)) else None


def _in_order(a: Value, predicate: str) -> bool:
    """Whether it is known that scalar plus offset wraps in no active lane, as the predicate reads it."""
    bounds = range_of(a)
    if a.offsets is None:
        return False
    if min(a.offsets) >= 0 and max(a.offsets).bit_length() <= min(lines.zeros_of(a), BITS[a.type] - 1):
        return True  # no sum carries
    if bounds is None:
        return False
    limit = 1 << (BITS[a.type] - 1)
    # They hold for lanes that act: the scalar need not be one of those.
    least = 0 if predicate[0] == "u" else -limit
    return least <= bounds[0] - max(a.offsets) and bounds[1] - min(a.offsets) < limit
