"""Local memory: arrays and spilled registers of threads; word w of 32 lanes is one line."""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, declare, ratio

_VERBS = {"ld": "loads", "st": "stores"}
REQUESTS, SECTORS, _, BYTES = range(4)


def _column(m: Measured, kind: str, column: int) -> float:
    return m.memory("local", kind, column)


for _kind, _what in _VERBS.items():
    _pipe = f"pipe_lsu_mem_local_op_{_kind}"
    declare(
        Subject.LOCAL,
        {
            f"l1tex__t_requests_{_pipe}.sum": (
                f"requests of local {_what}",
                "request",
                lambda m, k=_kind: _column(m, k, REQUESTS),
            ),
            f"l1tex__t_sectors_{_pipe}.sum": (
                f"32-byte sectors of local {_what}",
                "sector",
                lambda m, k=_kind: _column(m, k, SECTORS),
            ),
            f"l1tex__average_t_sectors_per_request_{_pipe}.ratio": (
                f"sectors per request of local {_what}",
                "sector/request",
                lambda m, k=_kind: ratio(_column(m, k, SECTORS), _column(m, k, REQUESTS)),
            ),
            f"smsp__sass_average_data_bytes_per_sector_mem_local_op_{_kind}.pct": (
                f"share of the bytes in the sectors of local {_what} that was asked for",
                "%",
                lambda m, k=_kind: ratio(_column(m, k, BYTES), 32 * _column(m, k, SECTORS), 100),
            ),
        },
        rewritten=True,
    )
    declare(
        Subject.LOCAL,
        {
            f"smsp__inst_executed_op_local_{_kind}.sum": (
                f"warp instructions that are local {_what}",
                "inst",
                lambda m, k=_kind: m.issued("local", k),
            )
        },
        machine=True,
    )
