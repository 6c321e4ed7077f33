"""Which of the last two rungs convolves an array faster: what the bench and `warpglass.ops` share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plan import Plan
from . import async_tile, register_window

NARROW = 48  # bytes of weights; measured on an H200, see async_tile.py


def plan(n: int, width: int, dtype: np.dtype[Any]) -> Plan:
    """`mask`, of so many weights, over the n elements of `x` into `y`.

    Weight width // 2 meets the element; elements beyond the ends count as 0.
    """
    if width * dtype.itemsize > NARROW:
        return async_tile.plan(n, width, dtype)
    return register_window.plan(n, width, dtype)
