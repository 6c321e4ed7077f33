"""Which instructions a host that takes subnormal numbers for zeros by itself computes as `.ftz` asks.

Processors have a mode in which all arithmetic does so, in double precision, too, and x86's looks for
subnormal results as NVIDIA's hardware does: after rounding them to a normal number's place. In a kernel of
whose instructions each has `.ftz`, or sees no subnormal number, nothing needs to be flushed one by one. Code
for programs that were compiled with -use_fast_math is of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from .table import Match

# Modifiers that name numbers which a host may flush, those none of which is subnormal as a single, and
# rounding that is not done by the usual instructions.
_FLOATS = frozenset("f16 f16x2 bf16 bf16x2 tf32 f32 f32x2 f64 e4m3x2 e5m2x2".split())
_HALVES = frozenset("f16 f16x2".split())
_DIRECTED = frozenset("rz rm rp".split())
_TO_ZERO = frozenset("rzi rni".split())  # integers near a subnormal number: zero, flushed or not
_MOVES = ("move", "selection")


def may_flush(matches: Iterable[Match]) -> bool:
    """Whether all these instructions are computed right in the host's mode, and some need it."""
    needed = False
    for m in matches:
        if not _bears_it(m):
            return False
        needed = needed or m.ftz is not None
    return needed


def _bears_it(m: Match) -> bool:
    modifiers = m.instruction.modifiers
    types = _FLOATS.intersection(modifiers)
    row = m.row
    if not types or row.bitwise or row.operation in _MOVES or m.load_or_store or row.access == "parameter":
        return True
    if row.is_atomic:  # in shared memory sums keep subnormal numbers
        return types == {"f32"} and m.state_space == "global"
    if not row.computes or not types <= {"f32", *_HALVES} or _DIRECTED.intersection(modifiers):
        return False
    if types & _HALVES:
        return True
    of_integers = row.unit == "conversion" and modifiers[-1] not in _FLOATS
    return m.ftz is not None or of_integers or bool(_TO_ZERO.intersection(modifiers))
