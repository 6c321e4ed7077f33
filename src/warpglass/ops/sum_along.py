"""Sums along one axis of a packed array, in one launch, as fast as the array is read.

Belongs here: which kernel of sum_along.cu adds, and how many threads share a sum. An array is seen as `outer` x
`n` x `inner` elements, of which the middle ones are added.

* Rows (`inner` is 1) are read 16 bytes a load. Short ones have as many lanes of a warp as they have packs, long
  ones a block each, or several where there are few rows.
* Columns have a thread for every 16 bytes of a row, and below it other threads of the block, which share the
  columns. Where there are many more columns than threads and a sum has few elements, a thread makes each result.

What several blocks add up of one sum is added once more by the block that is done last, always in the same
order: results do not depend on which block that is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..ladders.plan import Plan, Scratch, Step
from ..ladders.problem import C_NAMES

_FILE = Path(__file__).with_suffix(".cu")
_BLOCK = 256  # threads, as in the .cu file
_PACK = 16  # bytes of a load
_UNROLL = 8  # loads under way in a thread
_WARP = 32
_SHORT = 16384  # bytes of a row that one warp adds
_BUSY = 2112  # blocks that keep a large GPU busy: 16 for each multiprocessor of an H200
_SHARE = _BLOCK * _PACK * 4  # bytes that are worth a block
_MANY = 2**17  # results that are worth a thread each

Extents = tuple[int, int, int]


def plan(extents: Extents, dtype: np.dtype[Any], adds: np.dtype[Any], result: np.dtype[Any]) -> Plan:
    """Add the middle extent of `x` (outer, n, inner; n at least 1) in the type `adds` into `sums`, of `result`.

    x may begin anywhere. Sums of a float type are the same in every run with the same extents and place of x
    between multiples of 16 bytes.
    """
    outer, n, inner = extents
    width = _PACK // dtype.itemsize
    types = ", ".join({**C_NAMES, "bool": "bool"}[one.name] for one in (dtype, adds, result))
    if inner == 1 and (n * dtype.itemsize <= _SHORT):
        lanes = min(_WARP, _power_above(-(-n // width)))
        return _single(f"add_short_rows<{types}, {_UNROLL}>", -(-outer * lanes // _BLOCK), outer, n, np.uint32(lanes))
    if inner == 1:
        pieces = _pieces(outer, n * dtype.itemsize)
        span = -(-n // pieces)
        return _divided(f"add_rows<{types}, {_UNROLL}>", outer * pieces, adds, outer, outer * pieces, n, np.uint32(pieces), span)
    wide = inner >= _WARP * width and n >= _WARP
    if not wide and outer * inner >= _MANY:
        return _single(f"add_few<{types}>", -(-outer * inner // _BLOCK), outer, n, inner)
    across = min(_WARP if outer * inner >= 2 * _MANY // 16 else 8, _power_above(-(-inner // width)))
    groups = outer * -(-inner // (across * width))
    pieces = _pieces(groups, n * across * _PACK)
    span = -(-n // pieces)
    unroll = _UNROLL if width < 8 else _UNROLL // 2
    return _divided(
        f"add_columns<{types}, {unroll}>",
        groups * pieces, adds, groups, outer * pieces * inner, n, inner, np.uint32(across), np.uint32(pieces), span,
    )  # fmt: skip


def _power_above(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _pieces(blocks: int, nbytes: int) -> int:
    """Into how many pieces to cut what a block would add, so many bytes of it."""
    return max(1, min(-(-nbytes // _SHARE), _BUSY // blocks))


def _single(kernel: str, grid: int, *counts: int | np.generic) -> Plan:
    return Plan((Step(kernel, _FILE, grid=grid, block=_BLOCK, shared=0, arguments=("x", "sums", *_numbers(counts))),))


def _divided(
    kernel: str, grid: int, adds: np.dtype[Any], tickets: int, parts: int, *counts: int | np.generic
) -> Plan:
    arguments = ("x", "sums", "parts", "tickets", *_numbers(counts))
    scratch = Scratch("parts", adds, parts), Scratch("tickets", np.dtype(np.uint32), tickets, zeroed=True)
    return Plan((Step(kernel, _FILE, grid=grid, block=_BLOCK, shared=0, arguments=arguments),), scratch)


def _numbers(counts: tuple[int | np.generic, ...]) -> tuple[np.generic, ...]:
    return tuple(np.uint64(one) if isinstance(one, int) else one for one in counts)
