"""The libraries whose arrays operations take: what each calls address, stream, device and a new array.

A `Library` is one file here. CuPy and PyTorch have their own, for speed and for what only they know; arrays
of Numba, and others that offer `__cuda_array_interface__` or DLPack, share the last one. Adding a library
means adding a file and a row in `_ROWS`.
"""

from __future__ import annotations

import importlib
from typing import Any

from .library import Library

# The first part of the module of an array's type, and the file that knows it.
_ROWS = {
    "cupy": "cupy_arrays",
    "torch": "torch_arrays",
    "numba": "numba_arrays",
    "numba_cuda": "numba_arrays",
    "numba_cuda_mlir": "numba_arrays",
}
_known: dict[type[Any], Library | None] = {}


def library_of(array: object) -> Library | None:
    """The library that an array on a GPU is of; None for anything that has its data in host memory."""
    kind = type(array)
    try:
        found = _known[kind]
    except KeyError:
        found = _known[kind] = _library_for(array)
    return found if found is None or found.on_gpu(array) else None


def _library_for(array: object) -> Library | None:
    for base in type(array).__mro__:
        row = _ROWS.get(base.__module__.partition(".")[0])
        if row is not None:
            return importlib.import_module(f".{row}", __name__).library_for(base)
    if hasattr(array, "__cuda_array_interface__") or hasattr(array, "__dlpack_device__"):
        return importlib.import_module(".other_arrays", __name__).OTHERS
    return None
