"""Steps with other registers, for passes that give a register's values registers of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import isa
from ..ptx import tree
from .decode import Step, make_step


def with_names(step: Step, reads: Mapping[str, str], writes: Mapping[str, str]) -> Step:
    """A step that reads and writes other registers in place of some."""
    found = step.match
    operands = tuple(
        _operand(operand, writes if form.destination else reads)
        for (form, _, _), operand in zip(found.forms(), found.instruction.operands, strict=False)
    )
    guard = found.instruction.guard
    if guard is not None:
        guard = replace(guard, register=reads.get(guard.register, guard.register))
    match = isa.Match(found.row, replace(found.instruction, operands=operands, guard=guard), found.values)
    return make_step(step.number, match)


def _operand(operand: tree.Operand, names: Mapping[str, str]) -> tree.Operand:
    match operand:
        case tree.Register(name):
            return tree.Register(names.get(name, name))
        case tree.Vector(elements) | tree.AddressList(elements):
            return replace(operand, elements=tuple(_operand(one, names) for one in elements))
        case tree.Pair(first, second):
            return tree.Pair(_operand(first, names), _operand(second, names))
        case tree.Address(tree.Register(name)):
            return replace(operand, base=tree.Register(names.get(name, name)))
        case _:
            return operand


def copy_step(number: int, type_: str, target: str, source: str) -> Step:
    """A step, with the number of one that there is, that copies a register of a PTX type."""
    operands = tree.Register(target), tree.Register(source)
    match = isa.match(tree.Instruction("mov", (type_,), operands))
    assert match is not None, "every number can be moved"
    return make_step(number, match)
