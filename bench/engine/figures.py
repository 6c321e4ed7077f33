"""From the seconds of all rounds to the figures that are printed, kept and compared.

A ratio is the median over the rounds of what two contestants took in the same round; more is better for the
engine. Its noise is half the distance between the quartiles, as a share of the ratio.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from math import exp, log
from typing import Any

# What the engine is compared with, and what is to be reached.
RATIOS = (("PoCL", "C++"), ("NumPy", "C++"), ("C++", "Python"))
LEAST_NOISE = 0.25  # differences that are taken for noise whatever the rounds say

Figures = dict[str, dict[str, dict[str, Any]]]  # threads -> case -> figure


def figures(sessions: Mapping[str, Mapping[str, Any]]) -> Figures:
    """The figures of sessions, by number of threads and case."""
    return {
        threads: {name: _of_case(one) for name, one in found.items()} for threads, found in sessions.items()
    }


def _of_case(found: Mapping[str, Any]) -> dict[str, Any]:
    seconds = found["seconds"]
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    result: dict[str, Any] = {"seconds": medians, "ratios": {}}
    for other, own in RATIOS:
        if other in seconds and own in seconds:
            values = [a / b for a, b in zip(seconds[other], seconds[own], strict=True)]
            middle = statistics.median(values)
            low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (middle,) * 3
            result["ratios"][f"{other}/{own}"] = {"ratio": middle, "noise": (high - low) / 2 / middle}
    result["instructions_per_second"] = {
        name: count / medians[name] for name, count in found["instructions"].items()
    }
    return result


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return exp(statistics.fmean(map(log, values)))


def ratios(found: Figures, threads: str, which: str) -> dict[str, float]:
    """One ratio of every case that has it."""
    cases = found[threads].items()
    return {name: case["ratios"][which]["ratio"] for name, case in cases if which in case["ratios"]}


def kept(found: Figures) -> dict[str, Any]:
    """What a baseline keeps: ratios and their noise; seconds are another machine's."""
    return {
        threads: {
            name: {
                which: {key: round(value, 4) for key, value in one.items()}
                for which, one in case["ratios"].items()
            }
            for name, case in cases.items()
        }
        for threads, cases in found.items()
    }


def regressions(found: Figures, baseline: Mapping[str, Any]) -> dict[str, list[str]]:
    """The cases with a ratio below the baseline's by more than noise, each with what to say about it."""
    worse: dict[str, list[str]] = {}
    for threads, cases in found.items():
        for name, case in cases.items():
            for which, one in case["ratios"].items():
                before = baseline.get(threads, {}).get(name, {}).get(which)
                if before is None:
                    continue
                least = before["ratio"] / (1 + max(LEAST_NOISE, 3 * (before["noise"] + one["noise"])))
                if one["ratio"] < least:
                    text = (
                        f"{name}, {threads} threads: {which} was {before['ratio']:.2f}, is {one['ratio']:.2f}"
                    )
                    worse.setdefault(name, []).append(text)
    return worse
