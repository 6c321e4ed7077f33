"""A rung of the reduction ladder: one way of adding up an array, block by block.

Every kernel of this ladder has the parameters (x, partial, n): it adds the n elements of x and leaves one
partial sum per block in `partial`. So a launch follows from three facts that the rung states:
elements per thread, whether it keeps a block's elements in shared memory, and its place in the ladder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import ArgumentError
from ..rung import Claim, KernelFunction, Shape
from .problem import C_NAMES, Array

BLOCKS = (64, 128, 256, 512, 1024)
Language = Literal["cuda", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionRung:
    """One version of the sum; `defect` says what is wrong with an as-written one."""

    name: str
    file: Path  # the rung's Python module; the .cu file lies beside it
    explanation: str
    follows: str | None
    table: Literal["global", "shared"] = "global"
    elements_per_thread: int = 1
    cuda: str = ""  # the C++ name expression, with {type} and {block} to fill in
    kernel: KernelFunction | None = None
    specialise: Callable[[int], KernelFunction] | None = None  # kernel for one block size
    host: Callable[[Array], float | int] | None = None  # the baseline: no kernel at all
    claims: tuple[Claim, ...] = ()
    defect: str = ""

    @property
    def title(self) -> str:
        """The first sentence or two: the explanation's first paragraph."""
        return " ".join(self.explanation.strip().partition("\n\n")[0].split())

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that this rung is written in."""
        python = self.kernel is not None or self.specialise is not None or self.host is not None
        return (*(("cuda",) if self.cuda else ()), *(("python",) if python else ()))

    @property
    def cuda_file(self) -> Path:
        """The CUDA C++ source of this rung."""
        return self.file.with_suffix(".cu")

    def cuda_name(self, dtype: np.dtype[np.generic], block: int) -> str:
        """The C++ name expression of the kernel: complete_unroll<double, 512>."""
        return self.cuda.format(type=C_NAMES[dtype.name], block=block)

    def python_name(self, block: int) -> str:
        """What the Python kernel is called in a report."""
        return f"{self.file.stem}({block})" if self.specialise is not None else self.file.stem

    def python_kernel(self, block: int) -> KernelFunction:
        """The Python kernel for this block size."""
        if self.specialise is not None:
            return self.specialise(block)
        if self.kernel is None:
            raise ArgumentError(f"{self.name} has no Python kernel")
        return self.kernel

    def shape(self, n: int, block: int, itemsize: int) -> Shape:
        """The launch for n elements: blocks enough to cover them, and one even if there are none."""
        if block not in BLOCKS:
            raise ArgumentError(
                f"block size {block}: the reduction ladder takes {', '.join(map(str, BLOCKS))}"
            )
        span = block * self.elements_per_thread
        shared = block * itemsize if self.table == "shared" else 0
        return Shape(grid=max(1, -(-n // span)), block=block, shared=shared)

    def additions(self, block: int) -> int:
        """How many additions an element can pass through in one launch: within a thread, then the tree."""
        return self.elements_per_thread - 1 + block.bit_length() - 1
