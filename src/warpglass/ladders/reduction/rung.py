"""A rung of the reduction ladder: one way of adding up an array, block by block.

Every kernel of this ladder has the parameters (x, partial, n): it adds the n elements of x and leaves one
partial sum per block in `partial`. So launch, host program and error bound follow from three facts that the
rung states: elements per thread, whether it keeps a block's elements in shared memory, its place in the
ladder.

final="host" adds the partial sums on the host; final="launch" launches the same kernel on them, and again,
until one is left: the end of a launch is the only barrier that all blocks of a grid share. The time is the
sum of the launches; the host's sum is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    table: Literal["global", "shared"] = "global",
    elements_per_thread: int = 1,
    cuda: str = "",
    kernel: KernelFunction | None = None,
    specialise: Callable[[int], KernelFunction] | None = None,  # the kernel for one block size
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

    def shape(case: Case, block: int) -> Shape:
        return launch_shape(case.size, block, elements_per_thread, case.dtype if table == "shared" else None)

    code = Kernel(
        name=file.stem,
        file=file.with_suffix(".cu"),
        cuda=cuda,
        python=kernel,
        specialise=None if specialise is None else lambda case, block: specialise(block),
    )
    return Rung(
        name=name,
        explanation=explanation,
        follows=follows,
        table=table,
        kernels=(code,),
        program=lambda run: reduce(run, code.name, elements_per_thread, table == "shared"),
        shape=shape,
        depth=lambda case, block: additions(block, elements_per_thread),
        claims=claims,
        defect=defect,
    )


def launch_shape(n: int, block: int, elements_per_thread: int, shared: np.dtype[Any] | None) -> Shape:
    """The launch for n elements: blocks enough to cover them, and one even if there are none."""
    span = block * elements_per_thread
    return Shape(max(1, -(-n // span)), block, 0 if shared is None else block * shared.itemsize)


def additions(block: int, elements_per_thread: int) -> int:
    """How many additions an element can pass through in one launch: within a thread, then the tree."""
    return elements_per_thread - 1 + block.bit_length() - 1


def reduce(run: Run, kernel: str, elements_per_thread: int, shared: bool) -> None:
    """Launch the kernel, and launch it again on the partial sums if they are not for the host."""
    source, count, dtype = run["x"], run.case.size, run.case.dtype
    launches = 0
    while True:
        shape = launch_shape(count, run.block, elements_per_thread, dtype if shared else None)
        blocks = shape.grid3[0]
        partial = run.scratch(f"partial{launches}", blocks, dtype)
        run.launch(kernel, shape, source, partial, np.uint32(count))
        launches += 1
        source, count = partial, blocks
        if run.final == "host" or blocks == 1:
            break
    run.depth = additions(run.block, elements_per_thread) * launches
    run.keep("sum", final_sum(run.to_host(source)))


def _on_host(compute: Callable[[Array], Number], arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"sum": compute(arrays["x"])}
