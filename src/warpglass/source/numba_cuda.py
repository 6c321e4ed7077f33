"""numba-cuda: the package that most programs import today as `numba.cuda` (in maintenance since 2026).

Belongs here: everything that depends on this package. An array arrives as numba's array structure: meminfo and
parent (null), number of elements, bytes per element, data, extents, then strides in bytes; a complex
scalar as two parameters. The copy of numba.cuda inside numba itself is older and is not used.
"""

from __future__ import annotations

from collections.abc import Mapping

from .argument_types import ArgumentType
from .numba_package import Function, Package


def _compile_ptx(
    function: Function, types: tuple[ArgumentType, ...], target: str, options: Mapping[str, object]
) -> str:
    import re

    from numba import cuda
    from numba import types as numba_types
    from numba.cuda.np import numpy_support

    def numba_type(kind: ArgumentType) -> object:
        element = numpy_support.from_dtype(kind.dtype)
        if kind.is_array:
            aligned = kind.dtype.names is None or kind.dtype.isalignedstruct
            return numba_types.Array(element, kind.ndim, kind.layout, aligned=aligned)
        return element

    found = re.match(r"sm_(\d+)(\d)([af]?)$", target)
    capability = (int(found[1]), int(found[2]), *filter(None, [found[3]])) if found else (9, 0)
    signature = numba_types.void(*map(numba_type, types))
    text, _ = cuda.compile_ptx(function, signature, cc=capability, lineinfo=True, **options)
    return text


def _expand(kind: ArgumentType) -> tuple[str, ...]:
    if not kind.is_array:
        return ("real", "imag") if kind.dtype.kind == "c" else ("value",)
    shape = (f"shape:{k}" for k in range(kind.ndim))
    strides = (f"byte_stride:{k}" for k in range(kind.ndim))
    return ("null", "null", "size", "itemsize", "pointer", *shape, *strides)


PACKAGE = Package(
    name="numba-cuda",
    distributions=("numba-cuda", "numba", "llvmlite", "nvidia-nvvm"),
    modules={"cuda": "numba.cuda", "types": "numba.types", "": "numba"},
    options=("fastmath", "opt", "launch_bounds"),
    compile_ptx=_compile_ptx,
    expand=_expand,
)
