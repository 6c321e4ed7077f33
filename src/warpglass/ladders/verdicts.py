"""Results against the truth: which element is furthest beyond its bound, and how many are wrong.

Belongs here: the comparison with NumPy, of all of an array or of a part. device_verdicts.py compares where
the results lie.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .problem import Array, Expected
from .trial import Verdict


def judge(found: Mapping[str, Array], expected: Mapping[str, Expected]) -> Verdict:
    """Compare results with the truth: the verdict of the element that is furthest beyond its bound."""
    worst: Verdict | None = None
    for name, truth in expected.items():
        verdict = judge_array(name, found[name], truth)
        if worst is None or verdict.excess > worst.excess:
            worst = verdict
    assert worst is not None, "a case expects at least one result"
    return worst


def judge_array(name: str, found: Array, truth: Expected) -> Verdict:
    """The verdict of the element of one array that is furthest beyond its bound."""
    value = np.asarray(truth.value)
    if found.shape != value.shape:
        raise AssertionError(f"{name} has the shape {found.shape}, the truth {value.shape}")
    if found.size == 0:
        return Verdict(array=name, index=None, result=0, expected=0, error=0.0, bound=0.0)
    same = (found == value) | ((found != found) & (value != value))
    error = np.zeros(value.shape, np.float64)
    with np.errstate(all="ignore"):
        error[~same] = _distance(found[~same], value[~same])
    bound = np.broadcast_to(truth.limits, value.shape)
    with np.errstate(all="ignore"):
        beyond = np.where(error <= bound, np.where(bound > 0, error / bound, 0.0), np.inf)
    # Among several wrong elements the first is what a person looks for.
    at = int(np.argmax(beyond))
    index = np.unravel_index(at, value.shape)
    return Verdict(
        array=name,
        index=tuple(int(i) for i in index) if value.ndim else None,
        result=found.reshape(-1)[at].item(),
        expected=value.reshape(-1)[at].item(),
        error=float(error.reshape(-1)[at]),
        bound=float(bound.reshape(-1)[at]),
        wrong=int(np.count_nonzero(error > bound)),
    )


def _distance(found: Array, value: Array) -> Array:
    """|found - value|, infinite where one of them is NaN."""
    if value.dtype.kind == "f":
        error = np.abs(found.astype(np.float64) - value.astype(np.float64))
        return np.where(np.isnan(error), np.inf, error)
    return np.abs(found.astype(object) - value.astype(object)).astype(np.float64)
