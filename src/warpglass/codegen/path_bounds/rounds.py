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
from ..operands import Symbols
from ..shape import BlockShape, Promises
from .analysis import Analysis, OutOfBudget
from .domain import AbstractLanes

# Rounds of a loop, and steps that all of them may have.
_MOST_ROUNDS, _MOST_STEPS = 16, 500


def unroll(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> Program:
    """The program without the loops with barriers whose rounds are known."""
    if program.fair or program.services or program.clustered or names_barriers(program):
        return program
    lanes = AbstractLanes(shape, promises)
    while True:
        known = ((body, _rounds(program, body, lanes, symbols)) for body in _loops(program.blocks))
        body, rounds = next(((body, found) for body, found in known if found), (None, ()))
        if body is None:
            return program
        program = unrolled(program, body, rounds)


def _loops(blocks: Sequence[Block]) -> Iterable[range]:
    """The loops with barriers that only their last block goes back in, outer ones first."""
    for header, body in sorted(loops_of(blocks).items(), key=lambda loop: -len(loop[1])):
        whole = range(header, max(body) + 1)
        back = [index for index in body if header in blocks[index].successors]
        ends = [blocks[index].end for index in body]
        if (
            header > 0
            and body == set(whole)
            and back == [whole[-1]]
            and any(isinstance(end, Barrier) for end in ends)
            and not any(isinstance(end, WarpBarrier) for end in ends)
        ):
            yield whole


def _rounds(program: Program, body: range, lanes: AbstractLanes, symbols: Symbols) -> list[Round]:
    """The rounds of a loop, if it is known how many there are, and they are not too many."""
    length = sum(len(program.blocks[index].steps) for index in body)
    most = min(_MOST_ROUNDS, _MOST_STEPS // max(1, length))
    found: list[Round] = []
    try:
        paths = Analysis(program, lanes, symbols, {})
        paths.settle()
        state = paths.entering(body)
        while state is not None and len(found) < most:
            onward, state = paths.run_round(body, state, len(found))
            found.append(onward)
            leaving = [targets for targets in onward.values() if not all(one in body for one in targets)]
            if state is None:
                return found if all(len(targets) == 1 for targets in leaving) else []
            if leaving:
                return []
    except OutOfBudget:
        pass
    return []
