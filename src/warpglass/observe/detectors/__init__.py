"""The detectors: what a launch does wrong, found while it runs on the engine.

`Checker` is the instrument. A family of findings is a probe (detector.py) in a folder of its own: races/,
sync/ and undefined/. Their events emit calls of native functions (native.py) and tests that spare most of
them; these work on what all families share: a worker's state and shadow memory (layout.py), the numbered
places of a kernel's code (instrumentation.py) and the table of findings (recorder.py). diagnostics/ puts what
was found into the author's terms.
"""

from __future__ import annotations

from .checker import Checker

__all__ = ["Checker"]
