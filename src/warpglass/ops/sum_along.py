"""Sums along one axis of a packed array, in one launch, as fast as the array is read.

Belongs here: which kernel of sum_along.cu adds, and how many threads share a sum. An array is seen as `outer`
x `n` x `inner` elements, of which the middle ones are added.

* Rows (`inner` is 1) of at most 128 bytes go through shared memory, as many as a block has threads. Of longer
  ones each has some lanes of a warp, and of long ones a block, or several where there are few rows. They are
  read 16 bytes a load.
* Columns have a thread for every 16 bytes of a row, and below it other threads of the block, which share the
  columns. Where there are only few columns side by side, but many of them, a thread makes each result.

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
_TINY, _SHORT = 128, 16384  # bytes of rows that a thread and a warp add
_BUSY_ROWS, _BUSY_COLUMNS = 2112, 1056  # blocks for an H200: 16 and 8 for each multiprocessor
_SHARE = _BLOCK * _PACK * 4  # bytes that are worth a block
_MANY = 2**17  # results that are worth a thread each

Extents = tuple[int, int, int]


def plan(extents: Extents, dtype: np.dtype[Any], adds: np.dtype[Any], result: np.dtype[Any]) -> Plan:
    """Add the middle extent of `x` (outer, n, inner; n at least 1) in the type `adds` into `sums` (`result`).

    x may begin anywhere. Sums of a float type are the same in every run with the same extents and place of x
    between multiples of 16 bytes.
    """
    outer, n, inner = extents
    width, nbytes = _PACK // dtype.itemsize, n * dtype.itemsize
    types = ", ".join({**C_NAMES, "bool": "bool"}[one.name] for one in (dtype, adds, result))
    unroll = _UNROLL if width < 8 else _UNROLL // 2  # for bytes there are not more registers
    if inner == 1 and nbytes <= _TINY:
        return _single(f"add_tiny_rows<{types}>", outer, (outer, np.uint32(n)), _BLOCK * nbytes)
    if inner == 1 and nbytes <= _SHORT:
        lanes = min(_WARP, _power_above(-(-n // (width * unroll // 2))))
        return _single(f"add_short_rows<{types}, {unroll}>", outer * lanes, (outer, n, np.uint32(lanes)))
    if inner == 1:
        pieces = _pieces(nbytes, outer, _BUSY_ROWS)
        counts = n, np.uint32(pieces), -(-n // pieces)
        return _divided(f"add_rows<{types}, {unroll}>", outer * pieces, adds, outer, outer * pieces, counts)
    if inner < _WARP * width and outer * inner >= _MANY:
        return _single(f"add_few<{types}>", outer * inner, (outer, n, inner))
    across = _across(extents, width)
    groups = outer * -(-inner // (across * width))
    pieces = _pieces(n * across * _PACK, groups, _BUSY_COLUMNS)
    counts = n, inner, np.uint32(across), np.uint32(pieces), -(-n // pieces)
    kernel = f"add_columns<{types}, {min(_UNROLL, 32 // width)}>"
    return _divided(kernel, groups * pieces, adds, groups, outer * pieces * inner, counts)


def _across(extents: Extents, width: int) -> int:
    """Threads of a block side by side: a warp; more for sums of few elements, fewer for few results."""
    outer, n, inner = extents
    most = _BLOCK // min(_BLOCK // _WARP, _power_above(-(-n // _UNROLL)))
    if outer * inner < _MANY // 4:
        most = _WARP // 4
    return min(most, _power_above(-(-inner // width)))


def _power_above(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _pieces(nbytes: int, blocks: int, busy: int) -> int:
    """Into how many pieces to cut what each of so many blocks would add, so many bytes."""
    return max(1, min(-(-nbytes // _SHARE), busy // blocks))


def _single(kernel: str, threads: int, counts: tuple[int | np.generic, ...], shared: int = 0) -> Plan:
    arguments = ("x", "sums", *_numbers(counts))
    return Plan((Step(kernel, _FILE, -(-threads // _BLOCK), _BLOCK, shared, arguments),))


def _divided(
    kernel: str,
    grid: int,
    adds: np.dtype[Any],
    tickets: int,
    parts: int,
    counts: tuple[int | np.generic, ...],
) -> Plan:
    arguments = ("x", "sums", "parts", "tickets", *_numbers(counts))
    scratch = Scratch("parts", adds, parts), Scratch("tickets", np.dtype(np.uint32), tickets, zeroed=True)
    return Plan((Step(kernel, _FILE, grid, _BLOCK, 0, arguments),), scratch)


def _numbers(counts: tuple[int | np.generic, ...]) -> tuple[np.generic, ...]:
    return tuple(np.uint64(one) if isinstance(one, int) else one for one in counts)
