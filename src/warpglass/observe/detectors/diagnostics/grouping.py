"""Findings of one cause as one: races that the same lines mend or one line is to blame for; unset arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
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
    """The findings with their hints, and those of one cause joined."""
    known = {key: remedy for key, remedy in mended.remedies.items() if remedy.is_atomic}
    updated = {(one.array, place) for one in findings if key_of(one) in known for place in one.places[0]}
    groups: dict[Key, list[tuple[Finding, Remedy | None]]] = {}
    group_of: dict[Key, Key] = {}  # by what else the findings of a group have in common
    for finding in findings:
        remedy = mended.remedies.get(key_of(finding))
        cause = None if remedy is None else remedy.cause
        if remedy is not None and {(finding.array, one) for one in finding.places[0]} <= updated:
            cause = (ATOMIC, finding.array)
        shared = _in_common(finding, remedy, cause)
        key = next((group_of[one] for one in shared if one in group_of), shared[0])
        group_of.update(dict.fromkeys(shared, key) | group_of)
        groups.setdefault(key, []).append((finding, remedy))
    return [_joined(group, mended) for group in groups.values()]


def _in_common(finding: Finding, remedy: Remedy | None, cause: Hashable) -> list[Key]:
    """What a finding has in common with others of its cause: one of these is enough."""
    if finding.kind == "uninitialised-read" and finding.array is not None:
        return [(finding.kind, finding.severity, finding.array)]  # nobody has set it, whoever reads it
    atomic = isinstance(cause, tuple) and cause[0] == ATOMIC  # which mends races of all kinds
    found: list[Key] = [("" if atomic else finding.kind, finding.severity, cause or id(finding))]
    if isinstance(cause, tuple) and cause[0] == BLOCKS:
        # Two arrays that change places have one race between blocks.
        found.append((finding.kind, finding.severity, finding.places[0]))
    if remedy is not None and remedy.turn is not None:
        found.append((finding.kind, finding.severity, finding.array, remedy.turn))
    return found


def _joined(group: list[tuple[Finding, Remedy | None]], mended: Mended) -> Finding:
    """One finding for a group: that of the first lines, with the others as instances."""
    remedies = [remedy for _, remedy in group if remedy is not None]
    remedy = mended.together(remedies) if remedies else Remedy(group[0][0].hint)

    def rank(one: tuple[Finding, Remedy | None]) -> tuple[bool, int]:
        return (False, 0) if one[1] is None else (one[1].cause != remedy.cause, one[1].rank)

    (first, _), *others = sorted(group, key=rank)
    instances = tuple(
        Instance(one.source, one.other_source, one.array, one.index, one.count) for one, _ in others
    )
    count = sum(finding.count for finding, _ in group)
    return replace(first, count=count, hint=remedy.hint, fix=remedy.fix, instances=instances)
