"""What becomes of values that come from memory: copied, used, or what decides where a thread goes.

A value that is only stored to shared or local memory again is copied; one that nobody reads is padding of a
wide load. Neither shows that its bytes were never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...isa.memory import ld, space_of, st
from ...isa.ordering import ordering_of
from ...program import Program, Step
from ...ptx import tree

_COPIES = ("shared", "local")


@dataclass(frozen=True, slots=True)
class Uses:
    """By step of a load: a mask of its elements that are used, and how many it has.

    `copied` has, by step of a store to shared or local memory, the load and the element that each stored
    element comes from, where the same basic block loads it; None for others.
    """

    masks: Mapping[int, int]
    counts: Mapping[int, int]
    copied: Mapping[int, tuple[tuple[int, int] | None, ...]]

    def elements(self, step: int) -> int:
        """The elements that are used, a bit each; all of them where nothing is known."""
        return self.masks.get(step, 0xFF)

    def element(self, step: int, size: int) -> int:
        """Bytes of an element of an access of `size` bytes."""
        return max(1, size // self.counts.get(step, 1))


def uses_of_loads(program: Program) -> Uses:
    """Look at every load of a program."""
    steps = [step for block in program.blocks for step in block.all_steps]
    used: set[str] = set()
    for step in steps:
        copied = _copied(step)
        guard = step.instruction.guard
        used |= {name for name in step.reads if name not in copied or (guard and guard.register == name)}
    masks: dict[int, int] = {}
    counts: dict[int, int] = {}
    for step in steps:
        if step.match.row.meaning is not ld:
            continue
        elements = _elements(step.instruction.operands[0])
        counts[step.number] = len(elements)
        masks[step.number] = sum(
            1 << number
            for number, element in enumerate(elements)
            if isinstance(element, tree.Register) and element.name in used
        )
    return Uses(masks, counts, _find_copies(program))


def deciding_updates(program: Program) -> frozenset[int]:
    """The atomic updates by whose value a thread decides what to do next, or lets its block decide.

    Who does has met all updates before its own: the last block resets the counter of finished ones.
    An update whose value only says where to store something, or that nobody looks at, orders nothing.
    """
    steps = [step for block in program.blocks for step in block.all_steps]
    deciding = {block.splits for block in program.blocks if block.splits is not None}
    for step in steps:
        guard = step.instruction.guard
        deciding |= ({guard.register} if guard else set()) | _copied(step)
    updates = [step for step in steps if _updates(step)]
    through = [step for step in steps if step.match.row.meaning is not ld and not _updates(step)]
    grown = True
    while grown:
        grown = False
        for step in through:
            if not deciding.isdisjoint(step.writes) and not deciding.issuperset(step.reads):
                deciding |= step.reads
                grown = True
    return frozenset(step.number for step in updates if not deciding.isdisjoint(step.writes))


def _updates(step: Step) -> bool:
    ordering = ordering_of(step.match)
    return ordering.atomic and ordering.reads


def _find_copies(program: Program) -> dict[int, tuple[tuple[int, int] | None, ...]]:
    found: dict[int, tuple[tuple[int, int] | None, ...]] = {}
    for block in program.blocks:
        loaded: dict[str, tuple[int, int]] = {}
        for step in block.steps:
            if _copied(step):
                sources = tuple(
                    loaded.get(part.name) if isinstance(part, tree.Register) else None
                    for part in _elements(step.instruction.operands[1])
                )
                if any(sources):
                    found[step.number] = sources
            for name in step.writes:
                loaded.pop(name, None)
            # What others may have written to global memory is not followed.
            if (
                step.match.row.meaning is ld
                and not step.instruction.guard
                and space_of(step.match) != "global"
            ):
                for number, part in enumerate(_elements(step.instruction.operands[0])):
                    if isinstance(part, tree.Register):
                        loaded[part.name] = (step.number, number)
    return found


def _elements(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    return operand.elements if isinstance(operand, tree.Vector) else (operand,)


def _copied(step: Step) -> frozenset[str]:
    """The registers that a store puts into shared or local memory as they are."""
    if step.match.row.meaning is not st or space_of(step.match) not in _COPIES:
        return frozenset()
    address, value = step.instruction.operands[:2]
    names = {part.name for part in _elements(value) if isinstance(part, tree.Register)}
    base = address.base if isinstance(address, tree.Address) else address
    return frozenset(names - ({base.name} if isinstance(base, tree.Register) else set()))
