"""The problem of the reduction ladder: its arrays, the true sum, how far a rung may be off, and its cost.

Belongs here: everything that is the same for all rungs. No rung, no launch, no timing.

The error bound is rounding.sum_bound of the k additions that an element passes through at most on its way
into the result, whatever their order. A rung states its k (`additions`): the additions of one thread plus the
levels of the tree; with a second launch the launches add up. Additions never underflow inexactly, and no
input here overflows. Integers wrap, and modular addition is associative: their bound is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..blocks import in_blocks
from ..inputs import any_integers, over_binades, uniform
from ..problem import Array, Case, Expected, Number, Peer, Problem, Question, Table, in_parts
from ..rounding import exact_sum, sum_bound
from .rung import Reduction

DTYPES = ("float32", "float64", "int32", "int64", "uint32", "uint64")
INPUTS = ("random", "ones", "cancelling", "extreme")
# Kernels count elements in unsigned 32-bit integers; the last block of 8 * 1024 threads must not wrap.
LARGEST = 2**32 - 8 * 1024


# Of the two course notes: 2^24 doubles in blocks of 512, reduced in global memory; 2^22 ints in blocks of
# 128, reduced in shared memory. What the notes point to has the first of them, which it leaves as it is.
TABLES = {
    "global": Table("Reduction in global memory", 2**24, "float64", 512, small=2**18),
    "shared": Table("Reduction in shared memory", 2**22, "int32", 128, small=2**18),
    "beyond": Table("Reduction beyond the notes", 2**24, "float64", 256, small=2**20),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """The true sum (rounded once to float64, or wrapped to the type) and the sum of the magnitudes."""

    value: Number
    magnitude: float


def make_case(question: Question) -> Case:
    """Return the array of a question and its true sum; kernels that work in global memory destroy it."""
    x = make_input(question.size, question.dtype, question.data, question.seed)
    known: list[Reference] = []

    def expected(depth: int) -> Mapping[str, Expected]:
        if not known:
            known.append(reference_sum(x))
        value = np.asarray(known[0].value, np.float64 if x.dtype.kind == "f" else x.dtype)
        return {"sum": Expected(value, sum_bound(depth, x.dtype, known[0].magnitude))}

    return Case(
        question=question,
        arrays={"x": x},
        written=("x",) if question.table == "global" else (),
        scalars={"n": np.uint32(x.size)},
        expected=expected,
        ideal_bytes=x.nbytes,
        ideal_flops=max(0, x.size - 1),
    )


def make_input(n: int, dtype: np.dtype[Any], kind: str = "random", seed: int = 0) -> Array:
    """Return the array to be summed.

    random: [0, 1) or 0..255, as in the notes. ones: a dropped element shows as a missing 1. cancelling: large
    values whose sum is small. extreme: floats over many binades, integers whose sum wraps.
    """
    rng = np.random.default_rng(seed)
    if kind == "ones":
        return np.ones(n, dtype)
    if dtype.kind == "f":
        return _make_floats(n, dtype, kind, rng)
    if kind == "random":
        return rng.integers(0, 256, n, dtype=dtype)
    if kind == "extreme":
        return any_integers(rng, n, dtype)
    values = rng.integers(0, np.iinfo(dtype).max, n, dtype=dtype)
    values[1::2] = -values[::2][: n // 2]  # unsigned: the two's complement, whose sum wraps to 0 as well
    return values


def _make_floats(n: int, dtype: np.dtype[Any], kind: str, rng: np.random.Generator) -> Array:
    values = uniform(rng, n, dtype)
    if kind == "cancelling":
        values[1::2] += 1e6
        values[::2] -= 1e6
    elif kind == "extreme":
        values = over_binades(rng, values)
    return values


def reference_sum(x: Array) -> Reference:
    """Return the exact sum, rounded once (floats) or wrapped (integers)."""
    if x.dtype.kind == "f":
        magnitude = sum(in_blocks(x.size, lambda block: float(np.abs(x[block]).sum(dtype=np.float64))))
        # The magnitude's own rounding (pairwise, far below 2^-40 relative) must not shrink a bound.
        return Reference(exact_sum(x), magnitude * (1 + 2.0**-40))
    return Reference(exact_sum(x), 0.0)


def _pairwise(case: Case) -> int:
    """The depth of NumPy's sum: runs of 128 elements in 8 parts, then a tree."""
    return 20 + case.size.bit_length()


PEERS = (
    Peer("numpy", "np.sum", lambda np, case, x: {"sum": x["x"].sum(dtype=case.dtype)}, depth=_pairwise),
    Peer(
        "cupy", "cupy.sum (CUB)", lambda cupy, case, x: {"sum": x["x"].sum(dtype=case.dtype)}, depth=in_parts
    ),
    Peer(
        "torch", "torch.sum", lambda torch, case, x: {"sum": x["x"].sum(dtype=x["x"].dtype)}, depth=in_parts
    ),
)

PROBLEM = Problem(
    name="reduction",
    title="Sum of an array, from neighboured pairs to a kernel specialised on its block size",
    tables=TABLES,
    dtypes=DTYPES,
    data=INPUTS,
    make=make_case,
    signature=("x", "partial", "n"),
    program=Reduction(shared=True).run,
    largest=LARGEST,
    peers=PEERS,
    reduces=True,
    blocks=(64, 128, 256, 512, 1024),
)
