"""The problem of the reduction ladder: its arrays, the true sum, how far a rung may be off, and its cost.

Belongs here: everything that is the same for all rungs. No rung, no launch, no timing.

The error bound. Rounding to nearest, an addition returns (a + b)(1 + d) with |d| <= u, the unit roundoff
(2^-24 for float32, 2^-53 for float64). If element x_i passes through at most k additions on its way into
the result, the computed sum is sum(x_i (1 + t_i)) with |t_i| <= gamma_k = k u / (1 - k u) (Higham, Accuracy
and Stability of Numerical Algorithms, lemma 3.1), whatever the order. Hence |computed - true| <= gamma_k
sum|x_i|. A rung states its k (`additions`): the additions of one thread plus the levels of the tree; with a
second launch the launches add up. The final sum of the partials on the host uses math.fsum, which returns
the exact sum of the partials rounded once to float64: one more factor (1 + d), |d| <= 2^-53, applied to a
number of size at most (1 + gamma_k) sum|x_i|. The reference is math.fsum of the input: again one rounding
of the exact sum, at most 2^-53 sum|x_i|. Additions never underflow inexactly, and no input here overflows,
so

    bound = (gamma_k + 2^-53 (2 + gamma_k)) sum|x_i|

Integers wrap modulo 2^32 or 2^64 and modular addition is associative: their bound is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..problem import Array, Case, Expected, Number, Peer, Problem, Question, Table
from ..rung import Shape

DTYPES = ("float32", "float64", "int32", "int64", "uint32", "uint64")
INPUTS = ("random", "ones", "cancelling", "extreme")
# Kernels count elements in unsigned 32-bit integers; the last block of 8 * 1024 threads must not wrap.
LARGEST = 2**32 - 8 * 1024
_CHUNK = 1 << 16  # elements turned into Python numbers at a time


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
        return {"sum": Expected(value, error_bound(known[0], depth, x.dtype))}

    return Case(
        question=question,
        arrays={"x": x},
        written=("x",) if question.table == "global" else (),
        scalars={"n": np.uint32(x.size)},
        expected=expected,
        ideal_bytes=ideal_bytes(x.size, x.dtype),
        ideal_flops=ideal_flops(x.size),
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
    limits = np.iinfo(dtype)
    if kind == "random":
        return rng.integers(0, 256, n, dtype=dtype)
    if kind == "extreme":
        return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
    values = rng.integers(0, limits.max, n, dtype=dtype)
    values[1::2] = -values[::2][: n // 2]  # unsigned: the two's complement, whose sum wraps to 0 as well
    return values


def _make_floats(n: int, dtype: np.dtype[Any], kind: str, rng: np.random.Generator) -> Array:
    values = rng.random(n, dtype=np.float64).astype(dtype)
    if kind == "cancelling":
        values[1::2] += 1e6
        values[::2] -= 1e6
    elif kind == "extreme":
        values = np.ldexp(values - dtype.type(0.5), rng.integers(-30, 30, n)).astype(dtype)
    return values


def reference_sum(x: Array) -> Reference:
    """Return the exact sum, rounded once (floats) or wrapped (integers)."""
    if x.dtype.kind == "f":
        magnitude = float(np.abs(x).sum(dtype=np.float64))
        # The magnitude's own rounding (pairwise, far below 2^-40 relative) must not shrink a bound.
        return Reference(math.fsum(_python_numbers(x)), magnitude * (1 + 2.0**-40))
    return Reference(wrapped_sum(x), 0.0)


def final_sum(partials: Array) -> Number:
    """Add the partial sums on the host, exactly up to one rounding (floats) or wrapped (integers)."""
    return math.fsum(_python_numbers(partials)) if partials.dtype.kind == "f" else wrapped_sum(partials)


def wrapped_sum(x: Array) -> int:
    """Return the sum modulo 2^32 or 2^64, as the array's type represents it."""
    return int(np.add.reduce(x, dtype=x.dtype))


def error_bound(reference: Reference, additions: int, dtype: np.dtype[Any]) -> float:
    """Return the largest |computed - reference| that rounding explains (derivation: module docstring)."""
    if dtype.kind != "f":
        return 0.0
    u = float(np.finfo(dtype).eps) / 2
    gamma = additions * u / (1 - additions * u)
    return (gamma + 2.0**-53 * (2 + gamma)) * reference.magnitude


def ideal_bytes(n: int, dtype: np.dtype[Any]) -> int:
    """Bytes that no reduction can avoid: each element is read once."""
    return n * dtype.itemsize


def ideal_flops(n: int) -> int:
    """Additions that no reduction can avoid."""
    return max(0, n - 1)


def _python_numbers(x: Array) -> Iterator[float]:
    pieces = (x[start : start + _CHUNK].tolist() for start in range(0, x.size, _CHUNK))
    return chain.from_iterable(pieces)


def _pairwise(case: Case) -> int:
    """The depth of NumPy's sum: runs of 128 elements in 8 parts, then a tree."""
    return 20 + case.size.bit_length()


PEERS = (
    Peer("numpy", "np.sum", lambda np, case, x: {"sum": x["x"].sum(dtype=case.dtype)}, depth=_pairwise),
    Peer("cupy", "cupy.sum (CUB)", lambda cupy, case, x: {"sum": x["x"].sum(dtype=case.dtype)}),
    Peer("torch", "torch.sum", lambda torch, case, x: {"sum": x["x"].sum(dtype=x["x"].dtype)}),
)

PROBLEM = Problem(
    name="reduction",
    title="Sum of an array, from neighboured pairs to a kernel specialised on its block size",
    tables=TABLES,
    dtypes=DTYPES,
    data=INPUTS,
    make=make_case,
    signature=("x", "partial", "n"),
    shape=lambda case, block: Shape(max(1, -(-case.size // block)), block),
    largest=LARGEST,
    peers=PEERS,
    reduces=True,
    blocks=(64, 128, 256, 512, 1024),
)
