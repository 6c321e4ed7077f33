"""Basic blocks of a kernel in the order in which a divergent warp runs them.

A block ends at a branch, a switch, a call, an exit, a barrier or a trap. A guarded exit, call, barrier or
trap becomes a branch around a block of its own, so that every terminator but Branch and Switch is
unconditional. Blocks are numbered in a loop-aware reverse post-order: a loop's blocks come before the blocks
after the loop, whatever the text's order is, because lanes always run the lowest-numbered block first
(pending.py). Functions that several calls share (calls.py) are numbered before their callers, each by its
own structure, as if a call were a plain instruction: so lanes that return meet before they go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import isa
from ..errors import CompileError, Diagnostic
from ..ptx import tree
from .decode import Decoded, Step
from .flow_graph import find_loops, post_order


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at `target`; of a call, `back` is where the function that starts there returns to."""

    target: int
    back: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """Lanes whose predicate holds (or does not, if negated) go to `taken`, the others to `other`."""

    step: Step
    register: str
    negated: bool
    taken: int
    other: int


@dataclass(frozen=True, slots=True)
class Switch:
    """Each lane goes to the target that its register counts to; `returns` from a function or within one."""

    step: Step
    register: str
    targets: tuple[int, ...]
    returns: bool


@dataclass(frozen=True, slots=True)
class Exit:
    """The lanes that come here are done."""


@dataclass(frozen=True, slots=True)
class Barrier:
    """Wait for all live threads of the block, then go on at `resume`."""

    step: Step
    resume: int


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """Wait for the lanes of the warp that the step's member mask names, then run it, first in `resume`."""

    step: Step
    resume: int


@dataclass(frozen=True, slots=True)
class Trap:
    """The kernel aborts; the step's control word says why."""

    step: Step


