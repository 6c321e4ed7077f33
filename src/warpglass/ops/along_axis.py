"""Sums and running sums along one axis of a packed array, which the ladders have for whole arrays only.

Belongs here: the launches of along_axis.cu. An array is seen as `outer` x `n` x `inner` elements, of which
the middle ones are added. Few long sums are cut into pieces, whose sums are then added in the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..ladders.plan import Step
from .layout import C_TYPES
from .task import Draft

_FILE = Path(__file__).with_suffix(".cu")
_BLOCK = 256  # threads
_BUSY = 2048  # blocks that keep a large GPU busy
_SHORTEST = 2048  # elements that are worth a piece of their own
_MOST_BLOCKS = 2**31 - 1
_COLUMNS = 32  # of a block that adds down columns

Extents = tuple[int, int, int]


def add_along(draft: Draft, source: str, target: str, dtype: np.dtype[Any], extents: Extents) -> None:
    """Leave the sums over the middle extent in `target`, of outer x inner elements of the same type."""
    outer, n, inner = extents
    rows = inner == 1
    blocks = outer if rows else outer * -(-inner // _COLUMNS)
    pieces = min(-(-n // _SHORTEST), -(-_BUSY // blocks))
    result = target if pieces == 1 else draft.scratch(dtype, outer * pieces * inner)
    span = -(-n // pieces)
    draft.launch(
        Step(
            f"{'add_rows' if rows else 'add_columns'}<{C_TYPES[dtype.name]}>",
            _FILE,
            grid=min(blocks * pieces, _MOST_BLOCKS),
            block=_BLOCK,
            shared=0,
            arguments=(
                source,
                result,
                *(np.uint64(one) for one in (outer, n, inner, pieces, span)),
            ),
        )
    )
    if pieces > 1:
        add_along(draft, result, target, dtype, (outer, pieces, inner))


def scan_along(draft: Draft, source: str, target: str, dtype: np.dtype[Any], extents: Extents) -> None:
    """Leave the inclusive running sums along the middle extent in `target`, of the source's shape."""
    outer, _, inner = extents
    rows = inner == 1
    blocks = outer if rows else -(-outer * inner // _BLOCK)
    draft.launch(
        Step(
            f"{'scan_rows' if rows else 'scan_columns'}<{C_TYPES[dtype.name]}>",
            _FILE,
            grid=min(blocks, _MOST_BLOCKS),
            block=_BLOCK,
            shared=0,
            arguments=(source, target, *(np.uint64(one) for one in extents)),
        )
    )
