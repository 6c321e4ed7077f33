"""What stands out in a profile: a row for each thing that makes kernels slow, with the line that is worst.

Belongs here: when a number is bad, and the words for it. A row's `cost` is its badness on one line, so that
the worst line can be named; what a remark says comes from the counters alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from ..records.profile import Profile

Counters = Mapping[str, float]

_SLIGHT = 0.05  # shares of badness below this are not worth a word

_INST = "smsp__inst_executed.sum"
_LANES = "smsp__thread_inst_executed.sum"
_DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
_BRANCHES = "smsp__sass_branch_targets.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that stands out: a heading, a sentence, and "file:line" of the worst line ("" if none)."""

    heading: str
    text: str
    worst: str


@dataclass(frozen=True, slots=True)
class _Row:
    heading: str
    share: Callable[[Counters], float]  # how bad, from 0 (fine) to 1
    text: Callable[[Counters], str]
    cost: Callable[[Counters], float]  # on one line


def _get(counters: Counters, name: str) -> float:
    return counters.get(name, 0.0)


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


def _sectors(counters: Counters, kind: str) -> float:
    return _get(counters, f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum")


def _bytes(counters: Counters, kind: str) -> float:
    return _get(counters, f"smsp__sass_data_bytes_mem_global_op_{kind}.sum")


def _requests(counters: Counters, kind: str) -> float:
    return _get(counters, f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum")


def _wasted(counters: Counters, kind: str) -> float:
    return 32 * _sectors(counters, kind) - _bytes(counters, kind)


def _uncoalesced(kind: str, what: str) -> _Row:
    def share(c: Counters) -> float:
        """Of all sectors that move, so that one odd store does not count."""
        return _ratio(_wasted(c, kind), 32 * (_sectors(c, "ld") + _sectors(c, "st")))

    def text(c: Counters) -> str:
        used = _ratio(_bytes(c, kind), _sectors(c, kind))
        each = _ratio(_sectors(c, kind), _requests(c, kind))
        return (
            f"of every 32-byte sector that global {what} move, {used:.3g} bytes are asked for; a request "
            f"takes {each:.3g} sectors. Let neighbouring threads use neighbouring addresses."
        )

    return _Row(f"Uncoalesced {what}", share, text, lambda c: _wasted(c, kind))


def _idle(c: Counters) -> float:
    return 32 * _get(c, _INST) - _get(c, _LANES)


_ROWS = (
    _uncoalesced("ld", "loads"),
    _uncoalesced("st", "stores"),
    _Row(
        "Bank conflicts",
        lambda c: _ratio(_get(c, _CONFLICTS), _get(c, _WAVES)),
        lambda c: (
            f"{_get(c, _CONFLICTS):,.0f} of {_get(c, _WAVES):,.0f} passes over shared memory are repeats: "
            "threads of a warp want different words of one bank. Pad rows, or let neighbouring threads use "
            "neighbouring words."
        ),
        lambda c: _get(c, _CONFLICTS),
    ),
    _Row(
        "Divergence",
        lambda c: _ratio(_get(c, _DIVERGENT), _get(c, _BRANCHES)),
        lambda c: (
            f"at {_get(c, _DIVERGENT):,.0f} of {_get(c, _BRANCHES):,.0f} branches the threads of a warp "
            "part, and the two sides run one after the other. Let whole warps decide alike."
        ),
        lambda c: _get(c, _DIVERGENT),
    ),
    _Row(
        "Idle lanes",
        lambda c: _ratio(_idle(c), 32 * _get(c, _INST)) - 0.15,  # a tail here and there is no matter
        lambda c: (
            f"{_ratio(_get(c, _LANES), _get(c, _INST)):.3g} of the 32 lanes of a warp are active per "
            "instruction: the others have left, wait at a branch, or never were."
        ),
        _idle,
    ),
    _Row(
        "Local memory",
        lambda c: _ratio(_local(c), _local(c) + _sectors(c, "ld") + _sectors(c, "st")),
        lambda c: (
            f"{_local(c):,.0f} sectors of local memory move: arrays of a thread that are indexed by a "
            "variable, or registers that did not suffice."
        ),
        lambda c: _local(c),
    ),
)


def _local(counters: Counters) -> float:
    return sum(_get(counters, f"l1tex__t_sectors_pipe_lsu_mem_local_op_{kind}.sum") for kind in ("ld", "st"))


def remarks(profile: Profile) -> Iterator[Remark]:
    """What stands out in a profile, with the worst line of each."""
    for row in _ROWS:
        if row.share(profile.counters) > _SLIGHT:
            costs = [
                (row.cost(one.counters), f"{PurePath(one.file).name}:{one.line}") for one in profile.lines
            ]
            worst = max(costs, default=(0.0, ""))
            yield Remark(row.heading, row.text(profile.counters), worst[1] if worst[0] > 0 else "")
    if profile.occupancy and profile.occupancy["share"] < 0.5:
        limiting = " and ".join(profile.occupancy["limiting"])
        yield Remark(
            "Low occupancy",
            f"{100 * profile.occupancy['share']:.4g} % of the warps that a multiprocessor can hold fit, "
            f"limited by {limiting}; `warpglass occupancy` shows what would raise it.",
            "",
        )
