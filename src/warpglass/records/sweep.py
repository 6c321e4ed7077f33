"""What a sweep found: a row for each cell, as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ArgumentError
from .spelling import did_you_mean

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """One cell: where it lies on the axes, what became of it, and its numbers.

    `status` is "done", "wrong" (its result is not the expected one, or the checker has errors), "failed"
    (`text` says why), "lost" (its process died) or "ended" (it ran out of time). `numbers` are by name, in
    seconds, in the units of the metrics, or texts such as the device. `seconds` is what the cell took to do.
    """

    name: str
    axes: Mapping[str, Any]
    model: str
    status: str
    numbers: Mapping[str, Any]
    text: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """All cells of a sweep that have a result, in the order of its axes."""

    axes: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    schema: int = SCHEMA

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of all numbers that rows have."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.numbers))

    def best(
        self, number: str, largest: bool = False, by: Sequence[str] = ("model",)
    ) -> tuple[SweepRow, ...]:
        """For each value of `by` (axes, "model", "name") the row that is done with the least `number`.

        Raises ArgumentError if there is no such number or axis.
        """
        self.check_number(number)
        for key in by:
            if key not in (*self.axes, "model", "name"):
                near = did_you_mean(key, [*self.axes, "model", "name"])
                raise ArgumentError(f"there is no axis {key!r}{near}")
        chosen: dict[tuple[Any, ...], SweepRow] = {}
        for row in self.rows:
            value = row.numbers.get(number)
            if row.status != "done" or not isinstance(value, (int, float)):
                continue
            key = tuple(self.value(row, name) for name in by)
            kept = chosen.get(key)
            if kept is None or (value > kept.numbers[number] if largest else value < kept.numbers[number]):
                chosen[key] = row
        return tuple(chosen.values())

    def check_number(self, number: str) -> None:
        """Raise ArgumentError unless rows have a number of this name."""
        if number not in self.numbers:
            raise ArgumentError(
                f"no cell has a number {number!r}{did_you_mean(number, list(self.numbers))}; there is "
                f"{', '.join(self.numbers) or 'none'}"
            )

    @staticmethod
    def value(row: SweepRow, name: str) -> Any:
        """What a row has on an axis, or its model or name."""
        return {"model": row.model, "name": row.name, **row.axes}.get(name)

    def to_json(self) -> str:
        """The record as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"
