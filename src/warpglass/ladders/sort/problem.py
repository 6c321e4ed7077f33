"""The problem of the sort ladder: sort an array of keys, ascending.

Sorting rounds nothing, so results must be equal to np.sort's. NaN comes after every number, as in NumPy;
zeros of both signs are equal. `x` holds the keys before and the sorted keys after; merges go through a
second array.

Every size is sorted. The networks below compare pairs so that the smaller key always goes to the smaller
index; then keys beyond the end, imagined larger than all, never move, and a pair that has one is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rung import Shape


def make_case(question: Question) -> Case:
    """Return an array of `size` keys."""
    x = make_input(question)

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"x": Expected(np.sort(x))}

    return Case(
        question=question,
        arrays={"x": x},
        written=("x",),
        scalars={"n": np.uint32(question.size)},
        expected=expected,
        ideal_bytes=2 * x.nbytes,
        ideal_flops=0,
    )


def make_input(question: Question) -> Array:
    """random: [0, 1) or any integer; few: eight values; in order; reversed; all equal; special values."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    kinds = {
        "random": lambda: rng.random(n) if dtype.kind == "f" else _any_integers(rng, n, dtype),
        "few": lambda: rng.integers(0, 8, n),
        "sorted": lambda: np.arange(n),
        "reversed": lambda: np.arange(n)[::-1],
        "equal": lambda: np.full(n, 7),
        "special": lambda: rng.choice(_special(dtype), n),
    }
    return np.ascontiguousarray(kinds[question.data](), dtype)


def _any_integers(rng: np.random.Generator, n: int, dtype: np.dtype[Any]) -> Array:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


def _special(dtype: np.dtype[Any]) -> Array:
    """Keys at which an order may be wrong: limits, and for floating point NaN, infinities and zeros."""
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, limits.max, limits.min, limits.tiny], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype)


def span_shape(case: Case, block: int) -> Shape:
    """Blocks of two keys a thread, enough for all and at least one, with the keys in shared memory."""
    span = 2 * block
    return Shape(max(1, -(-case.size // span)), block, span * case.dtype.itemsize)


def _sort(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": library.sort(arrays["x"])}


def _torch_sort(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": torch.sort(arrays["x"]).values}


PROBLEM = Problem(
    name="sort",
    title="Sorting: bitonic networks in one block and over many, and merge sorts",
    tables={
        "one_block": Table("One block, in shared memory", 1024, "float32", 512, small=300, capacity=2),
        "sort": Table("Many blocks", 2**18, "float32", 256, small=5003),
    },
    dtypes=("float32", "float64", "int32", "uint32"),
    data=("random", "few", "sorted", "reversed", "equal", "special"),
    make=make_case,
    signature=("x", "n"),
    shape=span_shape,
    largest=2**30,
    peers=(Peer("cupy", "sort", _sort, "sort"), Peer("torch", "sort", _torch_sort, "sort", kinds="fi")),
)
