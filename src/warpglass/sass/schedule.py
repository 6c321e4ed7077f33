"""How long one warp takes that has a multiprocessor to itself: ptxas's own schedule, played.

Belongs here: walking machine code in order. ptxas writes into each instruction how many clocks to wait behind
it and which of six scoreboards to wait for, so dependencies need not be found again. What takes how long is
told by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .decode import Instruction
from .graph import MachineBlock
from .translate import Translation

_SCOREBOARDS = 6
_OPERANDS = 12.0  # clocks until an access has read its operands
Latency = Callable[[Instruction], float]


class Path(NamedTuple):
    """Clocks of a warp that is alone, and those among them in which it waits for its own arithmetic."""

    clocks: float
    gaps: float


def path_of(translation: Translation, runs: Sequence[float], latency: Latency, slower: float = 1.0) -> Path:
    """The time of one warp that runs each block of `translation.graph` so often (a fraction: sometimes).

    `latency` gives the clocks from an instruction to its result; of a barrier, the clocks that it takes.
    Clocks that stand in the code are made `slower` by a factor, for GPUs whose code ptxas no longer makes.
    What a block still waits for when it ends, the next one waits for: around a loop as well.
    """
    blocks = translation.graph.blocks
    ways = _ways(blocks, runs)
    paths: dict[int, Path] = {}
    begun: dict[int, _Boards] = {}
    left: dict[int, _Boards] = {}
    for _ in range(_ROUNDS):
        for number, before in ways.items():
            ready = _mixed([(left[one], times) for one, times in before.items() if one in left])
            if begun.get(number) != ready:
                begun[number] = ready
                paths[number], left[number] = _play(blocks[number], ready, latency, slower)
    last = max(left[max(ways)]) if ways else 0.0
    return Path(
        sum(runs[number] * own.clocks for number, own in paths.items()) + last,
        sum(runs[number] * own.gaps for number, own in paths.items()),
    )


_Boards = tuple[float, ...]
_NOTHING = (0.0,) * _SCOREBOARDS
_ROUNDS = 3  # until loops in loops begin with what they end with


def _ways(blocks: Sequence[MachineBlock], runs: Sequence[float]) -> dict[int, dict[int, float]]:
    """For every block that runs, the blocks before it and how often the way from there is taken, about.

    Where a block has several behind it, its runs are shared out as those run.
    """
    found: dict[int, dict[int, float]] = {number: {} for number in range(len(blocks)) if runs[number] > 0}
    for number in found:
        behind = [target for target in blocks[number].successors if target in found]
        total = sum(runs[target] for target in behind)
        for target in behind:
            found[target][number] = runs[number] * runs[target] / total
    return found


def _mixed(ends: Sequence[tuple[_Boards, float]]) -> _Boards:
    """What is left to wait for behind several blocks, by how often each comes before."""
    total = sum(times for _, times in ends)
    if not total:
        return _NOTHING
    return tuple(sum(boards[k] * times for boards, times in ends) / total for k in range(_SCOREBOARDS))


def _play(block: MachineBlock, ready: _Boards, latency: Latency, slower: float) -> tuple[Path, _Boards]:
    """The time of a block, and what is left until each scoreboard is clear behind it."""
    boards, now, gaps = list(ready), 0.0, 0.0
    memory = (1 << _SCOREBOARDS) - 1  # the scoreboards of accesses; all, of the blocks before
    for item in block.instructions:
        if item.waits:
            until = max(now, *(boards[k] for k in range(_SCOREBOARDS) if item.waits >> k & 1))
            gaps += 0.0 if item.waits & memory else until - now
            now = until
        if item.operation.control == "barrier":
            now += latency(item)
        if item.result_board is not None:
            boards[item.result_board] = max(boards[item.result_board], now + latency(item))
            own = 1 << item.result_board
            memory = memory | own if item.access else memory & ~own
        if item.operand_board is not None:
            boards[item.operand_board] = max(boards[item.operand_board], now + _OPERANDS)
        now += item.stall * slower
        gaps += max(0.0, item.stall * slower - 1)
    return Path(now, gaps), tuple(max(0.0, one - now) for one in boards)
