"""Loads whose values only some threads use, put under the condition for which they do.

Compilers make of `if (t == 0) *y = s[0];` a load that all threads execute and a choice, or a store under a
predicate: where memory is known to be there, loading costs less than branching. What a thread loads and drops
no thread can have been in time for, or too late: in the author's program it is no read. So the checker runs a
program in which these loads are guarded by the predicate that the choice, the store or the branch asks.

A load is put under a condition if all that becomes of its value in its block is arithmetic that ends in
operands chosen by that predicate, in instructions guarded by it, or on one side of the block's branch. If the
predicate is computed behind the load, the load moves there, as long as nothing in between changes what others
see or waits for them. Compilers also load earlier, in front of a loop perhaps, what other blocks use under
one condition: then that is asked in front of the load, and computed there if it must be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from .. import isa
from ..isa.ordering import ordering_of
from ..ptx import tree
from .blocks import Block, Branch
from .decode import Step

if TYPE_CHECKING:
    from . import Program

_MOST = 64  # registers that are made of a value and looked at
# A predicate, and whether threads in which it holds use the value, or those in which it does not.
_Condition = tuple[str, bool]


def guard_discarded_reads(program: Program) -> Program:
    """The program with loads that only some threads use under their condition; volatile ones are left."""
    uses = _find_uses(program)
    blocks = tuple(_guarded(program, index, uses) for index in range(len(program.blocks)))
    changed = any(one is not other for one, other in zip(blocks, program.blocks, strict=True))
    registers = {**program.registers, **dict.fromkeys(uses.repeated.values(), "pred")}
    return program.rewritten(blocks, registers) if changed else program


@dataclass(frozen=True, slots=True)
class _Uses:
    """Who writes and reads registers in all of a program."""

    written: dict[str, tuple[Step, int, int]]  # those that one instruction alone writes: it, block, position
    readers: dict[str, list[tuple[int, Step | None]]]  # by block; None is the block's end
    before: dict[int, int]  # of blocks the one in front, if it is one
    repeated: dict[tuple[int, str], str]  # names of predicates that are computed again, by load and predicate
    behind: dict[int, set[int]]  # what follows a block, as far as it was asked


def _find_uses(program: Program) -> _Uses:
    count = Counter(name for block in program.blocks for step in block.steps for name in step.writes)
    written = {
        name: (step, index, position)
        for index, block in enumerate(program.blocks)
        for position, step in enumerate(block.steps)
        for name in step.writes
        if count[name] == 1
    }
    readers: dict[str, list[tuple[int, Step | None]]] = {}
    for index, block in enumerate(program.blocks):
        for step in block.steps:
            for name in step.reads:
                readers.setdefault(name, []).append((index, step))
        for name in block.read_at_end:
            readers.setdefault(name, []).append((index, None))
    edges = Counter(target for block in program.blocks for target in block.successors)
    before = {
        target: index
        for index, block in enumerate(program.blocks)
        for target in block.successors
        if edges[target] == 1
    }
    return _Uses(written, readers, before, {}, {})


def _guarded(program: Program, index: int, uses: _Uses) -> Block:
    block = program.blocks[index]
    steps, changed = list(block.steps), False
    for position in reversed(range(len(steps))):
        load = block.steps[position]
        if load.match.row.access != "load" or load.instruction.guard or ordering_of(load.match).strong:
            continue
        condition = _condition(program, block, islice(steps, position + 1, None), frozenset(load.writes))
        ordered = None
        if condition is not None:
            ordered = _in_order(load, steps[position + 1 :], condition[0])
        elif again := _condition_elsewhere(program, index, position, uses):
            tests, condition = again
            ordered = [*tests, load, *steps[position + 1 :]]
        if condition is not None and ordered is not None:
            steps[position:] = [_put_under(step, condition) if step is load else step for step in ordered]
            changed = True
    return replace(block, steps=tuple(steps)) if changed else block


def _condition_elsewhere(
    program: Program, index: int, position: int, uses: _Uses
) -> tuple[list[Step], _Condition] | None:
    """The condition for which a value is used in other blocks, and the test to put in front of its load."""
    steps = program.blocks[index].steps
    found = _all_conditions(program, index, steps[position], uses)
    tests: dict[tuple[object, ...], tuple[Step, _Condition]] = {}
    for register, holds in found or ():
        test, *_ = uses.written.get(register, (None,))
        if test is None or test.instruction.guard:
            return None
        tests.setdefault(_meaning_of(test, holds), (test, (register, holds)))
    if len(tests) != 1:
        return None
    test, (register, holds) = next(iter(tests.values()))
    if _is_settled(program, register, index, position, uses):
        return [], (register, holds)
    settled = all(_is_settled(program, name, index, position, uses) for name in test.reads)
    if not settled or len(test.writes) > 1 or not _only_computes(test):
        return None
    number = steps[position].number
    name = uses.repeated.setdefault((number, register), f"{register}_used_{number}")
    return [_renamed(test, name)], (name, holds)


def _all_conditions(program: Program, index: int, load: Step, uses: _Uses) -> set[_Condition] | None:
    """Those for which what a block loads, or what is made of it, is used anywhere; None if it is without."""
    found, held = set[_Condition](), list(load.writes)
    for name in held:  # which grows
        for number, step in uses.readers.get(name, ()):
            guard = None if step is None else step.instruction.guard
            if step is None or (guard is not None and guard.register == name) or len(held) > _MOST:
                return None
            if guard is not None:
                found.add((guard.register, not guard.negated))
            elif step.match.row.operation == "selection":
                chosen = _chosen_for(step, {name})
                if chosen is None:
                    return None
                found |= chosen
            elif number != index and (condition := _condition_of(program, number, uses)) is not None:
                found.add(condition)
            elif _only_computes(step):
                held += [one for one in step.writes if one not in held]
            else:
                return None
    return found


def _condition_of(program: Program, block: int, uses: _Uses) -> _Condition | None:
    """For which threads a block is run, if one branch in front of it says so."""
    end = program.blocks[uses.before[block]].end if block in uses.before else None
    if not isinstance(end, Branch):
        return None
    return end.register, (end.taken == block) is not end.negated


def _meaning_of(test: Step, holds: bool) -> tuple[object, ...]:
    """What a predicate says if it holds or does not: the same for `ne` and for `eq` that does not hold."""
    said = test.instruction
    kind, *more = said.modifiers or ("",)
    if kind == "ne":
        kind, holds = "eq", not holds
    return said.opcode, kind, *more, said.operands[1:], holds


def _is_settled(program: Program, name: str, index: int, position: int, uses: _Uses) -> bool:
    """Whether a register that is read behind a place has its value there, and is not written again."""
    if name not in uses.written:
        return False
    step, block, place = uses.written[name]
    if index not in uses.behind:
        uses.behind[index] = found = set(program.blocks[index].successors)
        work = list(found)
        while work:
            more = set(program.blocks[work.pop()].successors) - found
            found |= more
            work += more
    if step.instruction.guard or block in uses.behind[index]:
        return False
    return block != index or place < position


def _renamed(test: Step, name: str) -> Step:
    """A test that writes another predicate."""
    found = test.match
    operands = (tree.Register(name), *found.instruction.operands[1:])
    match = isa.Match(found.row, replace(found.instruction, operands=operands), found.values)
    return replace(test, match=match, writes=(name,))


def _condition(
    program: Program, block: Block, behind: Iterable[Step], loaded: frozenset[str]
) -> _Condition | None:
    """The one condition for which what was loaded is used; None if it always is, never, or for several."""
    held, found = set(loaded), set[_Condition]()
    for step in behind:
        read = step.reads & held
        guard = step.instruction.guard
        if not read:
            held -= set() if guard else set(step.writes)
            continue
        if guard is not None:
            uses = None if guard.register in held else {(guard.register, not guard.negated)}
        elif step.match.row.operation == "selection":
            uses = _chosen_for(step, held)
        else:
            uses = set[_Condition]() if _only_computes(step) else None
            held.update(step.writes)
        if uses is None:
            return None
        found |= uses
    after = _used_after(program, block, held)
    if after is None or len(found | after) != 1:
        return None
    return next(iter(found | after))


def _chosen_for(step: Step, held: set[str]) -> set[_Condition] | None:
    """The conditions for which a choice takes a value; None if it always does."""
    first, second, chooser = map(_name, step.instruction.operands[1:4])
    if not chooser or chooser in held:
        return None
    sides = {holds for name, holds in ((first, True), (second, False)) if name in held}
    return {(chooser, holds) for holds in sides} if len(sides) == 1 else None


def _used_after(program: Program, block: Block, held: set[str]) -> set[_Condition] | None:
    """The condition for which a value is used behind its block; None if it always is."""
    if not held.isdisjoint(block.read_at_end):
        return None
    users = [target for target in block.successors if not held.isdisjoint(program.live[target])]
    if not users:
        return set()
    end = block.end
    if len(users) > 1 or not isinstance(end, Branch) or end.taken == end.other:
        return None
    return {(end.register, (users[0] == end.taken) is not end.negated)}


def _only_computes(step: Step) -> bool:
    row = step.match.row
    return row.computes and row.access is None and step.match.member_mask is None


def _in_order(load: Step, behind: Sequence[Step], register: str) -> list[Step] | None:
    """A load and what follows it, with the load where a predicate is known; None if it cannot get there."""
    written = [place for place, step in enumerate(behind) if register in step.writes]
    if not written:
        return [load, *behind]
    if len(written) > 1:
        return None
    last = written[-1] + 1
    moved, passed = [load], list[Step]()
    for step in behind[:last]:
        names = {name for one in moved for name in one.writes}
        if not names.isdisjoint(step.reads):
            moved.append(step)
            continue
        needed = {name for one in moved for name in one.reads}
        if not _may_pass(step) or not (names | needed).isdisjoint(step.writes):
            return None
        passed.append(step)
    if any(register in step.writes for step in moved):
        return None
    return [*passed, *moved, *behind[last:]]


def _may_pass(step: Step) -> bool:
    """Whether a step may as well be done before a load in front of it."""
    return _only_computes(step) or (step.match.row.access == "load" and not ordering_of(step.match).strong)


def _put_under(step: Step, condition: _Condition) -> Step:
    register, holds = condition
    found = step.match
    guarded = replace(found.instruction, guard=tree.Guard(register, not holds))
    match = isa.Match(found.row, guarded, found.values)
    return replace(step, match=match, reads=step.reads | {register})


def _name(operand: tree.Operand) -> str:
    return operand.name if isinstance(operand, tree.Register) else ""
