"""The problem of the odd-even sort ladder: sort an array in place, ascending.

Sorting rounds nothing, so results must be equal to np.sort's. NaN comes after every number, as in NumPy;
zeros of both signs are equal. The usual input is the notes' own: the numbers 0 to n - 1, shuffled.

All rungs do some n^2 / 2 comparisons, the host's and the blocks' alike, so a bench of the notes' sizes
(131072, 262144, 524288) takes 64, 256 and 1024 times as long as one of 16384, the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rung import Shape


def make_case(question: Question) -> Case:
    """Return an array of `size` elements to be sorted."""
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
    """The input of a kind: shuffled range, few values, in order, in reverse, one value, special ones."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    kinds = {
        "permutation": lambda: rng.permutation(n),
        "few": lambda: rng.integers(0, 8, n),
        "sorted": lambda: np.arange(n),
        "reversed": lambda: np.arange(n)[::-1],
        "equal": lambda: np.full(n, 7),
        "special": lambda: rng.choice(_special(question), n),
    }
    return np.ascontiguousarray(kinds[question.data](), dtype)


def _special(question: Question) -> Array:
    """Values at which an order may be wrong: limits, and for floating point NaN, infinities and zeros."""
    dtype = question.dtype
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, limits.max, limits.min, limits.tiny], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype)


def span_shape(case: Case, block: int) -> Shape:
    """Blocks that sort two elements a thread, enough for all elements and at least one, in shared memory."""
    span = 2 * block
    return Shape(max(1, -(-case.size // span)), block, span * case.dtype.itemsize)


def _sort(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": library.sort(arrays["x"])}


def _torch_sort(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"x": torch.sort(arrays["x"]).values}


PEERS = (
    Peer("numpy", "sort", _sort, "oddeven_sort"),
    Peer("cupy", "sort", _sort, "oddeven_sort"),
    Peer("torch", "sort", _torch_sort, "oddeven_sort", kinds="fi"),
)

PROBLEM = Problem(
    name="oddeven_sort",
    title="Bubble sort made parallel: odd-even transposition, on the host, in one block, in many",
    tables={
        "one_block": Table("One block, in shared memory", 1024, "float32", 512, small=256, capacity=2),
        "oddeven_sort": Table("Many blocks, and the host", 16384, "float32", 512, small=2048),
    },
    dtypes=("float32", "float64", "int32", "uint32"),
    data=("permutation", "few", "sorted", "reversed", "equal", "special"),
    make=make_case,
    signature=("x", "n"),
    shape=span_shape,
    largest=2**24,
    work=lambda n: float(n) ** 2,
    peers=PEERS,
)
