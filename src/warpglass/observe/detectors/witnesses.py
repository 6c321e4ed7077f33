"""Findings of several runs of one launch in different orders, as one list: one finding for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...records.check import KINDS, Finding
from .detector import WARNING
from .explain import one_per_cause


def merged(first: Sequence[Finding], others: Iterable[tuple[int, Sequence[Finding]]]) -> tuple[Finding, ...]:
    """The findings of the first run, and those that others alone show, with the seed of the first of these.

    A race of equal values that is one of different values in another order is the latter.
    """
    found = {finding.cause: finding for finding in first}
    for seed, findings in others:
        for finding in findings:
            before = found.get(finding.cause)
            if before is None or (before.severity == WARNING != finding.severity):
                found[finding.cause] = replace(finding, seed=seed)
    if all(finding.seed is None for finding in found.values()):
        return tuple(first)
    return tuple(one_per_cause(sorted(found.values(), key=_rank)))


def _rank(finding: Finding) -> tuple[object, ...]:
    place = finding.source
    where = ("", 0) if place is None else (place.file, place.line)
    return finding.severity, finding.seed is not None, KINDS.index(finding.kind), where, finding.message
