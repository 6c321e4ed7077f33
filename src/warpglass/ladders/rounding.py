"""How far rounding may take a result: the numbers that all derived error bounds are made of; exact sums."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np

_CHUNK = 1 << 16  # elements turned into Python numbers at a time


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """u, the largest relative error of rounding to nearest: 2^-24 for float32; 0 for integers, which wrap."""
    return float(np.finfo(dtype).eps) / 2 if dtype.kind == "f" else 0.0


def gamma(roundings: int, dtype: np.dtype[Any]) -> float:
    """k u / (1 - k u): a product of k factors (1 + d), |d| <= u, is 1 + t with |t| <= gamma_k.

    Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1. A fused multiply-add rounds once where
    the bound counts two, so it holds with and without contraction. From 1 / u roundings on it says nothing:
    infinity.
    """
    ku = roundings * unit_roundoff(dtype)
    return ku / (1 - ku) if ku < 1 else math.inf


def sum_bound(roundings: int, dtype: np.dtype[Any], magnitude: float) -> float:
    """How far a sum may be off whose terms, of this magnitude together, go through so many roundings each.

    The computed sum is sum(t_i (1 + d_i)) with |d_i| <= gamma_k (Higham, section 4.2). Two sums are exact but
    for one rounding to float64 (math.fsum): the host's of the partial sums, a number of at most (1 + gamma_k)
    magnitude, and the reference. So the bound is (gamma_k + 2^-53 (2 + gamma_k)) magnitude; 0 for integers.
    """
    if dtype.kind != "f":
        return 0.0
    relative = gamma(roundings, dtype)
    return (relative + 2.0**-53 * (2 + relative)) * magnitude


def exact_sum(values: np.ndarray[Any, Any]) -> float | int:
    """The sum, exact up to one rounding to float64; of integers modulo 2^32 or 2^64, as their type wraps."""
    if values.dtype.kind != "f":
        return int(np.add.reduce(values, dtype=values.dtype))
    pieces = (values[start : start + _CHUNK].tolist() for start in range(0, values.size, _CHUNK))
    return math.fsum(chain.from_iterable(pieces))
