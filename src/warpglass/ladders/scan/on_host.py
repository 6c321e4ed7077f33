"""The baseline: NumPy adds one element after the other, each sum waiting for the one before."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return y, the sums of all x up to each."""
    x = arrays["x"]
    return {"y": np.cumsum(x, dtype=x.dtype)}


RUNG = Rung(host=on_host, depth=lambda case, block: case.size)
