"""Saves registers on the thread's stack around calls that may lead back to their own function.

Such a call is enclosed in `_stack.push` and `_stack.pop` (calls.py). What stands between may overwrite every
register of the function that makes the call, so those it reads again behind the call are stored in front of
it, one behind the other at `%sp`, and loaded behind it. Who reads what is found within the function alone,
as if a call were a plain instruction: that is what the block's `local_successors` are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import isa
from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree
from .blocks import Block
from .copies import STACK_POINTER, owner_suffix
from .decode import Step, make_step
from .liveness import flow_backward


def save_registers(blocks: tuple[Block, ...], types: Mapping[str, str]) -> tuple[Block, ...]:
    """Replace every push and pop by the instructions that it stands for."""
    if not any(step.control == "push" for block in blocks for step in block.steps):
        return blocks
    live = flow_backward(blocks, [block.local_successors for block in blocks])
    saved: dict[int, list[str]] = {}  # by the block behind the call
    for index, block in enumerate(blocks):
        for position, step in enumerate(block.steps):
            if step.control == "pop":
                after = frozenset[str]().union(*(live[target] for target in block.local_successors))
                kept = _live_before(block, position + 1, after)
                saved[index] = sorted(name for name in kept if name.endswith(_owner(step)))
    return tuple(_expand(block, index, saved, types) for index, block in enumerate(blocks))


def _owner(step: Step) -> str:
    operand = step.instruction.operands[0]
    assert isinstance(operand, tree.Integer)
    return owner_suffix(operand.value)


def _live_before(block: Block, position: int, after: frozenset[str]) -> set[str]:
    """The registers that a block's steps from a position on, and what follows, may read."""
    live = set(after)
    if block.splits is not None:
        live.add(block.splits)
    for step in reversed(block.steps[position:]):
        if not step.instruction.guard:
            live.difference_update(step.writes)
        live.update(step.reads)
    return live


def _expand(block: Block, index: int, saved: Mapping[int, list[str]], types: Mapping[str, str]) -> Block:
    steps: list[Step] = []
    for step in block.steps:
        if step.control == "push":
            (back,) = block.local_successors
            steps += _push(step, saved[back], types)
        elif step.control == "pop":
            steps += _pop(step, saved[index], types)
        else:
            steps.append(step)
    return replace(block, steps=tuple(steps))


def _places(names: list[str], types: Mapping[str, str]) -> tuple[dict[str, int], int]:
    """Where each register is kept, from the stack pointer, and how many bytes they take."""
    places: dict[str, int] = {}
    end = 0
    for name in names:
        size = _bytes(types[name])
        end = -(-end // size) * size
        places[name] = end
        end += size
    return places, -(-end // 16) * 16


def _bytes(type_: str) -> int:
    return max(8, BITS[LLVM_TYPE[type_]]) // 8


def _push(step: Step, names: list[str], types: Mapping[str, str]) -> list[Step]:
    places, size = _places(names, types)
    made = [
        _make(
            step, _opcode("save", "st", types[name]), tree.Address(STACK_POINTER, place), tree.Register(name)
        )
        for name, place in places.items()
    ]
    return [*made, _move_pointer(step, size)]


def _pop(step: Step, names: list[str], types: Mapping[str, str]) -> list[Step]:
    places, size = _places(names, types)
    made = [
        _make(
            step, _opcode("load", "ld", types[name]), tree.Register(name), tree.Address(STACK_POINTER, place)
        )
        for name, place in places.items()
    ]
    return [_move_pointer(step, -size), *made]


def _opcode(predicate: str, other: str, type_: str) -> str:
    return f"_stack.{predicate}" if type_ == "pred" else f"{other}.local.b{8 * _bytes(type_)}"


def _move_pointer(step: Step, size: int) -> Step:
    return _make(step, "add.s64", STACK_POINTER, STACK_POINTER, tree.Integer(size))


def _make(step: Step, written: str, *operands: tree.Operand) -> Step:
    opcode, *modifiers = written.split(".")
    instruction = replace(step.instruction, opcode=opcode, modifiers=tuple(modifiers), operands=operands)
    found = isa.match(instruction)
    assert found is not None, f"{written} has a row"
    return make_step(step.number, found)
