"""NaNs made the hardware's only where someone could see the difference.

The hardware gives every NaN result of type float one pattern, the host some other. A comparison and a select
behind each operation would cost more than the operation. Here results stay as they are and are marked loose
(values/value.py); operations that only care that an operand is NaN take them so, and whatever else looks at
the bits (stores, integer operations, exchange between lanes, registers that also hold loaded values) gets the
exact ones. The mark survives a bit cast to i32: compilers keep floats in untyped registers.

In double precision NaNs have payloads that pass from operand to result, by rules of the hardware's own. A
look at every result would take several times as long as the results. But a NaN operand makes a NaN of every
sum, product, quotient and root, so it is enough to look at what comes out at the end: where bits are seen,
and, all at once, at the registers that outlive their basic block. Until then a result is *late*, and how it
is made exact is kept. The look itself compares the lower half of the lanes with the upper one, which says of
two results at once whether one is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..builder import vector
from ..values.operations import KEEPS_NAN, OPERATIONS, PASSES_NAN, UNKNOWN
from ..values.value import Value, replace

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# Operations that are made exact together at most: each value that is seen has code of its own for them.
_LONGEST = 12


@dataclass(frozen=True, slots=True)
class _Late:
    """A result whose NaNs are not the hardware's yet.

    `other` makes what its NaNs ought to be; `size` counts the operations that it takes, and `covers` names
    the late values whose NaNs it has passed on.
    """

    other: Callable[[], Value]
    size: int
    covers: frozenset[str]


class DelayedNans:
    """Which vectors of doubles are late. Values late are made exact from the first on."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self.late: dict[str, _Late] = {}  # by the values' names, in the order of the program
        self.tests: dict[str, Value] = {}  # comparison of a double vector with itself -> the vector
        self._operands: dict[str, tuple[str, ...]] = {}  # of results that pass NaNs on, by name
        self._settled: dict[str, Value] = {}  # late values that are exact already where code is now emitted
        self._aside = False  # whether that code is seldom run

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Emit code that is seldom run: it needs no tests, and what it makes exact is so up to its end."""
        before = self._settled, self._aside
        self._settled, self._aside = dict(self._settled), True
        yield
        self._settled, self._aside = before

    def note(self, operation: str, result: Value, operands: Sequence[Value]) -> None:
        """An operation on doubles may make NaN of NaN in every lane.

        One that only acts on the sign of a late value is as late.
        """
        sees = OPERATIONS.get(operation, UNKNOWN).nan
        if sees in (PASSES_NAN, KEEPS_NAN):
            self._operands[result.ir] = tuple([operand.ir for operand in operands])
        if sees == KEEPS_NAN and operands[0].ir in self.late:
            operand, before = operands[0], self.late[operands[0].ir]
            again = lambda: self._lanes.apply(operation, self._lanes.exact(operand))  # noqa: E731
            self.late[result.ir] = _Late(again, before.size, before.covers | {operand.ir})

    def delays(self, usual: Value, other: Callable[[], Value], tested: Value) -> bool:
        """Whether a result may be late, and is from now on, that is something else where `tested` is NaN."""
        operands = self._operands.get(usual.ir)
        if self._lanes.probes or operands is None or tested.ir != usual.ir:
            return False
        before = {name: self.late[name] for name in operands if name in self.late}
        size = 1 + sum(one.size for one in before.values())
        if size > _LONGEST:
            return False
        covers = frozenset(before).union(*(one.covers for one in before.values()))
        self.late[usual.ir] = _Late(other, size, covers)
        return True

    def settle(self, a: Value) -> Value:
        """A late value made exact."""
        lanes, found = self._lanes, self._settled.get(a.ir)
        if found is not None:
            return found
        if not self._aside:
            return lanes.around(self.someone(a), a, lambda: self.settle(a))
        other = lanes.as_vector(lanes.exact(self.late[a.ir].other()))
        # A comparison of its own: the one at the result would be kept for this in quick code.
        self._settled[a.ir] = lanes.emit("select", lanes.emit("fcmp uno", a, a), other, a)
        return self._settled[a.ir]

    def settle_all(self, values: Sequence[Value]) -> list[Value]:
        """Values made exact, all that are late at once."""
        late = {name: value for value in values if (name := value.ir) in self.late}
        if len(late) < 2 or self._aside:
            return [self._lanes.exact(value) for value in values]
        covered = frozenset().union(*(self.late[name].covers for name in late))
        b = self._lanes.builder
        start, detour, back, join = b.label("usual"), b.label("rare"), b.label("back"), b.label("join")
        someone = self._some([value for name, value in late.items() if name not in covered])
        b.jump(start)
        b.place(start)
        b.branch(someone, detour, join, unlikely=True)
        b.place(detour)
        with self.aside():
            settled = {name: self.settle(late[name]) for name in self.late if name in late}
        b.jump(back)
        b.place(back)
        b.jump(join)
        b.place(join)
        merged = {
            name: replace(value, ir=b.phi(b.vector(value.type), (name, start), (settled[name].ir, back)))
            for name, value in late.items()
        }
        return [merged.get(value.ir, value) for value in values]

    def someone(self, a: Value) -> str:
        """An i1 that holds if some active lane, or the lane half of them away from it, is NaN."""
        b, mask, half = self._lanes.builder, self._lanes.mask, self._lanes.width // 2
        lanes, starts = b.lanes, (0, half)
        halves = [b.shuffle(a.type, b.width, a.ir, range(start, start + half)) for start in starts]
        bits = b.mask_bits(b.value(f"fcmp uno {vector(a.type, half)} {halves[0]}, {halves[1]}"), half)
        if mask != "-1":
            either = b.value(f"or {lanes} {mask}, {b.value(f'lshr {lanes} {mask}, {half}')}")
            bits = b.value(f"and i{half} {bits}, {b.value(f'trunc {lanes} {either} to i{half}')}")
        return b.value(f"icmp ne i{half} {bits}, 0")

    def _some(self, values: Sequence[Value]) -> str:
        """An i1 that holds if some active lane of some of the values is NaN."""
        if len(values) == 1:
            return self.someone(values[0])
        b, mask = self._lanes.builder, self._lanes.mask
        whole, found = b.vector("double"), ""
        for one, two in zip(values[::2], [*values[1::2], values[-1]], strict=False):
            pair = b.value(f"fcmp uno {whole} {one.ir}, {two.ir}")
            found = pair if not found else b.value(f"or {b.vector('i1')} {found}, {pair}")
        return b.someone(b.votes(found, mask))
