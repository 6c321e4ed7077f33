"""Random kernels by number on both CPU engines: `attempt(number)` is what watched.py tries.

The kernels are those of tests/generators/kernels.py with all features; every fifth has large blocks. Most
are small, since nearly all time goes into compiling.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.engines import CPU_ENGINES, run_ptx
from tests.generators.kernels import RandomKernel, random_kernel
from warpglass import lab, ptx
from warpglass.errors import KernelTimeout, WarpglassError
from warpglass.program import build_program


def program(number: int) -> RandomKernel:
    """The kernel of a number."""
    size = 2 if number % 8 else 6 + number // 8 % 4 * 4
    return random_kernel(number, large=number % 5 == 0, size=size, features=True)


def attempt(number: int) -> str:
    """Run the kernel on both engines, whose results must be the same bits."""
    found = differences(program(number))
    assert not found, "; ".join(found)
    return "agree"


def differences(made: RandomKernel) -> list[str]:
    """What the two engines do not agree on."""
    reference, kinds = (_ending(made, engine) for engine in CPU_ENGINES)
    if isinstance(reference, str) or isinstance(kinds, str):
        return [] if isinstance(kinds, str) and kinds == reference else [f"{reference} and {kinds}"]
    return made.differences(kinds, reference, exact=True)


def _ending(made: RandomKernel, engine: str) -> np.ndarray | str:
    """What a kernel writes on an engine, or that it is a deadlock; in which of its blocks first is by chance.

    Rare kernels are: some of a warp's lanes wait at a barrier and others, for them, at a shuffle.
    """
    try:
        return outputs(made, engine)
    except KernelTimeout as error:
        if "deadlock" not in str(error):
            raise
        lab.reset()
        return "deadlock"


def outputs(made: RandomKernel, engine: str) -> np.ndarray:
    """What a kernel writes on an engine."""
    arguments = made.arguments()
    run_ptx(made.text, made.grid, made.block, arguments, engine=engine, timeout=60)
    output = arguments[-1]
    assert isinstance(output, np.ndarray)
    return output


# ---------------------------------------------------------------------------------------- for shrink.py
def text_of(number: int) -> str:
    """A program's PTX, under the header of a case of tests/codegen/cases."""
    made = program(number)
    launch = f"// launch {made.grid} {made.block}\n// random {made.seed} {made.n} {len(made.outputs)}\n"
    return launch + made.text


def problem(number: int, text: str) -> str | None:
    """How a changed text of a program fails; None if it does not, or reads what nothing wrote."""
    made = replace(program(number), text=text)
    try:
        if build_program(ptx.parse(text, "shrunk"), "k").live[0]:
            return None
        return "differs" if differences(made) else None
    except WarpglassError:
        lab.reset("cpu")
        return None
    except Exception as error:
        return type(error).__name__
