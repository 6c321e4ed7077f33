"""Work over long arrays, block by block on all cores: inputs, and the true results that take the host long.

Belongs here: the blocks and the threads. NumPy lets other threads run while it computes. Blocks are the same
on every machine, so results are, too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..host.cores import core_count

LENGTH = 1 << 20  # elements of a block: few enough to stay in a core's cache

T = TypeVar("T")


def in_blocks(n: int, work: Callable[[slice], T]) -> list[T]:
    """What `work` returns for each block of n elements, in their order."""
    blocks = [slice(start, min(n, start + LENGTH)) for start in range(0, n, LENGTH)]
    if len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(min(len(blocks), core_count())) as pool:
        return list(pool.map(work, blocks))
