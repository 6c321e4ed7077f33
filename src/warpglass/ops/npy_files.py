"""Dask arrays of .npy files: each chunk is read from the file by whoever works on it.

A memory-mapped array that is given to Dask itself travels to the workers of a cluster whole, as any NumPy
array does; a file travels as its name.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, PackageError


def from_npy(path: str | Path, chunks: Any = "auto") -> Any:
    """The Dask array of a .npy file of any size; workers of a cluster find the file under the same path.

    `chunks` are as for dask.array.from_array. Raises ArgumentError for what is no such file, or does not go
    with the chunks, and PackageError without Dask.
    """
    try:
        da = importlib.import_module("dask.array")
    except ImportError:
        raise PackageError("from_npy needs Dask: pip install 'warpglass[sweep]'") from None
    try:
        file = _NpyFile(str(Path(path).resolve()))
        return da.from_array(file, chunks=chunks, meta=np.empty(0, file.dtype))
    except (OSError, ValueError) as problem:
        raise ArgumentError(f"from_npy: {path}: {problem}") from None


class _NpyFile:
    """A file as Dask takes arrays: slices of it are read when they are asked for."""

    def __init__(self, path: str):
        self._path = path
        mapped = self._mapped()
        self.shape, self.dtype, self.ndim = mapped.shape, mapped.dtype, mapped.ndim

    def _mapped(self) -> Any:
        return np.load(self._path, mmap_mode="r")

    def __dask_tokenize__(self) -> object:
        found = Path(self._path).stat()
        return self._path, found.st_mtime_ns, found.st_size

    def __getitem__(self, part: Any) -> Any:
        return np.array(self._mapped()[part])
