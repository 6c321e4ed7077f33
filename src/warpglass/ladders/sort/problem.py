"""The problem of the sort ladder: sort an array of keys, ascending.

Sorting rounds nothing, so results must be equal to np.sort's. NaN comes after every number, as in NumPy;
zeros of both signs are equal. `x` holds the keys before and the sorted keys after; merges go through a
second array.

Every size is sorted. The networks below compare pairs so that the smaller key always goes to the smaller
index; then keys beyond the end, imagined larger than all, never move, and a pair that has one is left out.
"""

from __future__ import annotations

from ..inputs import any_integers
from ..problem import Case, Problem, Question, Table
from ..sorting import KINDS, make_keys, sort_case, sort_peers, span_shape


def make_case(question: Question) -> Case:
    """Return an array of `size` keys: by default floats of [0, 1) or any integers."""
    n, dtype = question.size, question.dtype
    own = make_keys(question, lambda rng: rng.random(n) if dtype.kind == "f" else any_integers(rng, n, dtype))
    return sort_case(question, own)


PROBLEM = Problem(
    name="sort",
    title="Sorting: bitonic networks in one block and over many, merge sorts and radix sorts",
    tables={
        "one_block": Table("One block, in shared memory", 1024, "float32", 512, small=300, capacity=2),
        "sort": Table("Many blocks", 2**18, "float32", 256, small=5003),
    },
    dtypes=("float32", "float64", "int32", "uint32"),
    data=("random", *KINDS),
    make=make_case,
    signature=("x", "n"),
    shape=span_shape,
    largest=2**30,
    peers=sort_peers("sort", "cupy", "torch"),
)
