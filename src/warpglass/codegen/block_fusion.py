"""Block fusion: rows of blocks that lie side by side run together, where no thread can tell.

A block of 16 by 16 threads has rows of 16: a warp is two of them, which lie far apart in memory, and what is
the same for a row differs within the warp. The rows of several blocks side by side along x are one long row:
its accesses are runs of memory, whole lines of the caches, and what follows from y is a scalar.
Belongs here: which kernels may be run so, and with how many blocks. warp_fusion.py asks whether it pays.

Blocks that run together come to their accesses in another order than one by one. So they store nothing that
any thread loads, and have no memory of their own that another block would find changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..program import Program
from ..program.blocks import loops_of
from .parting_warps import shares_nothing, stores_apart
from .shape import BlockShape, Promises

# Threads of a row from which on blocks have few enough of them side by side.
_LEAST = 4


def wide_shapes(program: Program, shape: BlockShape, promises: Promises, most: int) -> Iterator[BlockShape]:
    """The shapes with rows of several blocks together, up to `most` lanes of them, the longest first.

    Kernels with loops load the same for many rows, whose lanes are better together.
    """
    x = shape.block[0]
    if x < _LEAST or x & (x - 1) or not _apart(program):
        return
    blocks = most // x
    while blocks > 1:
        if blocks <= promises.grid[0]:
            yield replace(shape, width=blocks * x, rows=1, blocks=blocks)
        blocks //= 2


def _apart(program: Program) -> bool:
    """Whether a kernel has no loops and no barriers, and neither shares memory nor loads what it stores."""
    apart = not program.shared.static and shares_nothing(program)
    return apart and not loops_of(program.blocks) and stores_apart(program)
