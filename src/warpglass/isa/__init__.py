"""The instruction table: the manual's notation, unit and meaning of each instruction, a row each."""

from . import atomic, barrier, bitfield, carry, control, convert, floating, integer, logic, memory, packed, warp
from .lanes import Lanes
from .table import Match, Row, known_forms, match

SECTIONS = (atomic, barrier, bitfield, carry, control, convert, floating, integer, logic, memory, packed, warp)

__all__ = ["SECTIONS", "Lanes", "Match", "Row", "known_forms", "match"]
