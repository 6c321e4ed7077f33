"""The sort for any number of keys: one launch where a block takes them all, else a sweep for each digit."""

from __future__ import annotations

from ..plan import Plan
from . import onesweep, radix_block
from .radix import Request


def plan(request: Request, **parameters: int) -> Plan:
    """The launches for a request; `parameters` are those of onesweep.plan."""
    if request.size <= radix_block.LARGEST:
        return radix_block.plan(request)
    return onesweep.plan(request, **parameters)
