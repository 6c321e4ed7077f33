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
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ...errors import ArgumentError

Array = np.ndarray[Any, np.dtype[Any]]
Number = float | int

C_NAMES = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "int64": "long long",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
}
INPUTS = ("random", "ones", "cancelling", "extreme")
# Kernels count elements in unsigned 32-bit integers; the last block of 8 * 1024 threads must not wrap.
LARGEST = 2**32 - 8 * 1024
_CHUNK = 1 << 16  # elements turned into Python numbers at a time


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the ladder: the rungs that share an array, and the array's usual size."""

    title: str
    size: int
    dtype: str
    block: int


# Of the two course notes: 2^24 doubles in blocks of 512, reduced in global memory; 2^22 ints in blocks of
# 128, reduced in shared memory.
TABLES = {
    "global": Table("Reduction in global memory", 2**24, "float64", 512),
    "shared": Table("Reduction in shared memory", 2**22, "int32", 128),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """The true sum (rounded once to float64, or wrapped to the type) and the sum of the magnitudes."""

    value: Number
    magnitude: float


def check_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of that name, or say which ones the ladder takes."""
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = None
    if dtype is None or dtype.name not in C_NAMES:
        raise ArgumentError(f"dtype {name!r}: the reduction ladder takes {', '.join(C_NAMES)}")
    return dtype


def check_size(n: int) -> int:
    """Return n if the kernels can count that many elements."""
    if not 0 <= n <= LARGEST:
        raise ArgumentError(f"size {n}: the reduction ladder takes 0 to {LARGEST} elements")
    return n


def make_input(n: int, dtype: np.dtype[Any], kind: str = "random", seed: int = 0) -> Array:
    """Return the array to be summed.

    random: [0, 1) or 0..255, as in the notes. ones: a dropped element shows as a missing 1. cancelling: large
    values whose sum is small. extreme: floats over many binades, integers whose sum wraps.
    """
    rng = np.random.default_rng(seed)
    if kind not in INPUTS:
        raise ArgumentError(f"input {kind!r}: one of {', '.join(INPUTS)}")
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
