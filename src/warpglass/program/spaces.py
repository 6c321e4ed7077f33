"""Finds generic loads and stores of local memory.

A variable whose address is taken is accessed through generic pointers, which code generation would have to
look up lane by lane. Pointers that are only ever made from addresses of local memory, by moves and pointer
arithmetic, are found here and their accesses made local ones. Where a pointer might point to local memory
but also elsewhere, the access stays generic and is listed: lanes that have the same such pointer do not share
what it points to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import isa
from ..isa.pointers import role, within_local
from ..ptx import tree
from .blocks import Block
from .decode import Step, make_step


def resolve_local(
    blocks: tuple[Block, ...], types: Mapping[str, str]
) -> tuple[tuple[Block, ...], Mapping[str, str], frozenset[int]]:
    """The blocks with generic accesses of local memory made local, the registers' types with those that
    this needs, and the numbers of the steps whose generic accesses may reach local memory."""
    steps = [step for block in blocks for step in block.steps]
    roles = {step.number: role(step.match) for step in steps}
    if "local" not in roles.values():
        return blocks, types, frozenset()
    possible = _find_possible(steps, roles)
    certain = _find_certain(steps, roles)
    rewriter = _Rewriter(types, certain)
    made = tuple(replace(block, steps=rewriter.rewrite(block.steps)) for block in blocks)
    strays = {step.number for step in steps if _is_generic(step) and _base(step) in possible}
    return made, rewriter.types, frozenset(strays - rewriter.done)


def _find_possible(steps: list[Step], roles: Mapping[int, str]) -> frozenset[str]:
    """Registers that may hold a generic pointer to local memory: whatever may be made from one, also by way
    of memory."""
    possible: set[str] = set()
    in_memory = False
    grown = True
    steps = [step for step in steps if roles[step.number] != "plain"]
    while grown:
        grown = False
        for step in steps:
            kind = roles[step.number]
            address = {_base(step)} if kind in ("load", "store", "exchange") else set[str | None]()
            carries = not possible.isdisjoint(step.reads - address)
            if kind in ("store", "exchange") and carries and not in_memory:
                in_memory = grown = True
            made = kind == "local" or carries or (kind in ("load", "exchange") and in_memory)
            if made and not possible.issuperset(step.writes):
                possible.update(step.writes)
                grown = True
    return frozenset(possible)


def _find_certain(steps: list[Step], roles: Mapping[int, str]) -> frozenset[str]:
    """Registers that only ever hold generic pointers to local memory, as far as they hold pointers."""
    certain = {name for step in steps for name in step.writes}
    moving: list[Step] = []
    for step in steps:
        kind = roles[step.number]
        if kind == "moving":
            moving.append(step)
        elif kind != "local":
            certain.difference_update(step.writes)
    shrunk = True
    while shrunk:
        shrunk = False
        for step in moving:
            if certain.isdisjoint(step.writes):
                continue
            sources = [name in certain for name in step.reads - {_guard(step)}]
            # The other source of a sum is a distance; of a selection each must be a pointer.
            enough = all(sources) and sources if len(step.match.forms()) > 3 else any(sources)
            if not enough:
                certain.difference_update(step.writes)
                shrunk = True
    return frozenset(certain)


def _guard(step: Step) -> str | None:
    return step.instruction.guard.register if step.instruction.guard else None


def _is_generic(step: Step) -> bool:
    """Whether a step is a load or store that names no state space."""
    access = step.match.load_or_store
    return access is not None and access.space == "generic"


def _base(step: Step) -> str | None:
    """The register of a memory access's address."""
    for operand in step.instruction.operands:
        if isinstance(operand, tree.Address) and isinstance(operand.base, tree.Register):
            return operand.base.name
    return None


class _Rewriter:
    def __init__(self, types: Mapping[str, str], certain: frozenset[str]):
        self.types = dict(types)
        self.certain = certain
        self.done: set[int] = set()

    def rewrite(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        made: list[Step] = []
        for step in steps:
            base = _base(step)
            local = _is_generic(step) and base in self.certain
            made += self._make_local(step, base) if local else [step]
        return tuple(made)

    def _make_local(self, step: Step, base: str | None) -> list[Step]:
        assert base is not None, "the pointer is a register"
        address = next(one for one in step.instruction.operands if isinstance(one, tree.Address))
        local = tree.Register(f"{base}:local")
        found = within_local(step.match, replace(address, base=local))
        conversion = replace(
            step.instruction,
            opcode="cvta",
            modifiers=("to", "local", "u64"),
            operands=(local, tree.Register(base)),
            guard=None,
        )
        converted = isa.match(conversion)
        if found is None or converted is None:
            return [step]
        self.types[local.name] = self.types[base]
        self.done.add(step.number)
        return [make_step(step.number, converted), make_step(step.number, found)]
