"""numba-cuda-mlir: NVIDIA's supported compiler for Python kernels.

Belongs here: everything that depends on this package. An array arrives as a memref descriptor: allocation,
pointer to the first element, offset, extents, then strides in elements; all of them are run-time parameters
whatever the layout. It asks the driver for the compute capability unless `tools._cached_cc` is set.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .argument_types import ArgumentType
from .compiled import ExceptionVariables, Raisable
from .link import link
from .numba_package import Function, Package, PtxAndExceptions, capability, numba_type

_lock = threading.RLock()

# The package keeps an exception's class alone, and makes RuntimeError of those that are not among these.
_EXCEPTIONS = ExceptionVariables(
    "__numba_cuda_mlir_error_code",
    {
        1: Raisable(AssertionError, ("Kernel assertion failed",)),
        2: Raisable(IndexError, ("Index out of bounds in kernel",)),
        3: Raisable(ValueError, ("Invalid value in kernel",)),
        4: Raisable(RuntimeError, ("Runtime error in kernel",)),
        5: Raisable(ZeroDivisionError, ("Division by zero in kernel",)),
    },
)


@contextmanager
def _without_driver(target: str) -> Iterator[None]:
    """Let the package believe that the device is a `target`, so that it does not ask the driver."""
    tools: Any = importlib.import_module("numba_cuda_mlir.tools")
    with _lock:
        before = tools._cached_cc
        tools._cached_cc = capability(target)[:2]
        try:
            yield
        finally:
            tools._cached_cc = before


def _compile_ptx(
    function: Function, types: tuple[ArgumentType, ...], target: str, options: Mapping[str, object]
) -> PtxAndExceptions:
    cuda = importlib.import_module("numba_cuda_mlir.cuda")
    numba_types = importlib.import_module("numba_cuda_mlir.types")
    numpy_support = importlib.import_module("numba_cuda_mlir.numba_cuda.np.numpy_support")
    signature = numba_types.void(*(numba_type(kind, numba_types, numpy_support) for kind in types))
    with _without_driver(target):
        lines = not options.get("debug")  # which brings lines itself
        dispatcher = cuda.jit(function, chip=target, lto=False, lineinfo=lines, **options)
        text: str | bytes = dispatcher.compile(signature, output="ptx").ptx
    exceptions = _EXCEPTIONS if options.get("debug") else None
    return link(text.decode() if isinstance(text, bytes) else text, (), target), exceptions


def _expand(kind: ArgumentType) -> tuple[str, ...]:
    if kind.is_record:
        return ("pointer",)
    if not kind.is_array:
        return ("value",)
    shape = (f"shape:{k}" for k in range(kind.ndim))
    strides = (f"stride:{k}" for k in range(kind.ndim))
    return ("pointer", "pointer", "offset", *shape, *strides)


PACKAGE = Package(
    name="numba-cuda-mlir",
    distributions=("numba-cuda-mlir", "nvidia-nvvm"),
    modules={"cuda": "numba_cuda_mlir.cuda", "types": "numba_cuda_mlir.types", "": "numba_cuda_mlir"},
    options=("debug", "fastmath", "opt", "launch_bounds", "opt_level"),
    compile_ptx=_compile_ptx,
    expand=_expand,
    without_driver=_without_driver,
)
