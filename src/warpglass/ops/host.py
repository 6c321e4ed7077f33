"""Arrays in host memory, and tasks on the CPU engine.

Belongs here: what counts as an array (NumPy arrays, what NumPy makes of lists and numbers, tensors of PyTorch
on the host), and the launches, which go the way that all launches of this process go: whoever watches them
(`warpglass check script.py`) sees these as well.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import lab, source
from ..engine.launch.backend import Launch
from ..errors import ArgumentError
from ..ladders.plan import Argument, Part, Scratch
from ..source.compiled import Compiled
from .layout import C_TYPES
from .task import Operand, Result, Task

Array = np.ndarray[Any, np.dtype[Any]]


def host_array(name: str, value: Any) -> Array:
    """A NumPy array of a value's elements, of its own memory where it has some.

    Raises ArgumentError for what holds no numbers that operations take.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is a masked array, whose mask no operation sees; pass x.filled(value)")
    if getattr(value, "requires_grad", False):
        raise ArgumentError(f"{name} requires a gradient, which no operation has; pass {name}.detach()")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{name} is no array of numbers: {problem}") from None
    check_type(name, array.dtype)
    return array


def check_type(name: str, dtype: np.dtype[Any]) -> None:
    """Raise ArgumentError for elements that no operation takes."""
    if dtype.name not in C_TYPES or not dtype.isnative:
        hint = "; pass x.astype(x.dtype.newbyteorder('='))" if not dtype.isnative else ""
        raise ArgumentError(f"{name} has the type {dtype}; operations take {', '.join(C_TYPES)}{hint}")


def packed(array: Array) -> Array:
    """An array as the engine's kernels take it."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.array(array, order="C", copy=True)


def like_operand(result: Array, operand: Any) -> Any:
    """A result as what the operand was: NumPy's scalars and arrays, or PyTorch's tensors."""
    if type(operand).__module__.partition(".")[0] == "torch":
        return importlib.import_module("torch").from_numpy(result)
    return result[()] if result.ndim == 0 else result


def run_on_engine(task: Task, operands: Sequence[Operand], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return a new array for each result."""
    named: dict[str, Array] = {one.name: packed(array) for one, array in zip(operands, arrays, strict=True)}
    for one in (*task.results, *task.scratch):
        zeros = one.name in task.cleared or (isinstance(one, Scratch) and one.zeroed)
        shape = one.shape if isinstance(one, Result) else one.size
        named[one.name] = (np.zeros if zeros else np.empty)(shape, one.dtype)
    # Kernels that do not name halves move them as they are: their bits.
    bits = {name: one.view(np.uint16) if one.dtype == np.float16 else one for name, one in named.items()}
    place = lab.backend("cpu")
    for step in task.steps:
        taken = named if "__half" in step.kernel else bits
        values = tuple(_value(argument, taken) for argument in step.arguments)
        compiled = _compiled(step.file, step.kernel)
        shape = step.shape
        launch = Launch(compiled, shape.grid3, shape.block3, values, shape.shared, math.inf)
        lab.carry_out(place, launch)
    return tuple(named[one.name] for one in task.results)


def _value(argument: Argument, named: Mapping[str, Array]) -> Any:
    match argument:
        case str(name):
            return named[name]
        case Part(name, start):
            return named[name].reshape(-1)[start:]
    return argument


@cache
def _compiled(file: Path, kernel: str) -> Compiled:
    return source.load(file, kernel, target="sm_90").compile(())
