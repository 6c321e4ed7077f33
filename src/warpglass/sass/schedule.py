"""How long one warp takes that has a multiprocessor to itself: ptxas's own schedule, played.

Belongs here: walking machine code in order. ptxas writes into each instruction how many clocks to wait behind
it and which of six scoreboards to wait for, so dependencies need not be found again. What takes how long is
told by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .decode import Instruction
from .graph import MachineBlock
from .translate import Translation

_SCOREBOARDS = 6
_OPERANDS = 12.0  # clocks until an access has read its operands
Latency = Callable[[Instruction], float]


def path_cycles(
    translation: Translation, runs: Sequence[float], latency: Latency, slower: float = 1.0
) -> float:
    """Clocks of one warp that runs each block of `translation.graph` so often (a fraction: sometimes).

    `latency` gives the clocks from an instruction to its result; of a barrier, the clocks that it takes.
    Clocks that stand in the code are made `slower` by a factor, for GPUs whose code ptxas no longer makes.
    """
    total = 0.0
    ready = [0.0] * _SCOREBOARDS
    for number, block in enumerate(translation.graph.blocks):
        times = runs[number]
        if times <= 0:
            continue
        first, ready = _play(block, ready, latency, slower)
        total += first * min(times, 1.0)
        if times > 1:
            again, ready = _play(block, ready, latency, slower)
            total += again * (times - 1)
    return total + max(ready)


def _play(
    block: MachineBlock, ready: Sequence[float], latency: Latency, slower: float
) -> tuple[float, list[float]]:
    """Clocks of a block, and what is left until each scoreboard is clear behind it."""
    boards, now = list(ready), 0.0
    for item in block.instructions:
        if item.waits:
            now = max(now, *(boards[k] for k in range(_SCOREBOARDS) if item.waits >> k & 1))
        if item.operation.control == "barrier":
            now += latency(item)
        if item.result_board is not None:
            boards[item.result_board] = max(boards[item.result_board], now + latency(item))
        if item.operand_board is not None:
            boards[item.operand_board] = max(boards[item.operand_board], now + _OPERANDS)
        now += item.stall * slower
    return now, [max(0.0, one - now) for one in boards]
