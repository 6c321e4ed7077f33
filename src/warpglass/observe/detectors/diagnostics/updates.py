"""What one line does to an array that it writes: add to the same element, or compute it from others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....program import Step
from ....ptx import tree
from ....records.check import Place
from .line_facts import LineFacts


@dataclass(frozen=True, slots=True)
class Update:
    """What a line writes is computed from: the element itself, other elements of the array.

    `alternates` says that the arrays it reads and writes take turns: pointers that are exchanged.
    """

    itself: bool
    neighbour: bool
    alternates: bool


def update_at(facts: LineFacts, types: Mapping[str, str], *places: Place) -> Update:
    """What the lines of a statement do to what they write."""
    steps = [step for place in set(places) for step in facts.by_line.get((place.file, place.line), [])]
    here = {step.number for step in steps}
    itself = neighbour = alternates = False
    for store in steps:
        if store.match.row.access != "store":
            continue
        base = store.address_register
        values = [name for name in store.reads if name != base]
        loads = {
            load.number: load
            for name in values
            for load in facts.sources(name)
            if load.match.row.access == "load" and load.number in here
        }
        for load in loads.values():
            if load.address == store.address:
                itself = True
            elif shared := _bases(facts, types, load) & _bases(facts, types, store):
                neighbour = True
                alternates |= len(shared) > 1
    return Update(itself, neighbour, alternates)


def _bases(facts: LineFacts, types: Mapping[str, str], step: Step) -> frozenset[str]:
    """The variables and pointer parameters that an address is computed from."""
    register = step.address_register
    if register is None:
        return frozenset([str(step.address.base)])
    found: set[str] = set()
    for one in facts.sources(register):
        for operand in one.instruction.operands:
            if isinstance(operand, tree.Symbol):
                found.add(str(operand))
            elif isinstance(operand, tree.Address) and types[one.writes[0]].endswith("64"):
                found.add(f"{operand.base}+{operand.offset}")
    return frozenset(found)
