"""Global memory: requests to the first-level cache, the sectors and lines they touch, how full these are.

A request is a warp's instruction with at least one acting lane; a sector has 32 bytes, a line (tag) 128.
Bytes that several lanes ask for count once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...models.memory_rules import Loads
from ...records.profile import Subject
from .table import Measured, declare, ratio

_VERBS = {
    "ld": "loads",
    "st": "stores",
    "atom": "atomics whose result is used",
    "red": "atomics whose result is not used",
    "ldgsts": "asynchronous copies to shared memory",
}
REQUESTS, SECTORS, LINES, BYTES = range(4)
_SECTORS_OF_A_LINE = 4


def _column(m: Measured, kind: str, column: int) -> float:
    return m.memory("global", kind, column)


def _passing(m: Measured, kind: str, column: int) -> float:
    """What the first-level cache counts: asynchronous copies are loads, too."""
    if kind == "ld" and column == SECTORS and m.memory_rules.loads is Loads.LINES:
        return _SECTORS_OF_A_LINE * _column(m, "ld", LINES)
    return _column(m, kind, column) + (_column(m, "ldgsts", column) if kind == "ld" else 0)


def _own_sectors(m: Measured, kind: str) -> float:
    """Sectors of a kind alone: of loads those that no asynchronous copy makes."""
    lines = kind == "ld" and m.memory_rules.loads is Loads.LINES
    return _SECTORS_OF_A_LINE * _column(m, kind, LINES) if lines else _column(m, kind, SECTORS)


# By name, with "mem_global_op_" and the kind of access in it: meaning, unit, formula over kind and measured.
_ROWS: dict[str, tuple[str, str, Callable[[str, Measured], float]]] = {
    "l1tex__t_requests_pipe_lsu_{}.sum": ("requests of {}", "request", lambda k, m: _passing(m, k, REQUESTS)),
    "l1tex__t_sectors_pipe_lsu_{}.sum": (
        "32-byte sectors of {}",
        "sector",
        lambda k, m: _passing(m, k, SECTORS),
    ),
    "l1tex__t_set_accesses_pipe_lsu_{}.sum": (
        "128-byte lines of {}, counted once a request",
        "",
        lambda k, m: _passing(m, k, LINES),
    ),
    "l1tex__average_t_sectors_per_request_pipe_lsu_{}.ratio": (
        "sectors per request of {}",
        "sector/request",
        lambda k, m: ratio(_passing(m, k, SECTORS), _passing(m, k, REQUESTS)),
    ),
    "l1tex__t_bytes_pipe_lsu_{}.sum": (
        "bytes in the sectors of {}",
        "byte",
        lambda k, m: 32 * _passing(m, k, SECTORS),
    ),
    "smsp__sass_data_bytes_{}.sum": (
        "distinct bytes that {} ask for",
        "byte",
        lambda k, m: _column(m, k, BYTES),
    ),
    "smsp__sass_average_data_bytes_per_sector_{}.pct": (
        "share of the bytes in the sectors of {} that was asked for",
        "%",
        lambda k, m: ratio(_column(m, k, BYTES), 32 * _own_sectors(m, k), 100),
    ),
    "smsp__sass_average_data_bytes_per_sector_{}.ratio": (
        "bytes asked for per sector of {}",
        "byte/sector",
        lambda k, m: ratio(_column(m, k, BYTES), _own_sectors(m, k)),
    ),
}

for _kind, _what in _VERBS.items():
    declare(
        Subject.ATOMICS if _kind in ("atom", "red") else Subject.GLOBAL,
        {
            name.format(f"mem_global_op_{_kind}"): (
                text.format(f"global {_what}"),
                unit,
                partial(formula, _kind),
            )
            for name, (text, unit, formula) in _ROWS.items()
        },
    )
declare(
    Subject.GLOBAL,
    {
        f"smsp__inst_executed_op_global_{kind}.sum": (
            f"warp instructions that are global {_VERBS[kind]}, those without acting lanes included",
            "inst",
            lambda m, k=kind: m.issued("global", k),
        )
        for kind in ("ld", "st")
    },
    machine=True,
)