Terminator = Jump | Branch | Switch | Exit | Barrier | WarpBarrier | Trap


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line steps and how they end; `steps` excludes the terminator's own step."""

    steps: tuple[Step, ...]
    end: Terminator

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """The steps, the terminator's own included if it has one."""
        end = self.end
        return self.steps if isinstance(end, Jump | Exit) else (*self.steps, end.step)

    @property
    def read_at_end(self) -> frozenset[str]:
        """The registers that the end reads."""
        if isinstance(self.end, Barrier | WarpBarrier):
            return self.end.step.reads
        return frozenset() if self.splits is None else frozenset((self.splits,))

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that may run next, of the same lanes."""
        match self.end:
            case Jump(target):
                return (target,)
            case Branch(taken=taken, other=other):
                return (taken, other) if taken != other else (taken,)
            case Switch(targets=targets):
                return tuple(dict.fromkeys(targets))
            case Barrier(resume=resume) | WarpBarrier(resume=resume):
                return (resume,)
            case _:
                return ()

    @property
    def local_successors(self) -> tuple[int, ...]:
        """The same within one function: a call leads to where it returns, a return nowhere."""
        match self.end:
            case Jump(back=back) if back is not None:
                return (back,)
            case Switch(returns=True):
                return ()
            case _:
                return self.successors

    @property
    def splits(self) -> str | None:
        """The register whose lanes decide where each of them goes, if the end is a Branch or a Switch."""
        return self.end.register if isinstance(self.end, Branch | Switch) else None

    @property
    def only_exits(self) -> bool:
        """Whether reaching this block is just an exit."""
        return not self.steps and isinstance(self.end, Exit)


def find_instructions(blocks: Sequence[Block]) -> tuple[tuple[Step, ...], ...]:
    """By block, the instructions that warps begin there: every number of a step, in one block only.

    Steps of one number are parts of one instruction: of a guarded one the branch around it, where warps come
    to it, and what it does behind; of a barrier with a result the wait and the result; of accesses to what
    analyses found to be local memory, its address. What a WarpBarrier waits for begins behind it.
    """
    begun: set[int] = set()
    found: list[tuple[Step, ...]] = []
    for block in blocks:
        steps = block.steps if isinstance(block.end, WarpBarrier) else block.all_steps
        here = {step.number: step for step in steps if step.number not in begun}
        begun.update(here)
        found.append(tuple(here.values()))
    return tuple(found)


Tables = Mapping[str, tuple[str, ...]]


def build_blocks(decoded: tuple[Decoded, ...], tables: Tables) -> tuple[Block, ...]:
    """Split decoded instructions into blocks; block 0 is the entry, unreachable code is dropped.

    `tables` are the lists of labels that switches name.
    """
    return _renumber(_split(decoded, tables))


def _split(decoded: tuple[Decoded, ...], tables: Tables) -> list[Block]:
    starts: dict[str, int] = {}
    ends: list[tuple[list[Step], Step | None]] = []  # steps and the control step that ends the block
    steps: list[Step] = []
    open_block = True
    for item in decoded:
        if isinstance(item, tree.Label):
            if steps or not open_block:
                if open_block:
                    ends.append((steps, None))
                steps = []
            starts[item.name] = len(ends)
            open_block = True
            continue
        open_block = True
        if item.control in _ENDING:
            ends.append((steps, item))
            steps, open_block = [], False
        else:
            steps.append(item)
    ends.append((steps, None))
    return _terminate(ends, starts, tables)


_TRAPS = ("trap", "wild-call", "wild-branch")
_ENDING = ("branch", "switch", "call", "return", "exit", "barrier", *_TRAPS)


def _terminate(
    ends: list[tuple[list[Step], Step | None]], starts: dict[str, int], tables: Tables
) -> list[Block]:
    blocks: list[Block] = []
    extra: list[Block] = []
    for index, (steps, step) in enumerate(ends):
        following = index + 1 if index + 1 < len(ends) else None
        if step is None:
            end: Terminator = Exit() if following is None else Jump(following)
        elif step.control == "branch":
            end = _branch(step, _target(step, starts), following)
        else:
            end = _unconditional(step, following, starts, tables)
            if isinstance(end, Barrier) and step.match.row.collect is not None:
                extra.append(Block((_collecting(step),), Jump(end.resume)))
                end = Barrier(step, len(ends) + len(extra) - 1)
            guard = step.instruction.guard
            if guard:
                extra.append(Block((), end))
                other = len(ends) + len(extra) - 1
                after = following if following is not None else other
                end = Branch(step, guard.register, guard.negated, other, after)
        blocks.append(Block(tuple(steps), end))
    return blocks + extra


def _collecting(step: Step) -> Step:
    """The step that gives a barrier's destination its value, once the barrier has opened."""
    row = replace(step.match.row, control=None, meaning=step.match.row.collect, collect=None)
    return replace(step, match=isa.Match(row, step.instruction, step.match.values))


def _branch(step: Step, target: int, following: int | None) -> Terminator:
    guard = step.instruction.guard
    if guard is None or following is None:
        return Jump(target)
    return Branch(step, guard.register, guard.negated, target, following)


def _unconditional(step: Step, following: int | None, starts: dict[str, int], tables: Tables) -> Terminator:
    operands = step.instruction.operands
    match step.control:
        case "barrier" if following is not None:
            return Barrier(step, following)
        case "call":
            return Jump(_find(step, operands[0], starts), _find(step, operands[1], starts))
        case "switch" | "return":
            register, table = operands
            assert isinstance(register, tree.Register)
            assert isinstance(table, tree.Symbol)
            targets = tuple(_find(step, tree.Symbol(label), starts) for label in tables.get(table.name, ()))
            if not targets:
                raise _no_label(step, table.name)
            return Switch(step, register.name, targets, step.control == "return")
        case control if control in _TRAPS:
            return Trap(step)
        case _:
            return Exit()


def _target(step: Step, starts: dict[str, int]) -> int:
    return _find(step, step.instruction.operands[0], starts)


def _find(step: Step, operand: tree.Operand, starts: dict[str, int]) -> int:
    name = operand.name if isinstance(operand, tree.Symbol) else str(operand)
    if name not in starts:
        raise _no_label(step, name)
    return starts[name]


