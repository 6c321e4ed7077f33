"""What instructions do with pointers, for the search of pointers to local memory (program/spaces.py)."""

from __future__ import annotations

from ..ptx import tree
from .table import Match, match

# Whose result points into the same memory as the one pointer among its sources.
_MOVING = ("mov", "add", "sub", "selp", "_param")
# Results that are no pointers whatever the sources are.
_PLAIN = ("setp", "set", "isspacep", "_stack")


def role(m: Match) -> str:
    """ "load", "store" and "exchange" of memory, "local", "moving", "plain" and "other".

    "local" makes a generic pointer to local memory of an address, "moving" a pointer of a pointer, "plain"
    no pointer; "other" is anything else.
    """
    if m.row.unit == "memory" and not m.row.steers:
        kinds = {"load": "load", "parameter": "load", "store": "store"}
        return kinds.get(m.row.access or "", _moving(m) or "exchange")
    if m.instruction.opcode == "cvta" and m.row.operation is None and m.state_space == "local":
        return "local"
    return _moving(m) or "other"


def _moving(m: Match) -> str | None:
    if m.instruction.opcode in _MOVING:
        return "moving"
    return "plain" if m.instruction.opcode in _PLAIN else None


def within_local(m: Match, address: tree.Address) -> Match | None:
    """A generic load or store as one of local memory, at another address; None if there is no such form."""
    item = m.instruction
    operands = tuple(address if isinstance(one, tree.Address) else one for one in item.operands)
    for position in range(len(item.modifiers)):
        modifiers = (*item.modifiers[:position], "local", *item.modifiers[position:])
        made = tree.Instruction(item.opcode, modifiers, operands, item.guard, item.line, item.source)
        found = match(made)
        if found is not None:
            return found
    return None
