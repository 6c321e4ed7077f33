"""How many elements of an array lie in each of some bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.histogram.lane_bins import plan
from ..ladders.plan import Step
from ..ladders.problem import C_NAMES
from .calling import Operation, call
from .layout import C_TYPES
from .task import Draft, Operand
from .types import HALF, SINGLE

_FILE = Path(__file__).with_suffix(".cu")
_BLOCK = 256
_BLOCKS = 1024  # of a launch whose threads take several elements
_DOUBLE, _KEY, _COUNTER = np.dtype(np.float64), np.dtype(np.uint32), np.dtype(np.uint64)
_MOST_BINS = 2**31 - 1


def histogram(
    x: Any,
    bins: Any = 10,
    range: Sequence[float] | None = None,
    out: Any = None,
    device: str | None = None,
) -> tuple[Any, Any]:
    """Count the elements of `x` in bins, and return the counts (int64) and the edges, as np.histogram does.

    `bins` is a number of equal bins between the two ends of `range`, which are those of the elements unless
    given, or an array of edges in ascending order. A bin has its left edge, the last one both. Elements
    outside and NaN are in no bin; where `range` is left out, an infinite element or a NaN leaves counts of 0
    and edges that say so. Bytes with `bins=256, range=(0, 256)` are counted as they are. `out` is for the
    counts.

    Raises ArgumentError for bins and ranges that are none.
    """
    ends = None if range is None else _ends(range)
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if not 1 <= bins <= _MOST_BINS:
            raise ArgumentError(f"histogram: bins is {bins}; it must be from 1 to {_MOST_BINS}, or edges")
        return call(EQUAL, (x,), (int(bins), ends), out, device)
    if ends is not None:
        raise ArgumentError("histogram: range goes with a number of bins; edges have their own")
    if isinstance(bins, Sequence | np.ndarray):
        _check_order(np.asarray(bins))
    counts = call(GIVEN, (x, bins), (), out, device)
    return counts, bins if hasattr(bins, "dtype") else np.asarray(bins)


def _check_order(edges: np.ndarray[Any, Any]) -> None:
    """Raise ArgumentError for edges in host memory that descend."""
    if edges.ndim == 1 and edges.dtype.kind in "biuf" and np.any(wrong := edges[1:] < edges[:-1]):
        at = int(np.argmax(wrong))
        raise ArgumentError(
            f"histogram: bins[{at}] is {edges[at]} and bins[{at + 1}] is {edges[at + 1]}; edges must be in "
            "ascending order"
        )


def _ends(range: Sequence[float]) -> tuple[float, float]:
    try:
        first, last = (float(one) for one in range)
    except (TypeError, ValueError):
        raise ArgumentError(f"histogram: range is {range!r}; it must be two numbers") from None
    if not (math.isfinite(first) and math.isfinite(last) and first <= last):
        raise ArgumentError(
            f"histogram: range is {range!r}; it must be two finite numbers in ascending order"
        )
    return first, last


def make(draft: Draft, x: Operand, bins: int, ends: tuple[float, float] | None) -> None:
    """Keys that are bins already go to the ladder's kernel as they are, others by way of their bins."""
    counts = draft.result((bins,), np.dtype(np.int64), cleared=x.size == 0)
    edge = SINGLE if x.dtype in (HALF, SINGLE) else _DOUBLE
    edges = draft.result((bins + 1,), edge)
    limits = _limits(draft, x, ends)
    computed = edge if ends is None else _DOUBLE
    names = {"computed": C_NAMES[computed.name], "edge": C_NAMES[edge.name]}
    launch = _step(
        "edges_between<{computed}, {edge}>".format(**names), bins + 1, limits, edges, np.uint64(bins)
    )
    draft.launch(launch)
    if not x.size:
        return
    if x.dtype.name in ("uint8", "uint16") and ends == (0, bins) and bins > np.iinfo(x.dtype).max:
        _count(draft, draft.packed(x), x.dtype, x.size, counts, bins)
    else:
        _count_in(draft, x, edges, edge, counts, bins, equal=True)


def make_given(draft: Draft, x: Operand, bins: Operand) -> None:
    """Count between the edges of an array."""
    if bins.ndim != 1 or bins.size < 2:
        raise ArgumentError(f"bins has shape {bins.shape}; it must be a number, or two edges or more")
    counts = draft.result((bins.size - 1,), np.dtype(np.int64), cleared=x.size == 0)
    if x.size:
        edges = draft.packed(bins, _DOUBLE)
        _count_in(draft, x, edges, _DOUBLE, counts, bins.size - 1, equal=False)


def _limits(draft: Draft, x: Operand, ends: tuple[float, float] | None) -> str:
    """The name of an array with the ends of the range: doubles, or single precision for such elements."""
    if ends is not None or not x.size:
        name = draft.scratch(_DOUBLE, 2)
        draft.launch(_step("set_range", 1, name, *(np.float64(end) for end in ends or (0, 1))))
        if ends is None and x.dtype in (HALF, SINGLE):
            single = draft.scratch(SINGLE, 2)
            draft.copy(Operand(name, (2,), _DOUBLE), single, SINGLE)
            return single
        return name
    held = SINGLE if x.dtype == HALF else x.dtype
    blocks = min(_BLOCKS, -(-x.size // _BLOCK))
    pairs, name = draft.scratch(held, 2 * blocks), draft.scratch(held, 2)
    kernel = f"limits<{C_TYPES[held.name]}>"
    arguments = (draft.packed(x, held), pairs, np.uint64(x.size), np.uint32(0))
    draft.launch(Step(kernel, _FILE, blocks, _BLOCK, 0, arguments))
    draft.launch(Step(kernel, _FILE, 1, _BLOCK, 0, (pairs, name, np.uint64(blocks), np.uint32(1))))
    if held.kind == "f":
        return name
    doubles = draft.scratch(_DOUBLE, 2)
    draft.copy(Operand(name, (2,), held), doubles, _DOUBLE)
    return doubles


def _count_in(
    draft: Draft, x: Operand, edges: str, edge: np.dtype[Any], counts: str, bins: int, equal: bool
) -> None:
    held = SINGLE if x.dtype == HALF else x.dtype
    keys = draft.scratch(_KEY, x.size)
    kernel = f"find_bins<{C_TYPES[held.name]}, {C_NAMES[edge.name]}>"
    sizes = np.uint64(x.size), np.uint32(bins), np.uint32(equal)
    draft.launch(_step(kernel, x.size, draft.packed(x, held), edges, keys, *sizes))
    _count(draft, keys, _KEY, x.size, counts, bins)


def _count(draft: Draft, keys: str, dtype: np.dtype[Any], n: int, counts: str, bins: int) -> None:
    """Count keys by the ladder's kernel."""
    parameters = draft.tuned("histogram", "lane_bins", dtype)
    draft.follow(plan(n, dtype, bins, counter=_COUNTER, **parameters), x=keys, counts=counts)


def _step(kernel: str, n: int, *arguments: Any) -> Step:
    """A launch of a kernel of histogram.cu whose threads take elements a grid apart."""
    return Step(kernel, _FILE, min(_BLOCKS, -(-n // _BLOCK)), _BLOCK, 0, arguments)


EQUAL = Operation("histogram", ("x",), make)
GIVEN = Operation("histogram", ("x", "bins"), make_given)
