"""Global memory: requests to the first-level cache, the sectors and lines they touch, how full these are.

A request is a warp's instruction with at least one acting lane; a sector has 32 bytes, a line (tag) 128.
Bytes that several lanes ask for count once.
"""

from __future__ import annotations

from functools import partial

from ...records.profile import Subject
from .table import Measured, add, ratio

_VERBS = {
    "ld": "loads",
    "st": "stores",
    "atom": "atomics whose result is used",
    "red": "atomics whose result is not used",
    "ldgsts": "asynchronous copies to shared memory",
}
REQUESTS, SECTORS, LINES, BYTES = range(4)


def _column(m: Measured, kind: str, column: int) -> float:
    return m.memory("global", kind, column)


def _passing(m: Measured, kind: str, column: int) -> float:
    """What the first-level cache counts: asynchronous copies are loads, too."""
    return _column(m, kind, column) + (_column(m, "ldgsts", column) if kind == "ld" else 0)


def _share(m: Measured, kind: str) -> float:
    return ratio(_column(m, kind, BYTES), 32 * _column(m, kind, SECTORS), 100)


def _per_request(m: Measured, kind: str) -> float:
    return ratio(_passing(m, kind, SECTORS), _passing(m, kind, REQUESTS))


for _kind, _what in _VERBS.items():
    _subject = Subject.ATOMICS if _kind in ("atom", "red") else Subject.GLOBAL
    _pipe = f"pipe_lsu_mem_global_op_{_kind}"
    add(
        f"l1tex__t_requests_{_pipe}.sum",
        f"requests of global {_what}",
        _subject,
        "request",
        partial(_passing, kind=_kind, column=REQUESTS),
    )
    add(
        f"l1tex__t_sectors_{_pipe}.sum",
        f"32-byte sectors of global {_what}",
        _subject,
        "sector",
        partial(_passing, kind=_kind, column=SECTORS),
    )
    add(
        f"l1tex__t_set_accesses_{_pipe}.sum",
        f"128-byte lines of global {_what}, counted once a request",
        _subject,
        "",
        partial(_passing, kind=_kind, column=LINES),
    )
    add(
        f"l1tex__average_t_sectors_per_request_{_pipe}.ratio",
        f"sectors per request of global {_what}",
        _subject,
        "sector/request",
        partial(_per_request, kind=_kind),
    )
    add(
        f"l1tex__t_bytes_{_pipe}.sum",
        f"bytes in the sectors of global {_what}",
        _subject,
        "byte",
        lambda m, k=_kind: 32 * _passing(m, k, SECTORS),
    )
    add(
        f"smsp__sass_data_bytes_mem_global_op_{_kind}.sum",
        f"distinct bytes that global {_what} ask for",
        _subject,
        "byte",
        partial(_column, kind=_kind, column=BYTES),
    )
    add(
        f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{_kind}.pct",
        f"share of the bytes in the sectors of global {_what} that was asked for",
        _subject,
        "%",
        partial(_share, kind=_kind),
    )
    add(
        f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{_kind}.ratio",
        f"bytes asked for per sector of global {_what}",
        _subject,
        "byte/sector",
        lambda m, k=_kind: ratio(_column(m, k, BYTES), _column(m, k, SECTORS)),
    )
for _kind in ("ld", "st"):
    add(
        f"smsp__inst_executed_op_global_{_kind}.sum",
        f"warp instructions that are global {_VERBS[_kind]}, those without acting lanes included",
        Subject.GLOBAL,
        "inst",
        lambda m, k=_kind: m.issued("global", k),
        machine=True,
    )
