"""Local memory: arrays and spilled registers of threads; word w of 32 lanes is one line."""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, add, ratio

_VERBS = {"ld": "loads", "st": "stores"}
REQUESTS, SECTORS, LINES, BYTES = range(4)


def _column(m: Measured, kind: str, column: int) -> float:
    return m.memory("local", kind, column)


for _kind, _what in _VERBS.items():
    _pipe = f"pipe_lsu_mem_local_op_{_kind}"
    for _unit, _these, _number in (
        ("request", "requests", REQUESTS),
        ("sector", "32-byte sectors", SECTORS),
    ):
        add(
            f"l1tex__t_{_unit}s_{_pipe}.sum",
            f"{_these} of local {_what}",
            Subject.LOCAL,
            _unit,
            lambda m, k=_kind, c=_number: _column(m, k, c),
            rewritten=True,
        )
    add(
        f"l1tex__average_t_sectors_per_request_{_pipe}.ratio",
        f"sectors per request of local {_what}",
        Subject.LOCAL,
        "sector/request",
        lambda m, k=_kind: ratio(_column(m, k, SECTORS), _column(m, k, REQUESTS)),
        rewritten=True,
    )
    add(
        f"smsp__sass_average_data_bytes_per_sector_mem_local_op_{_kind}.pct",
        f"share of the bytes in the sectors of local {_what} that was asked for",
        Subject.LOCAL,
        "%",
        lambda m, k=_kind: ratio(_column(m, k, BYTES), 32 * _column(m, k, SECTORS), 100),
        rewritten=True,
    )
    add(
        f"smsp__inst_executed_op_local_{_kind}.sum",
        f"warp instructions that are local {_what}",
        Subject.LOCAL,
        "inst",
        lambda m, k=_kind: m.issued("local", k),
        machine=True,
    )
