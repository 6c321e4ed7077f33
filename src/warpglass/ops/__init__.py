"""Array functions made of the ladders' last rungs: `warpglass.ops.sum(x)` and eleven others.

Each takes arrays of CuPy, PyTorch and Numba, or of any library that offers `__cuda_array_interface__` or
DLPack, in place, on the caller's current stream, and returns an array of the same library; NumPy's arrays and
lists it works through on the CPU engine. docs/ops.md is the user's guide.

A function has a file of its own; calling.py is the way of every call, task.py what is done.
"""

from __future__ import annotations

from .argsort import argsort
from .blur import blur
from .convolve1d import convolve1d
from .convolve2d import convolve2d
from .cumsum import cumsum
from .dot import dot
from .histogram import histogram
from .matmul import matmul
from .npy_files import from_npy
from .rgb_to_grey import rgb_to_grey
from .sort import sort
from .sum import sum
from .transpose import transpose

__all__ = [
    "argsort",
    "blur",
    "convolve1d",
    "convolve2d",
    "cumsum",
    "dot",
    "from_npy",
    "histogram",
    "matmul",
    "rgb_to_grey",
    "sort",
    "sum",
    "transpose",
]
