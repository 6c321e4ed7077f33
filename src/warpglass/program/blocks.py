"""Basic blocks of a kernel in the order in which a divergent warp runs them.

A block ends at a branch, an exit, a barrier or a trap. A guarded exit, barrier or trap becomes a branch
around a block of its own, so that every terminator but Branch is unconditional. Blocks are numbered in a
loop-aware reverse post-order: a loop's blocks come before the blocks after the loop, whatever the text's
order is, because lanes always run the lowest-numbered block first (pending.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import CompileError, Diagnostic
from ..ptx import tree
from .decode import Decoded, Step


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at `target`."""

    target: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Lanes whose predicate holds (or does not, if negated) go to `taken`, the others to `other`."""

    step: Step
    register: str
    negated: bool
    taken: int
    other: int


@dataclass(frozen=True, slots=True)
class Exit:
    """The lanes that come here are done."""


@dataclass(frozen=True, slots=True)
class Barrier:
    """Wait for all live threads of the block, then go on at `resume`."""

    step: Step
    resume: int


@dataclass(frozen=True, slots=True)
class Trap:
    """The kernel aborts."""

    step: Step


Terminator = Jump | Branch | Exit | Barrier | Trap


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line steps and how they end; `steps` excludes the terminator's own step."""

    steps: tuple[Step, ...]
    end: Terminator

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that may run next, of the same lanes."""
        match self.end:
            case Jump(target):
                return (target,)
            case Branch(taken=taken, other=other):
                return (taken, other) if taken != other else (taken,)
            case Barrier(resume=resume):
                return (resume,)
            case _:
                return ()

    @property
    def only_exits(self) -> bool:
        """Whether reaching this block is just an exit."""
        return not self.steps and isinstance(self.end, Exit)


def build_blocks(decoded: tuple[Decoded, ...]) -> tuple[Block, ...]:
    """Split decoded instructions into blocks; block 0 is the entry, unreachable code is dropped."""
    return _renumber(_split(decoded))


def _split(decoded: tuple[Decoded, ...]) -> list[Block]:
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
    return _terminate(ends, starts)


_ENDING = ("branch", "exit", "barrier", "trap")


def _terminate(ends: list[tuple[list[Step], Step | None]], starts: dict[str, int]) -> list[Block]:
    blocks: list[Block] = []
    extra: list[Block] = []
    for index, (steps, step) in enumerate(ends):
        following = index + 1 if index + 1 < len(ends) else None
        if step is None:
            end: Terminator = Exit() if following is None else Jump(following)
        elif step.control == "branch":
            end = _branch(step, _target(step, starts), following)
        else:
            end = _unconditional(step, following)
            guard = step.instruction.guard
            if guard:
                extra.append(Block((), end))
                other = len(ends) + len(extra) - 1
                after = following if following is not None else other
                end = Branch(step, guard.register, guard.negated, other, after)
        blocks.append(Block(tuple(steps), end))
    return blocks + extra


def _branch(step: Step, target: int, following: int | None) -> Terminator:
    guard = step.instruction.guard
    if guard is None or following is None:
        return Jump(target)
    return Branch(step, guard.register, guard.negated, target, following)


def _unconditional(step: Step, following: int | None) -> Terminator:
    if step.control == "barrier" and following is not None:
        return Barrier(step, following)
    return Trap(step) if step.control == "trap" else Exit()


def _target(step: Step, starts: dict[str, int]) -> int:
    operand = step.instruction.operands[0]
    name = operand.name if isinstance(operand, tree.Symbol) else str(operand)
    if name not in starts:
        place = Diagnostic(
            f"branch to {name}, which is no label of this function", "PTX line", step.instruction.line
        )
        raise CompileError("the PTX branches outside its function", (place,))
    return starts[name]


def _renumber(blocks: list[Block]) -> tuple[Block, ...]:
    order = _schedule(blocks)
    number = {old: new for new, old in enumerate(order)}
    return tuple(replace(blocks[old], end=_retarget(blocks[old].end, number)) for old in order)


def _retarget(end: Terminator, number: dict[int, int]) -> Terminator:
    match end:
        case Jump(target):
            return Jump(number[target])
        case Branch(taken=taken, other=other):
            return replace(end, taken=number[taken], other=number[other])
        case Barrier(resume=resume):
            return replace(end, resume=number[resume])
        case _:
            return end


def _schedule(blocks: list[Block]) -> list[int]:
    """Reverse post-order in which each loop is contiguous and precedes what follows it."""
    successors = [block.successors for block in blocks]
    loops = find_loops(successors, _post_order(successors)[::-1])
    # Of a block's successors the one in the fewest common loops is visited first, so it comes last.
    ranked = [
        tuple(sorted(targets, key=lambda t: sum(node in body and t in body for body in loops.values())))
        for node, targets in enumerate(successors)
    ]
    return _post_order(ranked)[::-1]


def _post_order(successors: list[tuple[int, ...]]) -> list[int]:
    seen = {0}
    order: list[int] = []
    stack = [(0, iter(successors[0]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def find_loops(successors: list[tuple[int, ...]], order: list[int]) -> dict[int, set[int]]:
    """Natural loops by header: the nodes that reach a back edge's source without passing the header."""
    dominators = _dominators(successors, order)
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    loops: dict[int, set[int]] = {}
    for node in order:
        for header in successors[node]:
            if header not in dominators[node]:
                continue
            body = loops.setdefault(header, {header})
            work = [node]
            while work:
                inside = work.pop()
                if inside not in body:
                    body.add(inside)
                    work += predecessors[inside]
    return loops


def _dominators(successors: list[tuple[int, ...]], order: list[int]) -> dict[int, set[int]]:
    """Dominator sets by walking the immediate-dominator tree (Cooper, Harvey and Kennedy's algorithm)."""
    position = {node: index for index, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    parent: dict[int, int] = {order[0]: order[0]}

    def meet(a: int, b: int) -> int:
        while a != b:
            while position[a] > position[b]:
                a = parent[a]
            while position[b] > position[a]:
                b = parent[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [p for p in predecessors[node] if p in parent]
            best = known[0]
            for other in known[1:]:
                best = meet(best, other)
            if parent.get(node) != best:
                parent[node] = best
                changed = True
    sets: dict[int, set[int]] = {order[0]: {order[0]}}
    for node in order[1:]:
        sets[node] = sets.get(parent[node], {parent[node]}) | {node}
    return sets
