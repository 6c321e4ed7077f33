"""Whether the way that a kernel takes depends on the order of its threads, and with it what a check can find.

Values that others may have written first or last (what atomic and volatile accesses return, what racing
accesses read) are followed through registers, and through memory by state space, which errs on the safe side.
Where one decides a branch, an address or who takes part in an instruction, another order may make other
accesses; everywhere else a verdict by happens-before is that of all orders. Who fences and reads what others
release is ordered behind those whose values it happens to read: there the order counts, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ....codegen.memory.sites import Site
from ....isa.atomic import commutes
from ....isa.ordering import Ordering
from ....isa.specials import reads_clock
from ....program import Branch, Program, Step, Switch
from ....ptx import tree

_SPACES = ("shared", "global", "local")


def depends_on_order(
    program: Program,
    sites: Sequence[Site],
    orderings: Mapping[int, Ordering],
    racing: Collection[int],
    *,
    communicates: bool,
) -> bool:
    """Whether control flow, an address or a member mask may depend on the order of threads.

    `racing` are the steps of accesses that race; `communicates` says that fences order accesses by values.
    """
    if communicates and any(one.strong and one.reads for one in orderings.values()):
        return True
    return _Flow(program, sites, orderings, racing).reaches_a_decision()


class _Flow:
    """Registers and state spaces whose values may depend on the order."""

    def __init__(
        self,
        program: Program,
        sites: Sequence[Site],
        orderings: Mapping[int, Ordering],
        racing: Collection[int],
    ):
        self._blocks = program.blocks
        self._steps = [step for block in program.blocks for step in block.all_steps]
        self._sites: dict[int, list[Site]] = {}
        for site in sites:
            self._sites.setdefault(site.step, []).append(site)
        self._orderings = orderings
        self._racing = racing
        self._registers: set[str] = set()
        self._spaces: set[str] = set()

    def reaches_a_decision(self) -> bool:
        """Follow the values to the end and look at what decides."""
        before = -1
        while before != (before := len(self._registers) + len(self._spaces)):
            for step in self._steps:
                self._pass(step)
        ends = (block.end for block in self._blocks)
        branches = {end.register for end in ends if isinstance(end, Branch | Switch)}
        return not self._registers.isdisjoint(branches) or any(map(self._decides, self._steps))

    def _pass(self, step: Step) -> None:
        tainted = not self._registers.isdisjoint(step.reads)
        for site in self._sites.get(step.number, ()):
            ordering = self._orderings[step.number]
            spaces = (site.space,) if site.space in _SPACES else _SPACES
            race = step.number in self._racing
            update = ordering.atomic and not commutes(step.match)
            if site.write and (tainted or race or update):
                self._spaces.update(spaces)
            read = ordering.reads if ordering.strong else not site.write
            tainted |= race or (read and (ordering.strong or not self._spaces.isdisjoint(spaces)))
        if tainted or _reads_clock(step):
            self._registers.update(step.writes)

    def _decides(self, step: Step) -> bool:
        """Whether a step's guard, address or member mask may depend on the order."""
        mask = step.match.member_mask
        named = [mask] if mask is not None else []
        if step.number in self._sites:
            named += [one.base for one in step.instruction.operands if isinstance(one, tree.Address)]
        if step.number in self._sites or step.control is not None:
            guard = step.instruction.guard
            named += [tree.Register(guard.register)] if guard is not None else []
        return any(isinstance(one, tree.Register) and one.name in self._registers for one in named)


def _reads_clock(step: Step) -> bool:
    return any(isinstance(one, tree.Special) and reads_clock(one.name) for one in step.instruction.operands)
