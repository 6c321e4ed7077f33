"""Strides of packed arrays."""

from __future__ import annotations

from collections.abc import Sequence


def strides_unless_packed(
    shape: Sequence[int], strides: Sequence[int] | None, itemsize: int
) -> tuple[int, ...] | None:
    """Byte strides as they are; None where the elements lie packed in C order."""
    if strides is None or 0 in shape:
        return None
    natural = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != natural:
            return tuple(strides)
        natural *= extent
    return None
