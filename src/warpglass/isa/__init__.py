"""The instruction table: the manual's notation, unit and meaning of each instruction, a row each."""

from . import control, convert, floating, integer, logic, memory
from .lanes import Lanes
from .table import Match, Row, known_forms, match

SECTIONS = (control, convert, floating, integer, logic, memory)

__all__ = ["SECTIONS", "Lanes", "Match", "Row", "known_forms", "match"]
