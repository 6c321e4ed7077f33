"""What course notes say of a ladder's accesses: formulas, which a bench sets beside its counters, and errata.

Belongs here: the records, and the view that they make of a bench. The formulas themselves are each ladder's
(counts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..records.bench import Record, Row
from ..report.figures import LANGUAGES
from .view import Section, TextTable

LANES = 32
Metrics = Mapping[str, float]  # by nvprof's names


@dataclass(frozen=True, slots=True)
class Formula:
    """How many elements the threads of one rung read from global memory.

    `value` gives it for a size and a block. `counted` makes the same of a launch's metrics, the bytes of an
    element and the size.
    """

    text: str
    value: Callable[[int, int], int]
    counted: Callable[[Metrics, int, int], float]


@dataclass(frozen=True, slots=True)
class Erratum:
    """A formula or figure of the notes that is not right, and what is."""

    of: str
    notes: str
    right: str


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """Of a ladder: the formulas by rung, how the counters tell the same, and what the notes have wrong."""

    counted_as: str
    formulas: Mapping[str, Formula]
    errata: tuple[Erratum, ...] = ()

    def sections(self, record: Record) -> tuple[Section, ...]:
        """The formulas of the rungs that were counted, and the notes' errata; nothing if none was."""
        rows = tuple(
            self._cells(row, row.metrics)
            for row in record.rows
            if row.metrics is not None and row.rung in self.formulas
        )
        if not rows:
            return ()
        table = TextTable(("by formula", "counted", "formula", "rung", "lang"), rows, texts=3)
        errata = (f"{one.of}: the notes say {one.notes}, right is {one.right}" for one in self.errata)
        return (Section("Elements read from global memory", (table, f"counted: {self.counted_as}", *errata)),)

    def _cells(self, row: Row, metrics: Metrics) -> tuple[str, ...]:
        formula = self.formulas[row.rung]
        block = row.block if isinstance(row.block, int) else 0
        counted = formula.counted(metrics, np.dtype(row.dtype).itemsize, row.size)
        value = f"{formula.value(row.size, block):,}"
        return value, f"{counted:,.0f}", formula.text, row.rung, LANGUAGES[row.language]


def by_lanes(metrics: Metrics, itemsize: int, size: int) -> float:
    """Reads where all lanes take part in every load."""
    return metrics["global_load_requests"] * LANES


def by_bytes(metrics: Metrics, itemsize: int, size: int) -> float:
    """Reads where the lanes of a load want different elements."""
    return metrics["gld_requested_bytes"] / itemsize


def beside_a_mask(metrics: Metrics, itemsize: int, size: int) -> float:
    """Reads where lanes want different elements, and with each load goes one of a weight for all lanes."""
    return by_bytes(metrics, itemsize, size) - metrics["global_load_requests"] / 2
