"""The reduction ladder, ready for a bench."""

from __future__ import annotations

from ..ladder import PackagedLadder
from .problem import PROBLEM

LADDER = PackagedLadder(__package__ or "", PROBLEM)
