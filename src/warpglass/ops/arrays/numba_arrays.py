"""Device arrays of Numba (numba-cuda, numba-cuda-mlir): on their own stream, else on Numba's default one."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .other_arrays import Others


class Numba(Others):
    """One of the packages that offer numba's `cuda` module."""

    name = "Numba"

    def __init__(self, module: str):
        self._cuda: Any = importlib.import_module(module)

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """A device array of the package."""
        with self._cuda.gpus[device]:
            return self._cuda.device_array(shape, dtype)


def library_for(kind: type[Any]) -> Numba:
    """The package that a type of device array is from."""
    package = kind.__module__.partition(".")[0]
    return Numba(f"{package}.cuda")
