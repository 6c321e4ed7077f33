"""The sort for any number of keys: one launch where a block takes them all, else a sweep for each digit."""

from __future__ import annotations

from ..plan import Plan
from . import onesweep, radix_block
from .radix import Request

# Threads and keys a thread of blocks that sort alone.
_BLOCKS = ((256, 2), (256, 8), (256, 16), (512, 12))
IN_ONE_BLOCK = _BLOCKS[-1][0] * _BLOCKS[-1][1]  # keys
# Keys a thread of tiles for fewer keys than that: more multiprocessors have one.
_TILES = ((2**17, 6), (2**20, 12))


def plan(request: Request, **parameters: int) -> Plan:
    """The launches for a request; `parameters` are those of onesweep.plan."""
    if request.size <= IN_ONE_BLOCK:
        threads, items = next(one for one in _BLOCKS if one[0] * one[1] >= request.size)
        return radix_block.plan(request, threads, items)
    fewer = next((items for few, items in _TILES if request.size < few), None)
    if fewer is not None:
        parameters = {**parameters, "items": fewer}
    return onesweep.plan(request, **parameters)
