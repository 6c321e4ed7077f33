"""The arrays of a launch that names none: what its parameters point to, for messages and observers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..engine.cpu.address_space import Placed
from ..engine.cpu.object_faults import texels_of
from ..engine.launch.arguments import BoundArray
from ..engine.launch.arrays import ArrayView
from ..source.compiled import Argument


def views_of(
    arguments: Sequence[Argument], values: Sequence[Any], placed: tuple[Placed, ...]
) -> tuple[BoundArray, ...]:
    """An array for every argument that is one, or might be and is an address."""
    found: list[BoundArray] = []
    first = 0
    for position, argument in enumerate(arguments):
        fields = dict(zip(argument.fields, values[first:], strict=False))
        first += len(argument.fields)
        address = fields.get("pointer", fields.get("any"))
        if not isinstance(address, int):
            continue
        if argument.dtype is not None:
            address += int(fields.get("offset", 0)) * argument.dtype.itemsize
        number = _home(address, placed)
        if number is None:
            continue
        shown = texels_of(address, placed) if "any" in fields else None
        if shown is not None:
            address, size = shown
            number = _home(address, placed)
            if number is None:
                continue
            argument = replace(argument, dtype=np.dtype((np.void, size)))
        view = _view(argument, fields, address, placed[number])
        offset = address - placed[number].base
        found.append(BoundArray(argument.name, position, None, view, number, offset))
    return tuple(found)


def _home(address: int, placed: tuple[Placed, ...]) -> int | None:
    """The number of the allocation that an address is in."""
    index = bisect_right(placed, address, key=lambda one: one.base) - 1
    return index if index >= 0 and address < placed[index].end else None


def _view(argument: Argument, fields: dict[str, Any], address: int, home: Placed) -> ArrayView:
    distance = home.allocation.address - home.base
    low, high = home.base + distance, home.end + distance
    dtype = argument.dtype or np.dtype(np.uint8)
    if argument.ndim:
        shape = tuple(int(fields[f"shape:{k}"]) for k in range(argument.ndim))
        strides = tuple(_byte_stride(fields, k, dtype.itemsize) for k in range(argument.ndim))
    else:
        shape, strides = ((home.end - address) // dtype.itemsize,), (dtype.itemsize,)
    first = address + distance
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    start = first + sum(step for step in steps if step < 0)
    end = first + sum(step for step in steps if step > 0) + dtype.itemsize
    packed = all(
        stride == dtype.itemsize * int(np.prod(shape[axis + 1 :])) for axis, stride in enumerate(strides)
    )
    return ArrayView(
        first, shape, strides, dtype, dtype.itemsize, packed, False, start, end, low, high, None, None
    )


def _byte_stride(fields: dict[str, Any], axis: int, itemsize: int) -> int:
    """The distance of neighbours along an axis, which a compiler counts in bytes or in elements."""
    if f"stride:{axis}" in fields:
        return _signed(fields[f"stride:{axis}"]) * itemsize
    return _signed(fields[f"byte_stride:{axis}"])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
