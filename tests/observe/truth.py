"""Kernels whose counters an H100 or H200 measured, profiled on the engine and compared with what it said.

The launches and results lie in tests/cases/truth. What may differ, and why, is in differences.json: `except`
names metrics that are not compared at all, `allow` differences of cases; both give a reason. Names are
patterns. `within` is the largest error relative to the measured number (1 where that is 0).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import warpglass as wg
from tests.cases.truth.more_launch import Case, read_cases
from warpglass.records.profile import Profile

HERE = Path(__file__).parent
TRUTH = HERE.parent / "cases" / "truth"
SETS = {"open": "h100", "more": "h200", "more_py": "h200", "more_rules": "h200"}  # and what measured it
_SHOWN = 0.005001  # half of the last place of ratios, which are measured to two


@dataclass(frozen=True, slots=True)
class Number:
    """One number of one launch, as measured and as profiled, and how certain the profile says it is."""

    set: str
    case: str
    metric: str
    measured: float
    profiled: float
    label: str

    @property
    def equal(self) -> bool:
        """Whether they are the same as far as the measured one is known."""
        shown = (
            _SHOWN if self.metric.endswith((".pct", "_pct", ".ratio")) or "waves_per" in self.metric else 0
        )
        return abs(self.profiled - self.measured) <= shown

    @property
    def error(self) -> float:
        """The difference relative to the measured number, absolute where that is 0."""
        return abs(self.profiled - self.measured) / (abs(self.measured) or 1.0)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Differences that are known and explained."""

    cases: tuple[str, ...]  # patterns, of all cases if there are none
    metrics: tuple[str, ...]  # patterns
    within: float
    reason: str

    def covers(self, number: Number) -> bool:
        """Whether it is about this number."""
        return (not self.cases or any(fnmatchcase(number.case, pattern) for pattern in self.cases)) and any(
            fnmatchcase(number.metric, pattern) for pattern in self.metrics
        )


@cache
def differences() -> tuple[dict[str, str], tuple[Allowance, ...]]:
    """Patterns of metrics that are not compared, with reasons, and the allowed differences."""
    found = json.loads((HERE / "differences.json").read_text("utf-8"))
    allowed = [
        Allowance(tuple(row.get("cases", ())), tuple(row["metrics"]), row["within"], row["reason"])
        for row in found["allow"]
    ]
    return found["except"], tuple(allowed)


@cache
def cases(name: str) -> dict[str, Case]:
    """The launches of a set that were measured, by id."""
    return {
        case.id: case for case in read_cases(TRUTH / f"{name}.json") if "metrics" in measured(name)[case.id]
    }


@cache
def measured(name: str) -> dict[str, Any]:
    """What the GPU said of each launch of a set."""
    path = TRUTH / f"{name}_{SETS[name]}.json"
    packed = path.with_suffix(".json.gz")
    return json.loads(path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes()))


@cache
def _python_kernels() -> dict[str, str]:
    with gzip.open(TRUTH / "more_py.ptx.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def kernel(name: str, case: Case) -> wg.Kernel:
    """The kernel of a case."""
    if case.parameters is None:
        return wg.load(TRUTH / f"{name}.cu", case.kernel)
    text = _python_kernels()[case.kernel]
    entry = next(line for line in text.splitlines() if ".entry" in line).split(".entry")[1].strip(" (")
    return wg.compile(text, entry, language="ptx")


def arguments(case: Case) -> list[Any]:
    """The kernel's parameters: an array stands for its address."""
    made = case.arguments()
    if case.parameters is None:
        return made
    return [
        value for given, fields in zip(made, case.parameters, strict=True) for value in _spread(given, fields)
    ]


def _spread(given: Any, fields: tuple[str, ...]) -> Iterator[Any]:
    if not isinstance(given, np.ndarray):
        yield given
        return
    for field in fields:
        what, _, dimension = field.partition(":")
        k = int(dimension or 0)
        values = {
            "offset": 0,
            "null": 0,
            "size": given.size,
            "itemsize": given.itemsize,
            "shape": given.shape[k],
            "stride": given.strides[k] // given.itemsize,
            "byte_stride": given.strides[k],
        }
        yield given if what == "pointer" else np.int64(values[what])


def profile(name: str, case: Case, caches: bool = False) -> Profile:
    """Profile a launch as it was measured."""
    return wg.profile(
        kernel(name, case),
        case.grid,
        case.block,
        arguments(case),
        shared=case.shared,
        model=SETS[name],
        caches=caches,
    )


def compare(name: str, case: Case) -> list[Number]:
    """Every number of a launch that was measured and is profiled."""
    found = profile(name, case)
    skipped, _ = differences()
    return [
        Number(name, case.id, metric, value, found.counters[metric], found.label(metric))
        for metric, value in measured(name)[case.id]["metrics"].items()
        if metric in found.counters and not any(fnmatchcase(metric, pattern) for pattern in skipped)
    ]


def allowance(number: Number) -> Allowance | None:
    """The first explanation of a difference."""
    return next((one for one in differences()[1] if one.covers(number) and number.error <= one.within), None)
