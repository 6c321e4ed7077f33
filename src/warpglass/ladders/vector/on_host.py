"""The baseline: NumPy adds the arrays on the CPU, element after element."""

from collections.abc import Mapping
from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return z = x + y."""
    return {"z": arrays["x"] + arrays["y"]}


RUNG = Rung(table="vector", host=on_host)
