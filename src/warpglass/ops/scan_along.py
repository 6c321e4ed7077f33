"""Running sums along one axis of a packed array, which the scan ladder has for whole arrays only.

Belongs here: the launches of scan_along.cu. An array is seen as `outer` x `n` x `inner` elements, of which
the middle ones are added.
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
_MOST_BLOCKS = 2**31 - 1

Extents = tuple[int, int, int]


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
