"""The baseline: NumPy's bincount, one key after the other on the CPU."""

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.histogram.problem import BINS, count_on_host
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the counts."""
    return {"counts": count_on_host(arrays["x"], BINS[case.question.table])}


RUNG = Rung(table="bytes", host=on_host)
