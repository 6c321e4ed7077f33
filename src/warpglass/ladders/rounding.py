"""How far rounding may take a result: the two numbers that all derived error bounds are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


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
