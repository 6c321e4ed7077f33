"""The matrix-multiplication ladder, ready for a bench."""

from __future__ import annotations

from ..ladder import PackagedLadder
from .counts import COUNTS
from .problem import PROBLEM

LADDER = PackagedLadder(__package__ or "", PROBLEM, view=COUNTS.sections)
