"""The instruction table: the manual's notation, facts and meaning of each instruction, a row each."""

from . import (  # noqa: F401  # sections of the manual: importing one adds its rows
    approximate,
    async_copy,
    atomic,
    barrier,
    bitfield,
    bulk_copy,
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
    surfaces,
    system,
    textures,
    video,
    warp,
)
from .lanes import Lanes
from .operand_types import find_misfit_constants, find_misfits
from .refused import refusal
from .table import Match, Row, exclusion, has_literals, known_forms, match

__all__ = [
    "Lanes",
    "Match",
    "Row",
    "exclusion",
    "find_misfit_constants",
    "find_misfits",
    "has_literals",
    "known_forms",
    "match",
    "refusal",
]
