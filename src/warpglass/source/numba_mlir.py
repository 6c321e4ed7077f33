"""numba-cuda-mlir: NVIDIA's supported compiler for Python kernels.

Belongs here: everything that depends on this package. An array arrives as a memref descriptor: allocation,
pointer to the first element, offset, extents, then strides in elements; all of them are run-time parameters
whatever the layout. It asks the driver for the compute capability unless `tools._cached_cc` is set.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .argument_types import ArgumentType
from .numba_package import Function, Package

_lock = threading.RLock()


@contextmanager
def without_driver(target: str) -> Iterator[None]:
    """Let the package believe that the device is a `target`, so that it does not ask the driver."""
    import re

    from numba_cuda_mlir import tools

    found = re.match(r"sm_(\d+)(\d)", target)
    with _lock:
        before = tools._cached_cc  # pyright: ignore[reportPrivateUsage]
        tools._cached_cc = (int(found[1]), int(found[2])) if found else (9, 0)  # pyright: ignore[reportPrivateUsage]
        try:
            yield
        finally:
            tools._cached_cc = before  # pyright: ignore[reportPrivateUsage]


def _compile_ptx(
    function: Function, types: tuple[ArgumentType, ...], target: str, options: Mapping[str, object]
) -> str:
    from numba_cuda_mlir import cuda
    from numba_cuda_mlir import types as numba_types
    from numba_cuda_mlir.numba_cuda.np import numpy_support

    def numba_type(kind: ArgumentType) -> object:
        element = numpy_support.from_dtype(kind.dtype)
        if kind.is_array:
            aligned = kind.dtype.names is None or kind.dtype.isalignedstruct
            return numba_types.Array(element, kind.ndim, kind.layout, aligned=aligned)
        return element

    with without_driver(target):
        dispatcher = cuda.jit(function, chip=target, lto=False, lineinfo=True, **options)
        compiled = dispatcher.compile(numba_types.void(*map(numba_type, types)), output="ptx")
        text = compiled.ptx
    return text.decode() if isinstance(text, bytes) else text


def _expand(kind: ArgumentType) -> tuple[str, ...]:
    if not kind.is_array:
        return ("value",)
    shape = (f"shape:{k}" for k in range(kind.ndim))
    strides = (f"stride:{k}" for k in range(kind.ndim))
    return ("pointer", "pointer", "offset", *shape, *strides)


PACKAGE = Package(
    name="numba-cuda-mlir",
    distributions=("numba-cuda-mlir", "nvidia-nvvm"),
    modules={"cuda": "numba_cuda_mlir.cuda", "types": "numba_cuda_mlir.types", "": "numba_cuda_mlir"},
    options=("fastmath", "opt", "launch_bounds", "opt_level"),
    compile_ptx=_compile_ptx,
    expand=_expand,
)
