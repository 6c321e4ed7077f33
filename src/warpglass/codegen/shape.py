"""The block shape that code is compiled for, and the thread indices that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """Extents of a block, in threads."""

    block: Dim3

    @property
    def threads(self) -> int:
        """Threads in a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps(self) -> int:
        """Warps in a block; the last may be partial."""
        return -(-self.threads // 32)

    def extent(self, axis: str) -> int:
        """The block's extent along x, y or z."""
        return self.block["xyz".index(axis)]

    def table_offset(self, axis: str) -> int:
        """Bytes from a warp's x indices to its indices along an axis."""
        return "xyz".index(axis) * self.warps * 32 * 4

    def thread_table(self) -> np.ndarray:
        """Thread indices: int32 of shape (3, warps * 32).

        The lanes beyond the block of a partial last warp never run; they continue the pattern.
        """
        x, y, _ = self.block
        linear = np.arange(self.warps * 32, dtype=np.int32)
        return np.stack([linear % x, linear // x % y, linear // (x * y)])

    def thread_table_aligned(self) -> np.ndarray:
        """The thread table at an address that is a multiple of 64."""
        table = self.thread_table()
        raw = np.zeros(table.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        aligned = raw[start : start + table.nbytes].view(np.int32).reshape(table.shape)
        aligned[:] = table
        return aligned
