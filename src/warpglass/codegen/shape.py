"""What code is compiled for: the block shape with its thread indices, and what a launch promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .builder import WIDTH

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class BlockShape:
    """Extents of a block, in threads, and bytes of shared memory that its kernel declares.

    `width` lanes run together: a warp's, or several warps' (warp_fusion.py). If `rows` is given, those that
    act are the threads of so many whole rows of the block along x, else all of them are threads. So many
    `blocks` side by side along x run together, a row of each (block_fusion.py). Where they are `reordered`,
    lanes may come to faults in another order than the program's (lane_loops/remainders.py). `cluster` are the
    extents of a cluster in blocks, `explicit` says whether the launch or the kernel gives them, and `ranked`
    that shared addresses have the block's rank in it (isa/cluster.py).
    """

    block: Dim3
    static_shared: int = 0
    width: int = WIDTH
    cluster: Dim3 = (1, 1, 1)
    ranked: bool = False
    explicit: bool = False
    rows: int = 0
    blocks: int = 1
    reordered: bool = False

    @property
    def threads(self) -> int:
        """Threads in a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps(self) -> int:
        """Groups of lanes that run together; the last may be partial."""
        return -(-self.threads // self.together)

    @property
    def together(self) -> int:
        """Threads of a group in one block."""
        return self.rows * self.block[0] or self.width

    @property
    def regrouped(self) -> bool:
        """Whether others run together than the threads of a warp, or these in another order."""
        return self.reordered or self.blocks > 1 or (self.threads > WIDTH and self.together != WIDTH)

    @property
    def last(self) -> int:
        """Threads of the last group."""
        return self.threads - (self.warps - 1) * self.together

    @property
    def unfused(self) -> BlockShape:
        """The shape in which warps run one by one."""
        return replace(self, width=WIDTH, rows=0, blocks=1)

    def extent(self, axis: str) -> int:
        """The block's extent along x, y or z."""
        return self.block["xyz".index(axis)]

    def table_offset(self, axis: str) -> int:
        """Bytes from a warp's x indices to its indices along an axis."""
        return "xyz".index(axis) * self.warps * self.width * 4

    def thread_table(self) -> np.ndarray:
        """Thread indices: int32 of shape (3, warps * width).

        The lanes beyond those that act never run; they continue the pattern.
        """
        x, y, z = self.block
        if self.rows:
            group, lane = np.divmod(np.arange(self.warps * self.width, dtype=np.int32), self.width)
            row = group * self.rows + (lane // x if self.rows > 1 else 0)
            column = lane % x if self.rows > 1 or self.blocks > 1 else lane
            return np.stack([column, row if z == 1 else row % y, 0 * row if z == 1 else row // y])
        linear = np.arange(self.warps * self.width, dtype=np.int32)
        if y == z == 1:  # in a row of threads the pattern does not start again
            return np.stack([linear, 0 * linear, 0 * linear])
        return np.stack([linear % x, linear // x % y, linear // (x * y)])

    def thread_table_aligned(self) -> np.ndarray:
        """The thread table at an address that is a multiple of 64."""
        table = self.thread_table()
        raw = np.zeros(table.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        aligned = raw[start : start + table.nbytes].view(np.int32).reshape(table.shape)
        aligned[:] = table
        return aligned


# How far an axis of the grid may reach, per class: code is compiled for the smallest class that holds the
# launch's grid, so that block indices have known bounds. The classes keep the number of versions small.
_GRID_CLASSES = (1 << 10, 1 << 16, 1 << 22, 1 << 31)


@dataclass(frozen=True, slots=True)
class Promises:
    """What holds for every launch of a version of the code.

    `grid` bounds the grid's extents, or gives them if it is `exact`; `parameters` gives values of integer
    parameters by byte offset; while the code runs, the host `flushes` subnormal numbers.
    """

    grid: Dim3
    parameters: Mapping[int, int] = field(default_factory=dict)
    exact: bool = False
    flushes: bool = False


def grid_class(grid: Dim3) -> Dim3:
    """The bounds to compile for: the smallest class that holds each extent, 1 for an axis not used."""
    x, y, z = (1 if extent == 1 else next(c for c in _GRID_CLASSES if extent <= c) for extent in grid)
    return x, y, z
