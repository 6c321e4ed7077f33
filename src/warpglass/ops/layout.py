"""Copies between layouts and element types: what makes an operand of any strides one that a kernel takes.

Belongs here: the launch of layout.cu, and how the dimensions of an array become as few as possible before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import ArgumentError
from ..ladders.plan import Argument, Step

# How layout.cu, sum_along.cu and scan_along.cu spell the element types.
C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "Half",
    "float32": "float",
    "float64": "double",
}
_MOST = 8  # dimensions, as in layout.cu
_LAYOUT = np.dtype([("extent", np.uint64, _MOST), ("source", np.int64, _MOST), ("target", np.int64, _MOST)])
_BLOCK = 256
_MOST_BLOCKS = 2**31 - 1


class Strided(Protocol):
    """What is known of an array that is copied."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def strides(self) -> tuple[int, ...] | None: ...


def packed_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Byte strides of an array in C order."""
    return tuple(itemsize * prod(shape[place + 1 :]) for place in range(len(shape)))


def copy_step(
    source: Argument,
    x: Strided,
    target: Argument,
    dtype: np.dtype[Any],
    strides: tuple[int, ...] | None = None,
) -> Step:
    """Copy the elements of `x`, at least one, to an array of its shape, packed or with strides in bytes.

    Raises ArgumentError for more dimensions than the kernel takes.
    """
    of = x.strides or packed_strides(x.shape, x.dtype.itemsize)
    to = strides or packed_strides(x.shape, dtype.itemsize)
    dimensions = _merged(x.shape, of, to)
    if len(dimensions) > _MOST:
        raise ArgumentError(
            f"an array of {len(dimensions)} dimensions that do not lie packed: {_MOST} at most"
        )
    layout = np.zeros(1, _LAYOUT)[0]
    for place, (extent, step, result_step) in enumerate(dimensions):
        layout["extent"][place], layout["source"][place] = extent, step
        layout["target"][place] = result_step
    n = prod(x.shape)
    names = C_TYPES[x.dtype.name], C_TYPES[dtype.name]
    return Step(
        f"copy<{names[0]}, {names[1]}, {len(dimensions)}>",
        Path(__file__).with_suffix(".cu"),
        grid=min(-(-n // _BLOCK), _MOST_BLOCKS),
        block=_BLOCK,
        shared=0,
        arguments=(source, target, np.uint64(n), layout),
    )


def _merged(shape: Sequence[int], of: Sequence[int], to: Sequence[int]) -> list[tuple[int, int, int]]:
    """Extent and both strides of dimensions, the last first; neighbours that lie end to end become one."""
    found: list[tuple[int, int, int]] = []
    for extent, step, result_step in zip(reversed(shape), reversed(of), reversed(to), strict=True):
        if extent == 1:
            continue
        if found:
            inner, one, other = found[-1]
            if step == inner * one and result_step == inner * other:
                found[-1] = inner * extent, one, other
                continue
        found.append((extent, step, result_step))
    return found
