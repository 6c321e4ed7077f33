"""The baseline: NumPy on the CPU multiplies the arrays and adds up the products.

NumPy adds pairwise: 128 elements at a time in eight sums, then these as a tree. So an element goes through
its product's rounding, at most 25 additions within its 128, and one for each level of the tree.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def on_host(case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return x . y."""
    return {"dot": np.add.reduce(arrays["x"] * arrays["y"], dtype=case.dtype)}


RUNG = Rung(host=on_host, depth=lambda case, block: 27 + case.size.bit_length())
