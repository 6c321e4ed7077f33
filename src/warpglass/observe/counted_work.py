"""From the tallies of a launch to its work: what a roofline asks for.

Belongs here: which operations, bytes and wavefronts count. Operations in half precision are those of the PTX,
since ptxas makes constants with HFMA2; of others the machine code's count, where divisions and roots are the
operations that they take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..models.caches import SECTOR, Traffic
from ..records.work import CountedWork
from .counting import Tally
from .metrics import METRICS

_FLOPS = {"fp64": "flop_count_dp", "fp32": "flop_count_sp"}
_HALVES = {"add": 1, "sub": 1, "mul": 1, "fma": 2}  # operations of one instruction
_PAIRS = frozenset(("f16x2", "bf16x2"))
_LINES_A_CLOCK = 4  # tags that the first level looks up at once
_PASS = 128


def work_of(
    tallies: Sequence[Tally],
    counters: Mapping[str, float],
    traffic: Traffic | None,
    pipes: Mapping[str, float],
) -> CountedWork:
    """The work of a launch with these counters; `traffic` of its caches, `pipes` of its warps by unit."""
    flops = {precision: METRICS[name].value(counters) for precision, name in _FLOPS.items()}
    flops["fp16"] = float(sum(map(_halves, tallies)))
    return CountedWork(
        flops=flops,
        bytes={} if traffic is None else _bytes(traffic),
        passes={"l1": sum(map(_passes, tallies)), "shared": counters["memory_l1_wavefronts_shared"]},
        instructions={**pipes, "issue": counters["smsp__inst_executed.sum"]},
        asked=float(sum(map(_asked, tallies))),
    )


def _halves(tally: Tally) -> int:
    item = tally.step.instruction
    if tally.step.match.row.unit != "fp16":
        return 0
    return tally.threads * _HALVES.get(item.opcode, 0) * (1 if _PAIRS.isdisjoint(item.modifiers) else 2)


def _bytes(traffic: Traffic) -> dict[str, float]:
    return {
        "l2": SECTOR * (traffic.l2_reads + traffic.l2_writes + traffic.l2_atomics),
        "dram": SECTOR * (traffic.dram_reads + traffic.dram_writes),
    }


def _passes(tally: Tally) -> float:
    """The fewest wavefronts of the first level for an instruction's global and local accesses."""
    return sum(
        max(row[0], row[2] / _LINES_A_CLOCK, row[3] / _PASS)
        for (space, _), row in tally.accesses.items()
        if space in ("global", "local")
    )


def _asked(tally: Tally) -> float:
    """Bytes of global memory that the threads load, each for itself."""
    access = tally.step.match.access
    if access is None:
        return 0.0
    own = sum(row[0] for (space, write), row in tally.accesses.items() if space == "global" and not write)
    all_ = sum(row[0] for row in tally.accesses.values())
    if access.space == "global" and access.kind == "load":
        return tally.threads * access.size
    return tally.threads * access.size * own / all_ if all_ else 0.0
