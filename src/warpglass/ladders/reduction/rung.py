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
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..problem import Array, Case, Number
from ..run import Run
from ..rung import Claim, Kernel, KernelFunction, Rung, Shape
from .problem import final_sum


def reduction_rung(
    *,
    name: str,
    file: Path,  # the rung's Python module; the .cu file lies beside it
    explanation: str,
    follows: str | None,
    table: Literal["global", "shared", "beyond"] = "global",
    elements_per_thread: int = 1,
    most_threads: int | None = None,  # of the grid, whose threads then loop over what is left
    one_result: bool = False,  # the kernel leaves the whole sum in partial[0]
    cuda: str = "",
    kernel: KernelFunction | None = None,
    specialise: Callable[[int], KernelFunction] | None = None,  # the kernel for one block size
    for_type: Callable[[np.dtype[Any]], KernelFunction] | None = None,  # the kernel for one element type
    host: Callable[[Array], Number] | None = None,  # the baseline: no kernel at all
    claims: tuple[Claim, ...] = (),
    defect: str = "",
) -> Rung:
    """Return one version of the sum."""
    if host is not None:
        return Rung(
            name=name,
            explanation=explanation,
            follows=follows,
            table=table,
            host=lambda case, arrays: _on_host(host, arrays),
            depth=lambda case, block: max(1, case.size - 1).bit_length(),
            claims=claims,
            defect=defect,
        )

    plan = Plan(elements_per_thread, most_threads, table == "shared", one_result)
    made: Callable[[Case, int], KernelFunction] | None = None
    if specialise is not None:
        made = lambda case, block: specialise(block)  # noqa: E731
    elif for_type is not None:
        made = lambda case, block: for_type(case.dtype)  # noqa: E731
    code = Kernel(
        name=file.stem,
        file=file.with_suffix(".cu"),
        cuda=cuda,
        python=kernel,
        specialise=made,
    )
    return Rung(
        name=name,
        explanation=explanation,
        follows=follows,
        table=table,
        kernels=(code,),
        program=lambda run: reduce(run, code.name, plan),
        shape=lambda case, block: plan.shape(case.size, block, case.dtype),
        depth=lambda case, block: plan.additions(case.size, block),
        claims=claims,
        defect=defect,
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What decides the launches of a rung."""

    elements_per_thread: int = 1
    most_threads: int | None = None
    shared: bool = False
    one_result: bool = False

    def shape(self, n: int, block: int, dtype: np.dtype[Any]) -> Shape:
        """The launch for n elements: blocks enough to cover them or as many as there may be, one at least."""
        grid = -(-n // (block * self.elements_per_thread))
        if self.most_threads is not None:
            grid = min(grid, self.most_threads // block)
        return Shape(max(1, grid), block, block * dtype.itemsize if self.shared else 0)

    def additions(self, n: int, block: int) -> int:
        """How many additions an element can pass through in one launch: within a thread, then the tree."""
        grid = self.shape(n, block, np.dtype(np.int8)).grid3[0]
        in_thread = max(self.elements_per_thread, -(-n // (grid * block))) - 1
        # The blocks' sums meet in one word, in whatever order.
        return in_thread + block.bit_length() - 1 + (grid if self.one_result else 0)


def reduce(run: Run, kernel: str, plan: Plan) -> None:
    """Launch the kernel, and launch it again on the partial sums if they are not for the host."""
    source, count, dtype = run["x"], run.case.size, run.case.dtype
    launches = depth = 0
    while True:
        shape = plan.shape(count, run.block, dtype)
        blocks = shape.grid3[0]
        partial = run.scratch(f"partial{launches}", blocks, dtype)
        if plan.one_result:
            run.copy(np.zeros(blocks, dtype), partial)
        run.launch(kernel, shape, source, partial, np.uint32(count))
        depth += plan.additions(count, run.block)
        launches += 1
        source, count = partial, blocks
        if run.final == "host" or blocks == 1 or plan.one_result:
            break
    run.depth = depth
    left = run.to_host(source)
    run.keep("sum", final_sum(left[:1] if plan.one_result else left))


def _on_host(compute: Callable[[Array], Number], arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"sum": compute(arrays["x"])}
