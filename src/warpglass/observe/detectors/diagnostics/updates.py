"""What lines do to an array that they write: add to the same element, or compute it from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


# What computes the value that is stored, and how a statement would say so.
_OPERATORS = {"add": "+=", "sub": "-=", "or": "|=", "and": "&=", "xor": "^=", "max": "max(", "min": "min("}


def update_over_lines(facts: LineFacts, types: Mapping[str, str], steps: Iterable[Step | None]) -> str | None:
    """How a thread changes what one of two racing steps stores and the other, or a third, has loaded before.

    The operator of such a statement, "" for one that has none; None where the value is not computed from a
    load of the same address, or from other elements as well.
    """
    known = [step for step in steps if step is not None]
    loads = [_line(step) for step in known if step.match.row.access == "load"]
    for store in known:
        if store.match.row.access != "store":
            continue
        for name in store.reads - {store.address_register}:
            found = [one for one in facts.sources(name) if one.match.row.access == "load"]
            itself = [one for one in found if one.address == store.address]
            bases = _bases(facts, types, store)
            others = any(one not in itself and _bases(facts, types, one) & bases for one in found)
            computing = facts.writers(name)
            if not itself or others or len(computing) != 1 or computing[0] in itself:
                continue
            if not loads or any(_line(one) in loads for one in itself):
                return _OPERATORS.get(computing[0].instruction.opcode, "")
    return None


def _line(step: Step) -> object:
    return step.instruction.source or step.instruction.line


def _bases(facts: LineFacts, types: Mapping[str, str], step: Step) -> frozenset[str]:
    """The variables and pointer parameters that an address is computed from."""
    register = step.address_register
    if register is None:
        return frozenset([str(step.address.base)])
    sources = facts.sources(register)
    # Sizes and strides have 64 bits as well; what becomes an address of a state space is a pointer.
    converted = {
        name for one in sources if one.match.row.operation == "generic to specific" for name in one.reads
    }
    pointers: set[str] = set()
    others: set[str] = set()
    for one in sources:
        for operand in one.instruction.operands:
            if isinstance(operand, tree.Symbol):
                pointers.add(str(operand))
            elif isinstance(operand, tree.Address) and types[one.writes[0]].endswith("64"):
                found = pointers if one.writes[0] in converted else others
                found.add(f"{operand.base}+{operand.offset}")
    return frozenset(pointers or others)
