"""What launches do, as records keep it: what a roofline divides by a GPU's rates.

Belongs here: the record, and how those of several launches add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWork:
    """The work of one launch, or of several together.

    `flops` are floating-point operations of threads by precision ("fp64", "fp32", "fp16"), a fused
    multiply-add as two; what ptxas makes constants with is none. `bytes` move at the levels "dram" and "l2"
    of the simulated caches, and have no entry without them. `passes` are wavefronts of "l1" (global and local
    memory) and "shared", each of up to 128 bytes; of "l1" the fewest that requests, bytes and lines allow.
    `instructions` are those of warps by the unit that runs them, "issue" all of them. `asked` are the bytes
    that threads load from global memory, each thread's counted, as course notes count accesses.
    """

    flops: Mapping[str, float] = field(default_factory=dict[str, float])
    bytes: Mapping[str, float] = field(default_factory=dict[str, float])
    passes: Mapping[str, float] = field(default_factory=dict[str, float])
    instructions: Mapping[str, float] = field(default_factory=dict[str, float])
    asked: float = 0.0

    @property
    def total_flops(self) -> float:
        """Operations of all precisions."""
        return sum(self.flops.values())

    @property
    def asked_intensity(self) -> float | None:
        """Operations per byte that threads load from global memory; None without either."""
        return self.total_flops / self.asked if self.asked and self.total_flops else None

    @property
    def dram_intensity(self) -> float | None:
        """Operations per byte that moves between DRAM and the caches; None without either."""
        moved = self.bytes.get("dram", 0.0)
        return self.total_flops / moved if moved and self.total_flops else None


def work_together(parts: Sequence[tuple[CountedWork, int]]) -> CountedWork:
    """The work of launches, each so many times; what one has no figure for, the sum has not either."""
    return CountedWork(
        flops=_sum([(one.flops, times) for one, times in parts]),
        bytes=_sum([(one.bytes, times) for one, times in parts]),
        passes=_sum([(one.passes, times) for one, times in parts]),
        instructions=_sum([(one.instructions, times) for one, times in parts]),
        asked=sum(times * one.asked for one, times in parts),
    )


def _sum(parts: Sequence[tuple[Mapping[str, float], int]]) -> dict[str, float]:
    common = set.intersection(*(set(part) for part, _ in parts)) if parts else set[str]()
    return {name: sum(times * part[name] for part, times in parts) for name in sorted(common)}
