"""A rung of the reduction ladder: one way of adding up an array, block by block.

Every kernel of this ladder has the parameters (x, partial, n): it adds the n elements of x and leaves one
partial sum per block in `partial`, or all of it in partial[0]. So launch, host program and error bound follow
from a few facts that the rung states: elements per thread or most threads, whether it keeps a block's
elements in shared memory, its place in the ladder.

final="host" adds the partial sums on the host; final="launch" launches the same kernel on them, and again,
until one is left: the end of a launch is the only barrier that all blocks of a grid share. The time is the
sum of the launches; the host's sum is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..problem import Array, Case, Number
from ..rounding import exact_sum
from ..run import HostRun
from ..rung import Claim, LaunchShape, Rung, RungKernel

PAST_THE_END = (
    "when n is no multiple of the block size, the last block reads past the end of the array (out-of-bounds)"
)
DROPS_THE_TAIL = (
    "when n is no multiple of {} * blockDim.x, elements of the tail are dropped (unread-input) and the tree "
    "reads past the end of the array (out-of-bounds)"
)
TRUSTS_LOCKSTEP = f"the last warp relies on lockstep (warp-race); {DROPS_THE_TAIL.format(8)}"


def reduction_rung(
    *,
    follows: str | None = None,
    table: Literal["global", "shared", "beyond"] = "global",
    elements_per_thread: int = 1,
    most_threads: int | None = None,  # of the grid, whose threads then loop over what is left
    one_result: bool = False,  # the kernel leaves the whole sum in partial[0]
    cuda: str = "",
    claims: tuple[Claim, ...] = (),
    defect: str = "",
) -> Rung:
    """Return one version of the sum."""
    sums = Reduction(elements_per_thread, most_threads, table == "shared", one_result)
    return Rung(
        follows=follows,
        table=table,
        kernels=(RungKernel(cuda=cuda),),
        program=sums.run,
        shape=lambda case, block: sums.shape(case.size, block, case.dtype),
        depth=lambda case, block: sums.additions(case.size, block),
        claims=claims,
        defect=defect,
    )


def host_rung(compute: Callable[[Array], Number], defect: str = "") -> Rung:
    """Return the baseline: a tree of sums on the host, which overwrites the array."""

    def host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"sum": compute(arrays["x"])}

    return Rung(
        table="global",
        host=host,
        depth=lambda case, block: max(1, case.size - 1).bit_length(),
        defect=defect,
    )


@dataclass(frozen=True, slots=True)
class Reduction:
    """A sum by kernels that leave one partial sum a block: what decides their launches."""

    elements_per_thread: int = 1
    most_threads: int | None = None
    shared: bool = False
    one_result: bool = False

    def shape(self, n: int, block: int, dtype: np.dtype[Any]) -> LaunchShape:
        """The launch for n elements: blocks enough to cover them or as many as there may be, one at least."""
        grid = -(-n // (block * self.elements_per_thread))
        if self.most_threads is not None:
            grid = min(grid, self.most_threads // block)
        return LaunchShape(max(1, grid), block, block * dtype.itemsize if self.shared else 0)

    def additions(self, n: int, block: int) -> int:
        """How many additions an element can pass through in one launch: within a thread, then the tree."""
        grid = self.shape(n, block, np.dtype(np.int8)).grid3[0]
        in_thread = max(self.elements_per_thread, -(-n // (grid * block))) - 1
        # The blocks' sums meet in one word, in whatever order.
        return in_thread + block.bit_length() - 1 + (grid if self.one_result else 0)

    def run(self, run: HostRun) -> None:
        """Launch the kernel, and launch it again on the partial sums if they are not for the host."""
        source, count, dtype = run["x"], run.case.size, run.case.dtype
        launches = depth = 0
        while True:
            shape = self.shape(count, run.block, dtype)
            blocks = shape.grid3[0]
            partial = run.scratch(f"partial{launches}", blocks, dtype)
            if self.one_result:
                run.copy(np.zeros(blocks, dtype), partial)
            run.launch(run.kernel, shape, source, partial, np.uint32(count))
            depth += self.additions(count, run.block)
            launches += 1
            source, count = partial, blocks
            if run.final == "host" or blocks == 1 or self.one_result:
                break
        run.depth = depth
        left = run.to_host(source)
        run.keep("sum", exact_sum(left[:1] if self.one_result else left))
