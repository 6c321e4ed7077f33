"""How far rounding may take a result: the numbers that all derived error bounds are made of; exact sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .blocks import in_blocks

Array = np.ndarray[Any, np.dtype[Any]]

_FEW = 1 << 16  # elements that are faster to add as Python's numbers
_SCALE = 1126  # the smallest float64 is 2^-1074, and frexp's scaled mantissa has 52 bits below the first


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


def exact_sum(values: Array) -> float | int:
    """The sum, exact up to one rounding to float64; of integers modulo 2^32 or 2^64, as their type wraps."""
    if values.dtype.kind != "f":
        return int(np.add.reduce(values, dtype=values.dtype))
    if values.size <= _FEW:
        return math.fsum(values.tolist())
    return exact_total(in_blocks(values.size, lambda block: exact_part(values[block])))


def exact_part(values: Array) -> int | float:
    """The exact sum of at most blocks.LENGTH floats, in units of 2^-1126; a float if it is not finite.

    Every float64 is a whole number of at most 53 bits times a power of two. Those of one power are added as
    two halves of at most 27 bits, whose sums float64 holds exactly.
    """
    if not np.isfinite(values).all():
        return float(values.sum(dtype=np.float64))
    mantissas, exponents = np.frexp(values.astype(np.float64, copy=False))
    lowest = int(exponents.min(initial=0))
    places = exponents - lowest
    scaled = mantissas * 2.0**53
    high = np.floor(scaled * 2.0**-27)
    total = 0
    for half, shift in ((high, 27), (scaled - high * 2.0**27, 0)):
        sums = np.bincount(places, half)
        for place in np.flatnonzero(sums):
            total += int(sums[place]) << (shift + int(place))
    return total << (lowest - 53 + _SCALE)


def exact_total(parts: Sequence[int | float]) -> float:
    """The sum of what exact_part returned, rounded once to float64."""
    unusual = [part for part in parts if isinstance(part, float)]
    if unusual:
        return float(sum(unusual))
    return float(Fraction(sum(map(int, parts)), 1 << _SCALE))
