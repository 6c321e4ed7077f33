"""The odd-even sort ladder, ready for a bench."""

from __future__ import annotations

from ..ladder import PackagedLadder
from .problem import PROBLEM
from .trace import trace_passes
from .view import cost_model

LADDER = PackagedLadder(__package__ or "", PROBLEM, view=cost_model, trace=trace_passes)
