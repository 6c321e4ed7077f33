"""What a rung launches, as data: steps and scratch memory, for whoever has the arrays.

A host program (run.py) can do anything; most only launch a few kernels one after the other. A rung that says
these launches as a Plan can be run by others too: the bench's host program and `warpglass.ops` follow the
same one. The function that makes it, `plan(...)` of the rung's file or of its ladder's folder, takes sizes,
element types and tuned parameters, and knows nothing of arrays, streams or devices. Plans are kept and used
again, so equal questions may share one.

Does not belong here: anything that a launch's results decide on the host. Kernels decide it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .rung import LaunchShape


@dataclass(frozen=True, slots=True)
class Part:
    """The elements of a named array from element number `start` on."""

    array: str
    start: int


Argument = str | Part | np.generic


@dataclass(frozen=True, slots=True)
class Step:
    """One launch of a kernel of a .cu file.

    `kernel` is its name, as a C++ name expression with all template arguments ("tile<float, 32>"). `grid` and
    `block` are one number or up to three, x first; `shared` is bytes of dynamic shared memory. An argument is
    the name of an array that the plan's user has or of one of the plan's scratch arrays, part of one, or a
    NumPy scalar of the width that the kernel declares. `target` is what the kernel must be compiled for if it
    uses instructions of one compute capability only ("sm_90a").
    """

    kernel: str
    file: Path
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    shared: int
    arguments: tuple[Argument, ...]
    target: str = ""

    @property
    def shape(self) -> LaunchShape:
        """What stands between <<< and >>>."""
        return LaunchShape(self.grid, self.block, self.shared)


@dataclass(frozen=True, slots=True)
class Scratch:
    """Device memory that the steps share: `size` elements of a type.

    A `zeroed` array holds zeros before the first run, and the steps leave zeros in it: a kernel resets what
    it has used, so that later runs on the same stream need no other launch. Others hold anything.
    """

    name: str
    dtype: np.dtype[Any]
    size: int
    zeroed: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """One launch or more, each after the one before has ended, and their scratch memory."""

    steps: tuple[Step, ...]
    scratch: tuple[Scratch, ...] = ()
