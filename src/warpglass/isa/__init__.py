"""The instruction table: the manual's notation, unit and meaning of each instruction, a row each."""

from . import (
    approximate,
    async_copy,
    atomic,
    barrier,
    bitfield,
    calls,
    carry,
    cluster,
    control,
    convert,
    convert_float,
    floating,
    half,
    half_compare,
    hints,
    integer,
    logic,
    matrix,
    matrix_emulated,
    matrix_memory,
    matrix_wmma,
    mbarrier,
    memory,
    packed,
    system,
    warp,
)
from .lanes import Lanes
from .operand_types import find_misfits
from .refused import refusal
from .table import Match, Row, exclusion, known_forms, match

SECTIONS = (
    async_copy,
    atomic,
    barrier,
    bitfield,
    calls,
    carry,
    cluster,
    control,
    convert,
    convert_float,
    floating,
    approximate,
    half,
)
SECTIONS += (half_compare, hints, integer, logic, mbarrier, memory, packed, system, warp)
SECTIONS += (matrix, matrix_emulated, matrix_memory, matrix_wmma)

__all__ = [
    "SECTIONS",
    "Lanes",
    "Match",
    "Row",
    "exclusion",
    "find_misfits",
    "known_forms",
    "match",
    "refusal",
]
