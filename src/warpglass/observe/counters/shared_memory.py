"""Shared memory: wavefronts, which are passes over its 32 banks of 4 bytes, and the conflicts among them.

Lanes that want different words of one bank need one pass each; lanes that want the same word share one.
Accesses of 8 bytes are served by half warps, of 16 bytes by quarters. The hardware's own counters also have
passes that were lost to other clients of the same memory; here the addresses alone decide.
"""

from __future__ import annotations

from ...records.profile import Subject
from .table import Measured, Row, declare, ratio

_VERBS = {"ld": ("ld", "ldsm"), "st": ("st",), "atom": ("atom", "red"), "copy": ("ldgsts",)}
IDEAL, WAVEFRONTS, _, BYTES, CONFLICTS = range(5)
_ALL = tuple(_VERBS)
_WORDS = {"ld": "loads", "st": "stores", "atom": "atomics"}


def _column(m: Measured, verbs: tuple[str, ...], column: int) -> float:
    return sum(m.memory("shared", kind, column) for name in verbs for kind in _VERBS[name])


def _bytes(m: Measured, verbs: tuple[str, ...]) -> float:
    """Distinct bytes; those of matrices are in the sum of all, but not in that of loads."""
    all_ = _column(m, verbs, BYTES)
    return all_ if len(verbs) > 1 else all_ - m.memory("shared", "ldsm", BYTES) * (verbs == ("ld",))


def _declare(suffix: str, what: str, verbs: tuple[str, ...]) -> None:
    wavefronts: Row = f"wavefronts of shared {what}", "", lambda m: _column(m, verbs, WAVEFRONTS)
    declare(
        Subject.SHARED,
        {f"l1tex__data_pipe_lsu_wavefronts_mem_shared{suffix}.sum": wavefronts},
        rewritten=True,
        modelled=not suffix,  # the hardware adds passes of shuffles, barriers and reads of thread indices
    )
    declare(
        Subject.SHARED,
        {
            f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared{suffix}.sum": (
                f"wavefronts of shared {what} beyond those that they need without bank conflicts",
                "",
                lambda m: _column(m, verbs, CONFLICTS),
            ),
            f"smsp__sass_data_bytes_mem_shared{suffix}.sum": (
                f"distinct bytes that shared {what} ask for",
                "byte",
                lambda m: _bytes(m, verbs),
            ),
        },
        rewritten=True,
    )


_declare("", "loads, stores, atomics and asynchronous copies", _ALL)
for _verb, _what in _WORDS.items():
    _declare(f"_op_{_verb}", _what, (_verb,))
    declare(
        Subject.SHARED,
        {
            f"smsp__inst_executed_op_shared_{_verb}.sum": (
                f"warp instructions that are shared {_what}, those without acting lanes included",
                "inst",
                lambda m, v=_verb: sum(m.issued("shared", kind) for kind in _VERBS[v]),
            )
        },
        machine=True,
    )
declare(
    Subject.SHARED,
    {
        "memory_l1_wavefronts_shared": (
            "wavefronts of shared memory by the addresses alone",
            "",
            lambda m: _column(m, _ALL, WAVEFRONTS),
        ),
        "memory_l1_wavefronts_shared_ideal": (
            "wavefronts that shared memory would need without bank conflicts",
            "",
            lambda m: _column(m, _ALL, IDEAL),
        ),
        "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct": (
            "share of the 128 bytes a wavefront that was asked for",
            "%",
            lambda m: ratio(_column(m, _ALL, BYTES), 128 * _column(m, _ALL, WAVEFRONTS), 100),
        ),
        "smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio": (
            "bytes asked for per wavefront of shared memory",
            "byte/wavefront",
            lambda m: ratio(_column(m, _ALL, BYTES), _column(m, _ALL, WAVEFRONTS)),
        ),
    },
    rewritten=True,
)
