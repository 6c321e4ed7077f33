"""Virtual cuRAND: the host API, with numbers of the same distributions.

XORWOW's sequence is NVIDIA's in the ordering that its documentation gives; others are streams of NumPy's.
"""

from __future__ import annotations

from . import calls  # noqa: F401  # rows
from .library import CURAND

__all__ = ["CURAND"]
