"""Sectors that stores bring to the second level, for the model of kernel times.

Belongs here: which stores of a block meet. A warp's stores one behind the other to parts of the same sectors
leave the multiprocessor as one; the same stores at other times bring their sectors again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..models.caches import SECTOR
from ..program import Program, Step
from .counting import Tally

_STORES = ("global", True)
_SECTORS, _BYTES = 1, 3  # of a tally's numbers of global memory


def met_stores(program: Program, tallies: Sequence[Tally]) -> float:
    """Sectors of all stores to global memory; of stores that meet, those of the widest or all their bytes."""
    stores = [tally for tally in tallies if not tally.step.match.row.is_atomic]
    rows = {one.step.number: one.accesses[_STORES] for one in stores if _STORES in one.accesses}
    total = 0.0
    for block in program.blocks:
        for group in _neighbours([step for step in block.all_steps if step.number in rows]):
            each = [rows[number][_SECTORS] for number in group]
            whole = sum(rows[number][_BYTES] for number in group) / SECTOR
            total += max(*each, min(sum(each), whole)) if len(each) > 1 else each[0]
    return total


def _neighbours(steps: Sequence[Step]) -> list[list[int]]:
    """The numbers of a block's stores; those within a sector's bytes of a group's first are one group."""
    places: Mapping[int, list[tuple[int, int]]] = defaultdict(list)
    found: list[list[int]] = []
    for step in steps:
        if step.origin is None:
            found.append([step.number])
        else:
            origin, distance = step.origin
            places[origin].append((distance + step.address.offset, step.number))
    for group in places.values():
        first = None
        for place, number in sorted(group):
            if first is None or place - first >= SECTOR:
                first = place
                found.append([])
            found[-1].append(number)
    return found
