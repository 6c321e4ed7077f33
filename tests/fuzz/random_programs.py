"""Random kernels by number on both CPU engines: `attempt(number)` is what watched.py tries.

The kernels are those of tests/codegen/random_kernels.py with all features; every fifth has large blocks.
"""

from __future__ import annotations

import numpy as np

from tests.codegen.random_kernels import RandomKernel, random_kernel
from tests.engines import CPU_ENGINES, run_ptx


def program(number: int) -> RandomKernel:
    """The kernel of a number."""
    return random_kernel(number, large=number % 5 == 0, size=6 + number % 4 * 4, features=True)


def attempt(number: int) -> str:
    """Run the kernel on both engines, whose results must be the same bits."""
    made = program(number)
    reference, kinds = (outputs(made, engine) for engine in CPU_ENGINES)
    found = made.differences(kinds, reference, exact=True)
    assert not found, "; ".join(found)
    return "agree"


def outputs(made: RandomKernel, engine: str) -> np.ndarray:
    """What a kernel writes on an engine."""
    arguments = made.arguments()
    run_ptx(made.text, made.grid, made.block, arguments, engine=engine, timeout=60)
    output = arguments[-1]
    assert isinstance(output, np.ndarray)
    return output
