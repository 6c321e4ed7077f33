"""What a program's instructions say of the author's lines: where barriers are, where threads part.

A condition parts threads if it is computed from what differs between them: their numbers in the block, what
they load from addresses of their own, what atomic operations return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ....isa.ordering import ordering_of
from ....program import Barrier, Branch, Program, Step, Switch
from ....ptx import tree
from ..instrumentation import inlining

_THREAD = ("%tid", "%laneid", "%warpid", "%lanemask", "%clock", "%globaltimer")


class LineFacts:
    """Facts of one program by line of a file; `together` are branches that no warp parts at, by step."""

    def __init__(self, program: Program, together: Iterable[int]):
        self._blocks = program.blocks
        self._together = frozenset(together)
        self.steps = [step for block in program.blocks for step in block.all_steps]
        self._writers: dict[str, list[Step]] = {}
        for step in self.steps:
            for name in step.writes:
                self._writers.setdefault(name, []).append(step)

    @cached_property
    def block_barriers(self) -> frozenset[tuple[str, int]]:
        """Lines with a barrier of the block, those of calls included."""
        found = [block.end.step for block in self._blocks if isinstance(block.end, Barrier)]
        return _lines(found)

    @cached_property
    def warp_barriers(self) -> frozenset[tuple[str, int]]:
        """Lines with a barrier at least of the warp."""
        found = [step for step in self.steps if step.match.member_mask is not None]
        return self.block_barriers | _lines(found)

    def parts(self, file: str, first: int, last: int, *, warp: bool) -> bool:
        """Whether threads of a block, or lanes of a `warp`, part at a condition on one of these lines."""
        found = self._parting_lanes if warp else self._parting
        return any((file, line) in found for line in range(first, last + 1))

    @cached_property
    def _parting(self) -> frozenset[tuple[str, int]]:
        return _lines(step for step, _ in self._tests())

    @cached_property
    def _parting_lanes(self) -> frozenset[tuple[str, int]]:
        return _lines(step for step, together in self._tests() if not together)

    def _tests(self) -> Iterator[tuple[Step, bool]]:
        """The steps that compute what threads part by, and whether a warp's lanes stay together."""
        for block in self._blocks:
            if isinstance(block.end, Branch | Switch) and block.end.register in self.varying:
                together = block.end.step.number in self._together
                yield block.end.step, together
                # What was moved out of an inner loop has the line of the outer one.
                if not inlining(block.end.step):
                    yield from ((step, together) for step in self.writers(block.end.register))
        for step in self.steps:
            guard = step.instruction.guard
            if guard is not None and guard.register in self.varying and not isinstance(step.control, str):
                yield from ((one, False) for one in self.writers(guard.register))

    def writers(self, register: str) -> list[Step]:
        """The steps that write a register."""
        return self._writers.get(register, [])

    @cached_property
    def varying(self) -> frozenset[str]:
        """The registers that may differ between threads of a block."""
        found: set[str] = set()
        before = -1
        while before != (before := len(found)):
            for step in self.steps:
                if not found.isdisjoint(step.reads) or _differs(step):
                    found.update(step.writes)
        return frozenset(found)

    def sources(self, register: str) -> list[Step]:
        """The steps that a register's value is computed by, up to loads and their like."""
        found: dict[int, Step] = {}
        work = [register]
        while work:
            for step in self.writers(work.pop()):
                if step.number not in found:
                    found[step.number] = step
                    if step.match.row.access is None:
                        work += step.reads
        return list(found.values())

    @cached_property
    def by_line(self) -> Mapping[tuple[str, int], list[Step]]:
        """The steps of a line, those that were inlined there included."""
        found: dict[tuple[str, int], list[Step]] = {}
        for step in self.steps:
            for key in {(place.file, place.line) for place in inlining(step)}:
                found.setdefault(key, []).append(step)
        return found


def _differs(step: Step) -> bool:
    """Whether a step's result differs between threads whatever it reads."""
    if ordering_of(step.match).atomic or step.match.member_mask is not None:
        return True
    operands = step.instruction.operands
    parts = [part for one in operands for part in (one.elements if isinstance(one, tree.Vector) else (one,))]
    return any(isinstance(one, tree.Special) and one.name.startswith(_THREAD) for one in parts)


def _lines(steps: Iterable[Step]) -> frozenset[tuple[str, int]]:
    return frozenset((place.file, place.line) for step in steps for place in inlining(step))
