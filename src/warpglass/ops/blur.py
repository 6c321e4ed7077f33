"""Pictures blurred."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.image.blur_tile import WIDEST, plan
from .calling import Operation, call
from .task import Draft, Operand, part

_MOST_CHANNELS = 4
_MOST = 2**31 - 1  # bytes of a row, and rows


def blur(image: Any, reach: int = 5, out: Any = None, device: str | None = None) -> Any:
    """Every pixel's mean with the pixels at most `reach` rows and columns away, channel by channel.

    Only pixels that there are count, and means are cut off to whole numbers. `image` is of uint8: a picture
    (height, width), or (..., height, width, channels) with up to four channels. `reach` is from 0 to 7.

    Raises ArgumentError for other types, shapes and reaches.
    """
    return call(BLUR, (image,), (reach,), out, device)


def make(draft: Draft, image: Operand, reach: int) -> None:
    """The ladder's kernel, picture by picture."""
    if not isinstance(reach, int | np.integer) or not 0 <= reach <= WIDEST:
        raise ArgumentError(f"reach is {reach!r}; it must be a whole number from 0 to {WIDEST}")
    shape = (*image.shape, 1) if image.ndim == 2 else image.shape
    if image.dtype != np.uint8 or len(shape) < 3 or not 1 <= shape[-1] <= _MOST_CHANNELS:
        raise ArgumentError(
            f"image is of {image.dtype} and shape {image.shape}; it must be uint8 and (height, width) or "
            f"(..., height, width, channels) with 1 to {_MOST_CHANNELS} channels"
        )
    height, width, channels = shape[-3:]
    if height > _MOST or width * channels > _MOST:
        raise ArgumentError(f"image has shape {image.shape}; rows, and bytes of a row, are at most {_MOST}")
    out = draft.result(image.shape, image.dtype)
    if not image.size:
        return
    source, launches = draft.packed(image), plan(width, height, channels, int(reach))
    for start in range(0, prod(shape), height * width * channels):
        draft.follow(launches, rgb=part(source, start), out=part(out, start))


BLUR = Operation("blur", ("image",), make)
