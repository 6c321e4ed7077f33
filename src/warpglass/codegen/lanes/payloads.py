"""NaNs of double precision made the hardware's once for many operations.

Such a NaN has a payload that passes from operand to result, by rules of the hardware's own. A look at every
result for NaN would take several times as long as the results. But a NaN operand makes a NaN of every sum,
product, quotient and root, so it is enough to look at what comes out at the end: where bits are seen (stores,
integer operations, selection), and, all at once, at the registers that outlive their basic block. Until then
a result is *late*, and how it is made exact is kept. Values late are made exact from the first on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..memory.local import LocalMemory
from ..memory.warp_atomics import WarpAtomics
from ..probes import Probe
from ..shape import BlockShape, Promises
from .nans import LazyNanLanes
from .values import Value

# Operations whose result is NaN in every lane in which an operand is.
_PASSING = {"fadd", "fsub", "fmul", "fdiv", "llvm.fma", "llvm.sqrt"}
# Operations that are made exact together at most: each value that is seen has code of its own for them.
_LONGEST = 12


@dataclass(frozen=True, slots=True)
class _Late:
    """A result whose NaNs are not the hardware's yet.

    `rare` says in which lanes it is NaN, `other` makes what they ought to have; `size` counts the operations
    that it takes, and `covers` names the late values whose NaNs it has passed on.
    """

    rare: Value
    other: Callable[[], Value]
    size: int
    covers: frozenset[str]


class PayloadLanes(LazyNanLanes):
    """Operations whose results in double precision may be late."""

    def __init__(
        self,
        access: WarpAtomics,
        local: LocalMemory,
        shape: BlockShape,
        promises: Promises,
        probes: Sequence[Probe] = (),
    ):
        super().__init__(access, local, shape, promises, probes)
        self._late: dict[str, _Late] = {}  # by the values' names, in the order of the program
        self._operands: dict[str, tuple[str, ...]] = {}  # of results that pass NaNs on, by name
        self._settled: dict[str, Value] = {}  # late values that are exact already where code is now emitted

    def late(self, a: Value) -> bool:
        return a.ir in self._late

    def apply(self, operation: str, *operands: Value) -> Value:
        if operands[0].type != "double":
            return super().apply(operation, *operands)
        if operation not in _PASSING:
            return super().apply(operation, *self._all_exact(operands))
        result = super().apply(operation, *operands)
        if result.offsets is None:
            self._operands[result.ir] = tuple(operand.ir for operand in operands)
        return result

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        operands = self._operands.get(usual.ir)
        tested = self._nan_tests.get(rare.ir)
        if self.probes or operands is None or tested is None or tested.ir != usual.ir:
            return super().unless(rare, usual, other)
        before = {name: self._late[name] for name in operands if name in self._late}
        size = 1 + sum(one.size for one in before.values())
        if size > _LONGEST:
            return super().unless(rare, usual, other)
        covers = frozenset(before).union(*(one.covers for one in before.values()))
        self._late[usual.ir] = _Late(rare, other, size, covers)
        return usual

    def exact(self, a: Value) -> Value:
        late = self._late.get(a.ir)
        if late is None:
            return super().exact(a)
        if a.ir in self._settled:
            return self._settled[a.ir]

        def in_lanes() -> Value:
            return self._select(late.rare, self.as_vector(self.exact(late.other())), a)

        return self._unless(self._someone_nan(a), a, in_lanes)

    def exact_all(self, values: Sequence[Value]) -> list[Value]:
        late = {name: value for value in values if (name := value.ir) in self._late}
        if len(late) < 2:
            return super().exact_all(values)
        covered = frozenset().union(*(self._late[name].covers for name in late))
        b = self.builder
        start, detour, back, join = b.label("usual"), b.label("rare"), b.label("back"), b.label("join")
        someone = self._some_nan([value for name, value in late.items() if name not in covered])
        b.jump(start)
        b.place(start)
        b.branch(someone, detour, join, unlikely=True)
        b.place(detour)
        for name in self._late:
            if name in late:
                self._settled[name] = self.exact(late[name])
        settled = dict(self._settled)
        self._settled.clear()
        b.jump(back)
        b.place(back)
        b.jump(join)
        b.place(join)
        merged = {
            name: replace(value, ir=b.phi(b.vector(value.type), (name, start), (settled[name].ir, back)))
            for name, value in late.items()
        }
        return [merged.get(value.ir, value) for value in values]

    def _some_nan(self, values: Sequence[Value]) -> str:
        """An i1 that holds if some active lane of some of the values is NaN."""
        if len(values) == 1:
            return self._someone_nan(values[0])
        b = self.builder
        whole, found = b.vector("double"), ""
        for one, two in zip(values[::2], [*values[1::2], values[-1]], strict=False):
            pair = b.value(f"fcmp uno {whole} {one.ir}, {two.ir}")
            found = pair if not found else b.value(f"or {b.vector('i1')} {found}, {pair}")
        bits = b.mask_bits(found)
        if self.mask != "-1":
            bits = b.value(f"and {b.lanes} {bits}, {self.mask}")
        return b.someone(bits)
