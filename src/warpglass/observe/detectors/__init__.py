"""The detectors: what a launch does wrong, found while it runs on the engine.

One row a detector (explain.py), one file for each kind or family. `Checker` is the instrument: `events.py`
emits calls of compiled functions (`shadow.py`, `orders.py`, `local.py`), which record what they find in a
table; `explain.py` puts that into the author's terms. What the engine stops a kernel for is in `faults.py`.
"""

from __future__ import annotations

from .checker import Checker

__all__ = ["Checker"]
