"""What the sorting ladders have in common: keys of all kinds, the case of a sort, its launch, its peers.

Belongs here: nothing about how a rung sorts. Sorting rounds nothing, so results must be equal to np.sort's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .problem import Array, Case, Expected, Peer, Question
from .rung import LaunchShape

# Kinds of input besides the ladder's own.
KINDS = ("few", "sorted", "reversed", "equal", "special")


def make_keys(question: Question, own: Callable[[np.random.Generator], Array]) -> Array:
    """Keys of a kind: eight values, in order, reversed, all equal, special ones; any other is `own`."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    kinds: dict[str, Callable[[], Array]] = {
        "few": lambda: rng.integers(0, 8, n),
        "sorted": lambda: np.arange(n),
        "reversed": lambda: np.arange(n)[::-1],
        "equal": lambda: np.full(n, 7),
        "special": lambda: rng.choice(_special(dtype), n),
    }
    return np.ascontiguousarray(kinds.get(question.data, lambda: own(rng))(), dtype)


def _special(dtype: np.dtype[Any]) -> Array:
    """Keys at which an order may be wrong: limits, and for floating point NaN, infinities and zeros."""
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, limits.max, limits.min, limits.tiny], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype)


def sort_case(question: Question, x: Array) -> Case:
    """The case of sorting `x` in place."""

    @cache
    def in_order() -> Array:
        return np.sort(x)

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"x": Expected(in_order())}

    return Case(
        question=question,
        arrays={"x": x},
        written=("x",),
        scalars={"n": np.uint32(question.size)},
        expected=expected,
        ideal_bytes=2 * x.nbytes,
        ideal_flops=0,
    )


def span_shape(case: Case, block: int) -> LaunchShape:
    """Blocks of two keys a thread, enough for all and at least one, with the keys in shared memory."""
    span = 2 * block
    return LaunchShape(max(1, -(-case.size // span)), block, span * case.dtype.itemsize)


def sort_peers(table: str, *libraries: str) -> tuple[Peer, ...]:
    """The libraries' own sorts, beside the rungs of a table."""
    return tuple(
        Peer("torch", "sort", _torch_sort, table, kinds="fi")
        if library == "torch"
        else Peer(library, "sort", _sort, table)
        for library in libraries
    )


def _sort(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": library.sort(arrays["x"])}


def _torch_sort(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": torch.sort(arrays["x"]).values}
