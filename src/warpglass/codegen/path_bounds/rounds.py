"""Loops with barriers whose rounds are known when code is made: each round is written out.

Blocks add up, scan, sort and transform in a few rounds with a barrier in each, and each round has another
stride: `for (d = blockDim.x / 2; d > 0; d >>= 1)`. Where a round has code of its own, its stride is a
constant. Then it is known which lanes act and where their elements lie, and the barrier keeps nothing for the
loop. A round is known if bounds along the threads' paths say whether it is the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...program import Barrier, Block, Program, Round, WarpBarrier, unrolled
from ...program.blocks import loops_of
from ..control.barriers import names_barriers
from ..infer import infer_kinds
from ..operands import Symbols
from ..shape import BlockShape, Promises
from .analysis import Analysis, OutOfBudget
from .domain import AbstractLanes

# Rounds of a loop, and steps that the whole program may have then.
_MOST_ROUNDS, _MOST_STEPS = 16, 600


def unroll(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> Program:
    """The program without the loops with barriers whose rounds are known."""
    waits = program.fair or program.grid_waits or program.clustered or names_barriers(program)
    if waits or program.services or any(isinstance(block.end, WarpBarrier) for block in program.blocks):
        return program
    made, lanes = program, AbstractLanes(shape, promises)
    while True:
        found = ((body, _rounds(made, body, lanes, symbols)) for body in _loops(made.blocks))
        body, rounds = next(((body, rounds) for body, rounds in found if rounds), (None, []))
        if body is None:
            break
        made = unrolled(made, body, rounds)
    # Lanes that part in front of a barrier may be in several rounds when they go on.
    parts = made is not program and infer_kinds(made, shape, promises, symbols).pending.divergent_barrier
    return program if parts else made


def _loops(blocks: Sequence[Block]) -> Iterable[range]:
    """The loops with barriers in each round, outer ones first.

    Lanes go back in them from their last block only, so none are in several rounds at once.
    """
    for header, body in sorted(loops_of(blocks).items(), key=lambda loop: -len(loop[1])):
        whole = range(header, max(body) + 1)
        back = [index for index in whole if header in blocks[index].successors]
        if header > 0 and body == set(whole) and back == [whole[-1]] and _waits(blocks, body):
            yield whole


def _waits(blocks: Sequence[Block], body: Iterable[int]) -> bool:
    return any(isinstance(blocks[index].end, Barrier) for index in body)


def _rounds(program: Program, body: range, lanes: AbstractLanes, symbols: Symbols) -> list[Round]:
    """The rounds of a loop, if it is known how many there are, and they are not too many.

    None goes round a loop without barriers, as compilers have them for what remains of unrolled ones: that
    would be as many copies of it.
    """
    lengths = [len(block.steps) for block in program.blocks]
    room = _MOST_STEPS - sum(lengths) + sum(lengths[body.start : body.stop])
    inner = {
        (index, header)
        for header, inside in loops_of(program.blocks).items()
        if header in body and not _waits(program.blocks, inside)
        for index in inside
    }
    found: list[Round] = []
    try:
        paths = Analysis(program, lanes, symbols, {})
        paths.settle()
        state = paths.entering(body)
        while state is not None and len(found) < _MOST_ROUNDS:
            onward, state = paths.run_round(body, state, len(found))
            found.append(onward)
            room -= 1 + sum(lengths[index] for index in onward)
            ways = {(index, target) for index, targets in onward.items() for target in targets}
            if room < 0 or not ways.isdisjoint(inner):
                return []
            leaving = [targets for targets in onward.values() if not all(one in body for one in targets)]
            if state is None:
                return found if all(len(targets) == 1 for targets in leaving) else []
            if leaving:
                return []
    except OutOfBudget:
        pass
    return []
