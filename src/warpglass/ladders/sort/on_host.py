"""The baseline: NumPy's sort on the CPU, a quicksort or radix sort with vector instructions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the sorted keys."""
    return {"x": np.sort(arrays["x"])}


RUNG = Rung(table="sort", host=on_host)
