"""The problem of the odd-even sort ladder: sort an array in place, ascending.

Sorting rounds nothing, so results must be equal to np.sort's. NaN comes after every number, as in NumPy;
zeros of both signs are equal. The usual input is the notes' own: the numbers 0 to n - 1, shuffled.

All rungs do some n^2 / 2 comparisons, the host's and the blocks' alike, so a bench of the notes' sizes
(131072, 262144, 524288) takes 64, 256 and 1024 times as long as one of 16384, the default.
"""

from __future__ import annotations

from ..problem import Case, Problem, Question, Table
from ..sorting import KINDS, make_keys, sort_case, sort_peers, span_shape
from .view import cost_model


def make_case(question: Question) -> Case:
    """Return an array of `size` elements to be sorted."""
    return sort_case(question, make_keys(question, lambda rng: rng.permutation(question.size)))


PROBLEM = Problem(
    name="oddeven_sort",
    title="Bubble sort made parallel: odd-even transposition, on the host, in one block, in many",
    tables={
        "one_block": Table("One block, in shared memory", 1024, "float32", 512, small=256, capacity=2),
        "oddeven_sort": Table("Many blocks, and the host", 16384, "float32", 512, small=2048),
    },
    dtypes=("float32", "float64", "int32", "uint32"),
    data=("permutation", *KINDS),
    make=make_case,
    signature=("x", "n"),
    shape=span_shape,
    largest=2**24,
    work=lambda n: float(n) ** 2,
    peers=sort_peers("oddeven_sort", "numpy", "cupy", "torch"),
    view=cost_model,
)
