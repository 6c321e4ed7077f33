"""The problem of the histogram ladder: counts[b] = how many keys are b, for b from 0 to bins - 1.

Keys outside are not counted. Counting rounds nothing: results must be equal. A key must be read once. What
makes it hard is contention: many keys want one counter, all of them if the keys are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..blocks import in_blocks
from ..inputs import any_integers
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rung import LaunchShape

BINS = {"bytes": 256, "bins": 4096}  # of each table
PER_THREAD = 16  # keys that make a thread worth a copy of the counters
MOST_BLOCKS = 264  # two for each multiprocessor of an H100


def make_case(question: Question) -> Case:
    """Return `size` keys and zeroed counters."""
    bins = BINS[question.table]
    x = make_input(question, bins)

    @cache
    def counts() -> Array:
        parts = in_blocks(x.size, lambda block: count_on_host(x[block], bins))
        return np.asarray(np.sum(parts, axis=0, dtype=np.uint32)) if parts else np.zeros(bins, np.uint32)

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"counts": Expected(counts())}

    return Case(
        question=question,
        arrays={"x": x, "counts": np.zeros(bins, np.uint32)},
        written=("counts",),
        scalars={"n": np.uint32(question.size), "bins": np.uint32(bins)},
        expected=expected,
        ideal_bytes=x.nbytes + 4 * bins,
        ideal_flops=0,
    )


def make_input(question: Question, bins: int) -> Array:
    """random: each bin as likely; equal: one bin; sorted; skewed: half in the first; outside: any integer."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    top = min(bins - 1, int(np.iinfo(dtype).max))
    if question.data == "random":
        return rng.integers(0, top, n, dtype=dtype, endpoint=True)
    if question.data == "equal":
        return np.full(n, top, dtype)
    if question.data == "sorted":
        return np.sort(rng.integers(0, top, n, dtype=dtype, endpoint=True))
    if question.data == "skewed":
        return np.minimum(rng.geometric(0.5, n) - 1, top).astype(dtype)
    x = any_integers(rng, n, dtype)
    x[::2] = rng.integers(0, top, x[::2].size, dtype=dtype, endpoint=True)
    return x


def count_on_host(x: Array, bins: int) -> Array:
    """The counts of all bins, by NumPy."""
    inside = x[(x >= 0) & (x <= np.asarray(min(bins - 1, np.iinfo(x.dtype).max), x.dtype))]
    return np.bincount(inside, minlength=bins).astype(np.uint32)


def few_blocks(case: Case, block: int, copies: int = 1) -> LaunchShape:
    """Blocks whose threads take many keys each, with shared memory for so many copies of the counters."""
    blocks = min(MOST_BLOCKS, max(1, case.size // (block * PER_THREAD)))
    return LaunchShape(blocks, block, 4 * copies * BINS[case.question.table])


def _bincount(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """A library counts what is no bin by making one, or refuses it: such keys are taken out first."""
    x, bins = arrays["x"], BINS[case.question.table]
    if case.question.data == "outside":
        x = x[(x >= 0) & (x < bins)]
    return {"counts": library.bincount(x, minlength=bins)}


def _torch_bincount(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """PyTorch computes with bytes and signed integers; the wider unsigned ones it only converts."""
    x = arrays["x"]
    if x.dtype in (torch.uint16, torch.uint32):
        x = x.to(torch.int64)
    return _bincount(torch, case, {"x": x})


PROBLEM = Problem(
    name="histogram",
    title="Histograms: global atomics, copies in shared memory, and warps that count together",
    tables={
        "bytes": Table("256 bins of bytes", 2**22, "uint8", 256, small=20_011),
        "bins": Table("4096 bins of integers", 2**20, "int32", 256, small=70_001),
    },
    dtypes=("uint8", "uint16", "int32", "uint32"),
    data=("random", "equal", "sorted", "skewed", "outside"),
    make=make_case,
    signature=("x", "counts", "n", "bins"),
    peers=(Peer("cupy", "bincount", _bincount), Peer("torch", "bincount", _torch_bincount)),
)
