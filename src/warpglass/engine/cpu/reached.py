"""What the accesses of a launch lead to: rows of its table of ranges, by the bases of their addresses.

An address belongs to the memory that its base is nearest to (privatisation.py); where a base says nothing, an
access may lead anywhere, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...codegen.context import RANGE_WORDS
from ...program.pointers import HEAP, MODULE
from .faults import Scene
from .privatisation import RangeTable

# Accesses that change nothing, and those that read nothing.
_READ_ONLY = ("load", "parameter", "matrix load", "fragment load")
_WRITE_ONLY = ("store", "parameter", "matrix store", "fragment store")


class Reached:
    """Which rows the steps of one launch's kernel reach."""

    def __init__(self, scene: Scene):
        prepared = scene.prepared
        self._bases = prepared.bases
        self._table = RangeTable(scene.ranges, (scene.laid.parameters, prepared.symbols.parameters))
        starts = set(prepared.module.words[::RANGE_WORDS])
        self._variables = {row for row, start in enumerate(scene.ranges[::RANGE_WORDS]) if start in starts}

    def rows(self, steps: Iterable[int]) -> tuple[set[int], bool]:
        """The rows that some steps may access; whether they cannot access others."""
        found = {base for number in steps for base in self._bases[number]}
        rows, known = self._table.reached(found)
        return rows | self._variables if MODULE in found else rows, known


def changed_in_place(scene: Scene) -> set[int] | None:
    """The rows that a launch may both read and write; None if it may write anything."""
    prepared, reached = scene.prepared, Reached(scene)
    kinds = {number: prepared.steps[number].match.row.access for number in prepared.bases}
    writing = {number for number, kind in kinds.items() if kind not in _READ_ONLY}
    stored, known = reached.rows(writing)
    if not known or any(HEAP in prepared.bases[number] for number in writing):
        return None
    read, known = reached.rows(number for number, kind in kinds.items() if kind not in _WRITE_ONLY)
    return stored & read if known else stored