def _no_label(step: Step, name: str) -> CompileError:
    place = Diagnostic(
        f"branch to {name}, which is no label of this function", "PTX line", step.instruction.line
    )
    return CompileError("the PTX branches outside its function", (place,))


def _renumber(blocks: list[Block]) -> tuple[Block, ...]:
    order = _schedule(blocks)
    number = {old: new for new, old in enumerate(order)}
    return tuple(replace(blocks[old], end=retarget(blocks[old].end, number)) for old in order)


def retarget(end: Terminator, number: Mapping[int, int]) -> Terminator:
    """The same end with its blocks renumbered."""
    match end:
        case Jump(target, back):
            return Jump(number[target], None if back is None else number[back])
        case Branch(taken=taken, other=other):
            return replace(end, taken=number[taken], other=number[other])
        case Switch(targets=targets):
            # Calls in code that cannot be reached are gone; nothing returns there.
            known = [number[target] for target in targets if target in number]
            return replace(end, targets=tuple(number.get(target, known[0]) for target in targets))
        case Barrier(resume=resume) | WarpBarrier(resume=resume):
            return replace(end, resume=number[resume])
        case _:
            return end


def _schedule(blocks: list[Block]) -> list[int]:
    """The order of all blocks: the entry, then shared functions before their callers."""
    successors = [block.local_successors for block in blocks]
    orders: dict[int, list[int]] = {}

    def visit(root: int) -> None:
        orders[root] = []  # recursion ends here; the place in `orders` is taken anew below
        body = post_order(successors, root)
        for node in body:
            end = blocks[node].end
            if isinstance(end, Jump) and end.back is not None and end.target not in orders:
                visit(end.target)
        del orders[root]
        orders[root] = _schedule_body(successors, root)

    visit(0)
    order = [node for body in orders.values() for node in body]
    order.remove(0)
    return [0, *order]


def _schedule_body(successors: list[tuple[int, ...]], root: int) -> list[int]:
    """Reverse post-order of one function in which each loop is contiguous and precedes what follows it."""
    around: list[set[int]] = [set() for _ in successors]  # headers of the loops that a block is in
    for header, body in find_loops(successors, root).items():
        for node in body:
            around[node].add(header)
    # Of a block's successors the one in the fewest common loops is visited first, so it comes last.
    ranked = [
        tuple(sorted(targets, key=lambda t: len(around[node] & around[t])))
        for node, targets in enumerate(successors)
    ]
    return post_order(ranked, root)[::-1]


def loops_of(blocks: Sequence[Block]) -> dict[int, set[int]]:
    """The natural loops of a program's blocks, by header."""
    return find_loops([block.successors for block in blocks])


def is_on_all_ways(blocks: Sequence[Block], header: int, body: set[int], index: int) -> bool:
    """Whether no round of a loop goes around a block."""
    if index == header:
        return True
    seen, work = {header}, [header]
    while work:
        for target in blocks[work.pop()].successors:
            if target == header:
                return False
            if target in body and target not in seen and target != index:
                seen.add(target)
                work.append(target)
    return True


def predecessors_of(blocks: Sequence[Block]) -> list[list[int]]:
    """The blocks that lead to each."""
    found: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for target in block.successors:
            found[target].append(index)
    return found


def computed_from(steps: Sequence[Step], names: Iterable[str]) -> set[str]:
    """The registers that are computed from some registers, those included."""
    reached = set(names)
    grown = bool(reached)
    while grown:
        grown = False
        for step in steps:
            if not reached.isdisjoint(step.reads) and not reached.issuperset(step.writes):
                reached.update(step.writes)
                grown = True
    return reached


def index_registers(steps: Iterable[Step]) -> set[str]:
    """The registers that the thread's index is read into."""
    return {name for step in steps if _reads_index(step) for name in step.writes}


def _reads_index(step: Step) -> bool:
    specials = (one.name for one in step.instruction.operands if isinstance(one, tree.Special))
    return any(name.startswith(("%tid", "%laneid")) for name in specials)
