"""The baseline: NumPy's bincount, one key after the other on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.histogram.problem import BINS, count_on_host
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the counts."""
    return {"counts": count_on_host(arrays["x"], BINS[case.question.table])}


RUNG = Rung(name="on_host", table="bytes", explanation=__doc__ or "", follows=None, host=on_host)
