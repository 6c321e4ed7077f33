"""Scan, then propagate: how blocks that scan their own spans become a scan of the whole array.

Belongs here: the host program that all rungs but the last share, and its second kernel. Every block scans its
span and leaves the span's total. The totals are scanned in the same way, by as many further levels as it
takes, and each is added to the span that follows. An element is read and written twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import LaunchShape, RungKernel, cuda


def add_offsets(y: Any, totals: Any, n: Any, span: Any) -> None:
    """Add the total of everything before it to span number blockIdx.x + 1."""
    offset = totals[cuda.blockIdx.x]
    first = (cuda.blockIdx.x + 1) * span
    for i in range(cuda.threadIdx.x, span, cuda.blockDim.x):
        if first + i < n:
            y[first + i] += offset


ADD_OFFSETS = RungKernel(python=add_offsets)


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a kernel that scans one span a block is launched.

    `per_thread` elements are a thread's share of the span, `shared` the bytes of shared memory for a block of
    so many threads and elements of so many bytes, `additions` the most that an element passes through on its
    way into a sum of its span.
    """

    per_thread: int
    shared: Callable[[int, int], int]
    additions: Callable[[int], int]

    def span(self, block: int) -> int:
        """Elements that one block scans."""
        return self.per_thread * block

    def shape(self, case: Case, block: int) -> LaunchShape:
        """The first launch."""
        return self._shape(case.size, block, case.dtype)

    def depth(self, case: Case, block: int) -> int:
        """Additions on the way into any sum: those of every level, and the offset of each but the last."""
        n, depth = case.size, self.additions(block)
        while n > self.span(block):
            n = -(-n // self.span(block))
            depth += self.additions(block) + 1
        return depth

    def scan(self, run: HostRun) -> None:
        """Launch the kernel (x, y, totals, n) on the array, then on the totals, and add the offsets."""
        self._scan_level(run, 0, "x", "y", run.case.size)

    def _scan_level(self, run: HostRun, level: int, x: Any, y: Any, n: int) -> None:
        shape = self._shape(n, run.block, run.case.dtype)
        spans = shape.grid3[0]
        totals = run.scratch(f"totals{level}", spans, run.case.dtype)
        run.launch(run.kernel, shape, x, y, totals, np.uint32(n))
        if spans > 1:
            self._scan_level(run, level + 1, totals, totals, spans)
            others = LaunchShape(spans - 1, run.block)
            run.launch("add_offsets", others, y, totals, np.uint32(n), np.uint32(self.span(run.block)))

    def _shape(self, n: int, block: int, dtype: np.dtype[Any]) -> LaunchShape:
        return LaunchShape(max(1, -(-n // self.span(block))), block, self.shared(block, dtype.itemsize))
