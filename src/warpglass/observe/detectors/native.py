"""The compiled functions as generated code calls them: by address, with 64-bit words."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cfunc, types

from . import accesses, copies, lines, local, orders, shadow, undefined

# Name -> the function and how many words it takes.
_FUNCTIONS: dict[str, tuple[Any, int]] = {
    "access": (accesses.access, 6),
    "defer": (accesses.defer, 6),
    "reopen": (accesses.reopen, 2),
    "find_region": (shadow.find_region, 3),
    "access_local": (local.access_local, 5),
    "begin": (orders.begin, 4),
    "arrive": (orders.arrive, 6),
    "meet": (orders.meet, 6),
    "park": (orders.park, 6),
    "diverge": (orders.diverge, 6),
    "gather": (orders.gather, 4),
    "exchange": (orders.exchange, 7),
    "commit": (copies.commit, 3),
    "wait_copies": (copies.wait_copies, 4),
    "follow": (undefined.follow, 6),
    "use": (undefined.use, 6),
    "report_absent": (orders.report_absent, 1),
    "settle": (orders.settle, 2),
    "mix": (lines.mix, 2),
    "spread": (lines.spread_line, 2),
    "spread_lanes": (lines.spread_lanes, 3),
}
NAMES = tuple(_FUNCTIONS)


@cache
def compiled() -> dict[str, Any]:
    """The functions, compiled when first asked for; numba keeps them on disk."""
    found: dict[str, Any] = {}
    for name, (function, words) in _FUNCTIONS.items():
        found[name] = cfunc(types.void(*[types.int64] * words), cache=True)(function.py_func)
    return found


@cache
def addresses() -> dict[str, int]:
    """Where they are."""
    return {name: function.address for name, function in compiled().items()}
