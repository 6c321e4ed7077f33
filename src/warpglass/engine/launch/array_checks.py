"""What an array must be to be an argument: dimensions, type, contiguity, alignment; and what mends it.

Every refusal is a Misfit, to which who asked adds the argument's name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...source.compiled import Argument
from .arrays import ArrayView, Misfit
from .declared_types import check_elements
from .values import describe

PLAIN = frozenset("?bBhHiIlLqQefdFDmM")  # dtype.char: numbers, dates; V (records) has its own rule


def check_array(
    argument: Argument, strided: bool, plain: frozenset[str], view: ArrayView, arg: object
) -> None:
    """Raise Misfit unless an array is what the argument must be; `strided` ones need not be contiguous.

    Elements of a `dtype.char` in `plain` are known to be right where the front end names no dtype.
    """
    dtype = view.dtype
    if argument.ndim is not None and len(view.shape) != argument.ndim:
        raise Misfit(f"got {describe(arg)}; needs {argument.ndim} dimensions, has {len(view.shape)}")
    if argument.dtype is not None:
        if dtype != argument.dtype:
            raise Misfit(f"got {describe(arg)}; needs {argument.dtype}: pass x.astype(np.{argument.dtype})")
    elif dtype is None or not (dtype.char in plain and dtype.isnative):
        if dtype is not None:
            _check_dtype(dtype, arg)
        if argument.declared is not None:
            check_elements(argument.declared, plain, view, arg)
    if not strided:
        if not view.contiguous:
            raise Misfit(
                f"got {describe(arg)} that is not contiguous (strides {view.strides}){_order_hint(arg)}"
            )
    elif any(stride % view.itemsize for stride in view.strides):
        raise Misfit(
            f"got {describe(arg)} with strides {view.strides}, no multiples of {view.itemsize} bytes"
        )
    natural = dtype.alignment if dtype is not None else 1
    if view.address % natural and view.size:
        raise Misfit(misaligned(view, view.address, "in memory"))


def _check_dtype(dtype: np.dtype[Any], arg: object) -> None:
    if dtype.hasobject or dtype.kind == "T":
        raise Misfit(f"got {describe(arg)}, which holds Python objects; use a numeric dtype")
    if dtype.kind in "US":
        raise Misfit(f"got {describe(arg)}; pass text as bytes: np.frombuffer(text.encode(), np.uint8)")
    if dtype.char in "gG":
        raise Misfit(f"got {describe(arg)}; CUDA has no extended precision: pass x.astype(np.float64)")
    if not dtype.isnative:
        raise Misfit(f"got {describe(arg)} in big-endian order; pass x.astype(x.dtype.newbyteorder('='))")


def alignment(view: ArrayView) -> int:
    """The alignment in bytes that a kernel may rely on for the array's elements."""
    size = view.itemsize
    if view.dtype is not None and view.dtype.kind == "V":
        return view.dtype.alignment
    return size if size & (size - 1) == 0 and size else 1


def misaligned(view: ArrayView, place: int, where: str) -> str:
    """What to say of an array whose data starts at byte `place`."""
    return (
        f"got an array of {view.dtype} whose data starts at byte {place % 4096} (mod 4096) {where}, "
        f"no multiple of {alignment(view)}; pass x.copy()"
    )


def _order_hint(arg: object) -> str:
    if getattr(getattr(arg, "flags", None), "f_contiguous", False):
        return "; it is in Fortran order: pass x.T (the memory as it lies) or np.ascontiguousarray(x)"
    return "; pass np.ascontiguousarray(x), and copy the result back if the kernel writes it"
