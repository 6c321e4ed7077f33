"""What a bench of several devices found: a row for each operation and number of devices."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRow:
    """One operation on so many devices. `seconds` is the median of what the slowest rank took."""

    operation: str
    devices: int
    size: int  # elements of all shares together, or rows of a square matrix
    dtype: str
    seconds: float
    speedup: float  # over one device
    verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRecord:
    """All rows of a bench, and what the devices are called."""

    device: str
    rows: tuple[ScalingRow, ...]
    schema: int = SCHEMA

    @property
    def verified(self) -> bool:
        """Whether every result was right."""
        return all(row.verified for row in self.rows)

    def to_json(self) -> str:
        """The record as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"
