"""The table of metrics: nvprof's names as formulas over counters of Nsight Compute.

A file of this folder declares the metrics of one subject with `metric(name, unit, text, terms)`: `terms`
names the counters and the numbers that they are multiplied with; a metric that is a quotient has `over`, too.
So a metric's definition can be shown, and its label is that of its least certain counter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...records.profile import Subject
from ..counters import COUNTERS

Terms = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Metric:
    """`scale` times the sum of `terms`, divided by the sum of `over` if there is one; 0 where that is 0."""

    name: str
    unit: str  # "" for counts, "%", "bytes", ...
    text: str
    terms: Terms
    over: Terms = field(default_factory=dict[str, float])
    scale: float = 1.0

    def value(self, counters: Mapping[str, float]) -> float:
        """The metric of a launch with these counters."""
        total = self.scale * _sum(self.terms, counters)
        if not self.over:
            return total
        divisor = _sum(self.over, counters)
        return total / divisor if divisor else 0.0

    @property
    def subject(self) -> Subject:
        """That of the first counter."""
        return COUNTERS[next(iter(self.terms))].subject

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters that it is made of."""
        return (*self.terms, *self.over)

    @property
    def formula(self) -> str:
        """The definition in Nsight Compute's names."""
        over = f" / ({_words(self.over)})" if self.over else ""
        scale = f"{self.scale:g} * " if self.scale != 1 else ""
        terms = _words(self.terms)
        return (
            f"{scale}({terms}){over}" if (scale or over) and len(self.terms) > 1 else f"{scale}{terms}{over}"
        )


def _sum(terms: Terms, counters: Mapping[str, float]) -> float:
    return sum(factor * counters[name] for name, factor in terms.items())


def _words(terms: Terms) -> str:
    return " + ".join(name if factor == 1 else f"{factor:g} * {name}" for name, factor in terms.items())


METRICS: dict[str, Metric] = {}


def metric(
    name: str, unit: str, text: str, terms: Terms | str, over: Terms | str | None = None, scale: float = 1.0
) -> None:
    """Declare a metric; a single counter may stand for its terms."""
    METRICS[name] = Metric(name, unit, text, _terms(terms), _terms(over or {}), scale)


def _terms(given: Terms | str) -> Terms:
    return {given: 1.0} if isinstance(given, str) else given
