"""What a program had done and what it called, summed up by name: the rows of nvprof's summary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

GPU, API = "GPU activities", "API calls"
LIBRARY = "On the host"  # functions of virtual libraries (libraries/)
_ORDER = (GPU, API, LIBRARY)


@dataclass(frozen=True, slots=True)
class Activity:
    """Calls of one name of a kind (GPU, API or LIBRARY); `total`, `least` and `most` are seconds."""

    kind: str
    name: str
    calls: int
    total: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """Seconds of a call on average."""
        return self.total / self.calls


def summed(found: Iterable[Activity]) -> list[Activity]:
    """One row for each kind and name, the longest first within a kind."""
    rows: dict[tuple[str, str], Activity] = {}
    for one in found:
        before = rows.get((one.kind, one.name))
        if before is not None:
            one = Activity(
                one.kind,
                one.name,
                before.calls + one.calls,
                before.total + one.total,
                min(before.least, one.least),
                max(before.most, one.most),
            )
        rows[one.kind, one.name] = one
    return sorted(rows.values(), key=lambda one: (_ORDER.index(one.kind), -one.total))
