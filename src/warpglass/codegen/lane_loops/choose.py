"""Which loops lanes run one after the other: those of which enough is known before their first rounds.

Their rounds are counted (rounds.py) and what they store meets nothing (stores.py). What an unrolled loop
leaves over has few rounds, which quick gathers serve sooner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...program import Program
from ..counting import is_short
from ..infer import Inference
from ..machine.target import gathers_quickly
from ..operands import Symbols
from ..shape import BlockShape, Promises
from .costs import Costs, find_costs
from .ends import find_ends
from .find import LaneLoop, find_lane_loops
from .repeats import Repeat, find_repeat, hands_nothing_on
from .rounds import Rounds, find_rounds
from .teams import find_shared

# Bytes by which stores move on at most in a round: lanes further apart than that mostly lie side by side.
_LINE = 64


@dataclass(frozen=True, slots=True)
class ChosenLoop:
    """A loop that lanes run alone, and what is known of it.

    `ends` are the steps that compute registers' last values in front of it. If it is `wide`, LLVM does many
    of its rounds at once: they store side by side and hand nothing on. A round may have parts that `repeat`.
    Lanes of a team have the `shared` walks in common.
    """

    loop: LaneLoop
    rounds: Rounds
    ends: Mapping[str, frozenset[int]]
    wide: bool
    repeat: Repeat | None
    costs: Costs
    shared: frozenset[int]


def choose_lane_loops(
    program: Program,
    shape: BlockShape,
    promises: Promises,
    symbols: Symbols,
    found: Inference,
    deserted: frozenset[int] = frozenset(),
) -> dict[int, ChosenLoop]:
    """The loops by their headers, but for those that are deserted."""
    chosen: dict[int, ChosenLoop] = {}
    for header, loop in find_lane_loops(program, found).items():
        if header in deserted:
            continue
        rounds = find_rounds(program, loop, found.kinds, shape, promises, symbols)
        if rounds is None or not rounds.by_shift:
            continue
        short = gathers_quickly() and is_short(program, found.kinds, {header})
        if not _may_store(loop, rounds) if loop.stores else short:
            continue
        ends = find_ends(program, loop, rounds)
        repeat = find_repeat(program, loop, rounds) if loop.stores else None
        wide = loop.stores and _is_wide(loop, rounds, ends, repeat)
        if loop.stores and not wide and _lies_in_rows(loop, found):
            continue
        costs = find_costs(program, loop, found.kinds, shape, promises, symbols, rounds, wide=wide)
        shared = frozenset[int]() if loop.stores else find_shared(program, loop, rounds, found)
        chosen[header] = ChosenLoop(loop, rounds, ends, wide, repeat if wide else None, costs, shared)
    return chosen


def _may_store(loop: LaneLoop, rounds: Rounds) -> bool:
    """Whether all accesses are even, stores go along lines, and what is to stay is nowhere stored into."""
    stored = {walk.array for walk in rounds.walks if walk.writes}
    staying = {step for step, _ in rounds.staying.values()}
    return all(rounds.walked.issuperset(group.steps) for group in loop.groups) and not any(
        walk.array in stored
        and (staying.intersection(walk.steps) or walk.pace > max(_LINE, walk.span + walk.size))
        for walk in rounds.walks
    )


def _lies_in_rows(loop: LaneLoop, found: Inference) -> bool:
    """Whether lanes store at known distances from each other: that is put down together (row_stores.py)."""
    base = next(group.base for group in loop.groups if group.base in loop.written)
    assert base is not None
    return found.offsets(base) is not None


def _is_wide(
    loop: LaneLoop, rounds: Rounds, ends: Mapping[str, frozenset[int]], repeat: Repeat | None
) -> bool:
    """Whether LLVM does many of a storing loop's rounds at once."""
    if not hands_nothing_on(loop, rounds) or loop.kept - set(ends):
        return False
    return repeat is not None or all(walk.pace == walk.size for walk in rounds.walks if walk.writes)
