"""Sample sort: keys that lie in many places, cut into parts of about equal sizes that follow one another.

Every place draws a sample of its keys (`sample`), all samples together give the cuts between the parts
(`choose_cuts`), every place counts its keys around the cuts (`count_around`), the counts of all say where
each place is cut (`starts_of_parts`), and every place gives each part its piece (`pieces`). What a part gets
in the order of places and sorts with a stable sort is its share of the stable sort of all.

Belongs here: what one place does, and what all compute alike from small tables. Who moves samples, counts
and pieces is a Dask cluster (dask_arrays.py) or ranks with a GPU each (ranks/). Keys are arrays of NumPy or
CuPy, tables are NumPy's.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Table = np.ndarray[Any, np.dtype[Any]]

_SAMPLES = 1024  # keys drawn for each part: parts differ by a few per cent
_AT_ONCE = 1 << 20  # keys compared with the cuts at a time


def module_of(array: Any) -> Any:
    """The module whose functions take an array: NumPy's or CuPy's."""
    return importlib.import_module(type(array).__module__.partition(".")[0])


def on_host(array: Any) -> Table:
    """An array's elements in host memory."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def sample(keys: Any, place: int, total: int, parts: int) -> Table:
    """This place's share of `_SAMPLES` keys for each part, drawn at random, the same in every run.

    `total` is the number of keys in all places.
    """
    if total <= _SAMPLES * parts:
        return on_host(keys)
    count = -(-len(keys) * _SAMPLES * parts // total)
    chosen = np.random.default_rng(place).integers(0, max(1, len(keys)), count)
    return on_host(keys[module_of(keys).asarray(chosen)])


def choose_cuts(samples: Sequence[Table], parts: int) -> Table:
    """The parts - 1 keys at which the sorted order is cut."""
    drawn = np.sort(np.concatenate(samples))
    if not drawn.size:
        return np.zeros(parts - 1, drawn.dtype)
    return drawn[np.linspace(0, drawn.size, parts + 1).astype(int)[1:-1]]


def count_around(keys: Any, cuts: Table) -> Table:
    """How many keys come before each cut, and how many not after it: int64 of shape (2, cuts)."""
    before, at = (np.zeros(cuts.size + 1, np.int64) for _ in range(2))
    for first in range(0, len(keys), _AT_ONCE):
        left, right = _around(keys[first : first + _AT_ONCE], cuts)
        bincount = module_of(left).bincount
        before += on_host(bincount(right, minlength=cuts.size + 1))
        at += on_host(bincount(left, minlength=cuts.size + 1))
    return np.stack([np.cumsum(before)[:-1], np.cumsum(at)[:-1]])


def _around(keys: Any, cuts: Table) -> tuple[Any, Any]:
    """For each key the number of cuts that come before it, and of those that do not come after it."""
    module = module_of(keys)
    if keys.dtype == np.bool_:
        keys, cuts = keys.view(np.uint8), cuts.view(np.uint8)
    there = module.asarray(cuts)
    return module.searchsorted(there, keys, "left"), module.searchsorted(there, keys, "right")


def starts_of_parts(counts: Sequence[Table] | Table, sizes: Sequence[int]) -> Table:
    """Where each part begins among each place's keys, and where the last ends: (places, parts + 1).

    Keys that are equal to a cut are shared out, those of the first places first, so that parts of one value
    stay as small as others.
    """
    below = np.stack(list(counts))
    places, _, cuts = below.shape
    total = int(sum(sizes))
    starts = np.zeros((places, cuts + 2), np.int64)
    starts[:, -1] = sizes
    for cut in range(cuts):
        less, most = below[:, 0, cut], below[:, 1, cut]
        wanted = np.clip(total * (cut + 1) // (cuts + 1), less.sum(), most.sum()) - less.sum()
        equal = most - less
        starts[:, cut + 1] = less + np.clip(wanted - (np.cumsum(equal) - equal), 0, equal)
    return starts


def pieces(keys: Any, cuts: Table, starts: Sequence[int]) -> list[Any]:
    """The keys of one place, a new array for each part; `starts` is the place's row of starts_of_parts."""
    return [keys[places] for places in places_of_pieces(keys, cuts, starts)]


def places_of_pieces(keys: Any, cuts: Table, starts: Sequence[int]) -> list[Any]:
    """Which keys of one place are in its pieces, in their order: indices, an array for each part."""
    module = module_of(keys)
    rank = module.empty(len(keys), np.min_scalar_type(2 * cuts.size))
    for first in range(0, len(keys), _AT_ONCE):
        left, right = _around(keys[first : first + _AT_ONCE], cuts)
        rank[first : first + _AT_ONCE] = left + right  # odd where a key is equal to a cut
    order = module.argsort(rank, kind="stable")
    return [order[first:last] for first, last in pairwise(starts)]


def count_in_sorted(keys: Any, cuts: Table) -> Table:
    """As count_around, of keys that are sorted already."""
    if keys.dtype == np.bool_:
        keys, cuts = keys.view(np.uint8), cuts.view(np.uint8)
    module = module_of(keys)
    there = module.asarray(cuts)
    return np.stack([on_host(module.searchsorted(keys, there, side)) for side in ("left", "right")])
