"""What is timed: a case is a kernel in three languages with a launch, its data and the same in NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "kernels"
THEMES = (
    "streams",
    "reductions",
    "blocks",
    "matrices",
    "filters",
    "irregular",
    "divergent",
    "numerics",
    "linear",
    "physics",
    "graphs",
    "layers",
    "dynamic",
    "text",
    "images",
    "simulations",
    "primitives",
)

Arguments = tuple[Any, ...]
Data = Callable[[np.random.Generator], Arguments]
Extent = int | tuple[int, int]


@dataclass(frozen=True)
class Case:
    """One row of the comparison.

    `data` makes the arguments, `reference` computes in NumPy what the kernel does to the arrays of the same
    arguments. `results` are the positions of arrays to compare, `changes` those that must be restored before
    every launch. `summed` compares sums, as only they agree; `close` is the share of elements that may differ
    because a language rounds differently. Without `python` there is no Python source; unless it is
    `simulated`, numba's simulator lacks something the kernel needs. Without `numpy` the reference, which
    takes seconds, only checks. `numpy_bound` is the time, in units of NumPy's, to be reached.
    """

    name: str
    grid: Extent
    block: Extent
    data: Data
    reference: Callable[..., None]
    results: tuple[int, ...] = (0,)
    changes: tuple[int, ...] = ()
    kernel: str = ""
    python: bool = True
    simulated: bool = True
    summed: bool = False
    close: float = 0.0
    numpy: bool = True
    numpy_bound: float | None = None

    @property
    def function(self) -> str:
        """The kernel's name in its files."""
        return self.kernel or self.name

    def make(self) -> Arguments:
        """Fresh arguments, the same in every call; arrays start at multiples of 4096."""
        made = self.data(np.random.default_rng(7))
        return tuple(_aligned(one) if isinstance(one, np.ndarray) else one for one in made)

    def check(self, who: str, found: Arguments, expected: Arguments) -> None:
        """Raise if the results of a contestant are not NumPy's."""
        for position in self.results:
            got, want = found[position], expected[position]
            if self.summed:
                got, want = got.sum(keepdims=True), want.sum(keepdims=True)
            tolerance = 2e-4 if got.dtype.kind == "f" else 0
            wrong = ~np.isclose(got, want, rtol=tolerance, atol=0)
            if wrong.mean() > self.close:
                at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
                raise SystemExit(f"{self.name}: {who} has {got[at]} at {at}, NumPy {want[at]}")


def blocks(elements: int, size: int) -> int:
    """Blocks of `size` threads that cover so many elements."""
    return -(-elements // size)


def extents(extent: Extent) -> tuple[int, ...]:
    """An extent as a tuple."""
    return extent if isinstance(extent, tuple) else (extent,)


def cases() -> list[tuple[str, Case]]:
    """All cases in order, each with its theme."""
    return [(theme, case) for theme in THEMES for case in module(theme).CASES]


def module(theme: str) -> Any:
    """The Python module of a theme."""
    return importlib.import_module(f"{__package__}.kernels.{theme}")


def _aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    raw = np.empty(array.nbytes + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    whole = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    whole[...] = array
    return whole
