"""Races of one cause as one finding: those that the same lines mend, or one line is to blame for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....records.check import Finding, Instance
from .remedies import ATOMIC, BLOCKS, Remedy

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Mended:
    """What mends races, by their keys; `together` makes one remedy of several that have one cause."""

    remedies: Mapping[Key, Remedy]
    together: Callable[[Sequence[Remedy]], Remedy]


def key_of(finding: Finding) -> Key:
    """What records of one finding have in common: kind, severity, lines and array."""
    lines = frozenset((str(finding.source), str(finding.other_source)))
    if finding.kind == "uninitialised-read":  # one load, wherever it is used
        lines = frozenset((str(finding.source),))
    return finding.kind, finding.severity, lines, finding.array


def one_per_remedy(findings: Sequence[Finding], mended: Mended) -> list[Finding]:
    """The findings with their hints, and the races of one cause joined."""
    known = {key: remedy for key, remedy in mended.remedies.items() if remedy.is_atomic}
    updated = {(one.array, one.source) for one in findings if key_of(one) in known}
    groups: dict[Key, list[tuple[Finding, Remedy | None]]] = {}
    swapped: dict[Key, Key] = {}  # two arrays that change places have one race between blocks
    for finding in findings:
        remedy = mended.remedies.get(key_of(finding))
        cause = None if remedy is None else remedy.cause
        if remedy is not None and {(finding.array, one) for one in finding.places[0]} <= updated:
            cause = (ATOMIC, finding.array)
        atomic = isinstance(cause, tuple) and cause[0] == ATOMIC  # which mends races of all kinds
        key = "" if atomic else finding.kind, finding.severity, cause or id(finding)
        if isinstance(cause, tuple) and cause[0] == BLOCKS:
            key = swapped.setdefault((finding.kind, finding.severity, finding.places[0]), key)
        groups.setdefault(key, []).append((finding, remedy))
    return [_joined(group, mended) for group in groups.values()]


def _joined(group: list[tuple[Finding, Remedy | None]], mended: Mended) -> Finding:
    """One finding for a group: that of the first lines, with the others as instances."""
    remedies = [remedy for _, remedy in group if remedy is not None]
    if not remedies:
        return group[0][0]
    remedy = mended.together(remedies)

    def rank(one: tuple[Finding, Remedy | None]) -> tuple[bool, int]:
        return (False, 0) if one[1] is None else (one[1].cause != remedy.cause, one[1].rank)

    (first, _), *others = sorted(group, key=rank)
    instances = tuple(
        Instance(one.source, one.other_source, one.array, one.index, one.count) for one, _ in others
    )
    count = sum(finding.count for finding, _ in group)
    return replace(first, count=count, hint=remedy.hint, fix=remedy.fix, instances=instances)
