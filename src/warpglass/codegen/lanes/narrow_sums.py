"""Sums of narrow integers onto a wide one, as of bytes in an unrolled loop.

What each round adds is narrow, the sum of all rounds is not. Integers may be added in any order, so narrow
ones are added to each other first, as many as bounds allow, and only their sum is extended. Nobody needs the
sums in between, mostly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic
    from .narrow import NarrowVectors


class NarrowSums:
    """The sums that wide vectors are known to be."""

    def __init__(self, lanes: FastArithmetic, halves: NarrowVectors):
        self._lanes = lanes
        self._halves = halves
        self._sums: dict[str, tuple[Value, Value]] = {}  # a wide vector -> what was added to, and narrow ones

    def note(self, result: Value, name: str, operands: tuple[Value, ...]) -> str:
        """The vector of words that an operation on vectors gives, `result` or one that is found sooner."""
        narrow = self._halves.lower_half_of
        if name != "add" or narrow(result) is not None:
            return result.ir
        for term, onto in (operands, operands[::-1]):
            if narrow(term) is None:
                continue
            found, terms = result.ir, term
            if onto.ir in self._sums:
                start, before = self._sums[onto.ir]
                both = self._lanes.apply("add", before, term)
                if narrow(both) is not None:
                    onto, terms = start, both
                    found = self._lanes.emit("add", *self._lanes.vectors(start, both)).ir
            self._sums[found] = onto, terms
            return found
        return result.ir
