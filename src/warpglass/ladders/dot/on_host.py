"""The baseline: NumPy's dot product on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return x . y."""
    return {"dot": arrays["x"] @ arrays["y"]}


RUNG = Rung(
    name="on_host",
    table="dot",
    explanation=__doc__ or "",
    follows=None,
    host=on_host,
    depth=lambda case, block: max(1, case.size),
)
