"""One finding for each cause: what follows from another finding is not told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ....records.check import KINDS, Finding, Place, find_cause
from .recorded import ERROR, WARNING

RACES = ("shared-race", "global-race", "warp-race")
_FOLLOWING = ("uninitialised-read", "cluster-memory")  # where the order is missing that would prevent them
_ASTRAY = ("out-of-bounds", "misaligned")
_WIDTH = {"warp-race": 0, "global-race": 1, "shared-race": 2}  # what serves the wider one serves the others


def one_per_cause(findings: list[Finding]) -> list[Finding]:
    """Drop what follows from another finding.

    An undefined value is read because of a race if its line or array races, and so is another block reached
    too early; the same value is written by two at a line where different ones race, too; one order is missing
    between lanes of a warp and between warps.
    Where a barrier is not met by all, what it should have ordered races. An index that leaves its array, or
    that is no multiple of the access, may also be another thread's.
    """
    astray = {(finding.array, finding.source) for finding in findings if finding.kind in _ASTRAY}
    findings = [finding for finding in findings if not _goes_astray(finding, astray)]
    findings = _without_consequences(findings)
    races = [finding for finding in findings if finding.kind in RACES]
    masks = [finding for finding in findings if finding.kind == "sync-mask"]
    hurt = {
        (array, place)
        for finding in races
        for array in finding.arrays
        for pair in finding.places
        for place in pair
    }
    kept: list[Finding] = []
    for finding in findings:
        if finding.kind in _FOLLOWING and (finding.array, finding.source) in hurt:
            continue
        if finding.kind in RACES and any(_covers(other, finding) for other in races):
            continue
        if finding.kind == "warp-race" and any(_meet(finding, mask) for mask in masks):
            continue
        kept.append(finding)
    return kept


def _goes_astray(finding: Finding, astray: set[tuple[str | None, Place | None]]) -> bool:
    """Whether an access that goes wrong elsewhere is one of those of a race, or finds nothing set."""
    if finding.kind not in (*RACES, "uninitialised-read"):
        return False
    return all(
        any((array, place) in astray for array in finding.arrays for place in pair if place)
        for pair in finding.places
    )


def _without_consequences(findings: list[Finding]) -> list[Finding]:
    """Drop what follows from barriers that threads come to separately.

    Where a warp's lanes part, those that go on come to another barrier than the other warps, or to none.
    Behind the first barrier that threads miss they are out of step at all further ones. Compilers make copies
    of a loop's turn: lanes that leave it, and lanes in another turn, miss one barrier of the text.
    """
    apart = [finding for finding in findings if finding.kind == "barrier-divergence"]
    parted = {finding.source for finding in apart if _within_warp(finding)}
    apart = [one for one in apart if _within_warp(one) or _is_clear_of(one, parted)]
    first = min((one.epoch for one in apart if one.epoch is not None), default=None)
    apart = [one for one in apart if first is None or one.epoch is None or one.epoch <= first]
    told = {one.source: one for one in reversed(apart) if _within_warp(one)}
    apart = [one for one in apart if not _within_warp(one) or told[one.source] is one]
    orders_nothing = any(one.severity == ERROR for one in apart)
    return [
        finding
        for finding in findings
        if (finding.kind != "barrier-divergence" or finding in apart)
        and not (orders_nothing and _needs_barriers(finding))
        and not (apart and finding.kind == "cluster-memory")
    ]


def _within_warp(finding: Finding) -> bool:
    return (finding.block, finding.warp) == (finding.other_block, finding.other_warp)


def _is_clear_of(finding: Finding, places: set[Place | None]) -> bool:
    return places.isdisjoint((finding.source, finding.other_source))


def _needs_barriers(finding: Finding) -> bool:
    """Whether a barrier that threads come to separately may be why: it orders nothing then."""
    within = finding.kind in RACES and finding.block == finding.other_block
    return within or finding.kind == "uninitialised-read"


def _covers(one: Finding, other: Finding) -> bool:
    """Whether what removes one race removes the other: the barrier for threads further apart serves both.

    Two races of the same lines and array are told once, as different values rather than as the same.
    """
    if one is other:
        return False
    same = {one.source, one.other_source} == {other.source, other.other_source} and one.array == other.array
    if same and one.severity != other.severity:
        return one.severity == ERROR
    wider = _WIDTH[one.kind] > _WIDTH[other.kind] and other.block == other.other_block
    return wider and (same or (one.severity == ERROR and _meet(one, other)))


def _meet(one: Finding, other: Finding) -> bool:
    """Whether one barrier can stand between the lines of both findings; none can within one line's update."""
    if other.source == other.other_source and one.array == other.array:
        return False
    spans: list[tuple[int, int]] = []
    files: set[str] = set()
    for finding in (one, other):
        places = [place for place in (finding.source, finding.other_source) if place is not None]
        if not places:
            return False
        files.update(place.file for place in places)
        spans.append((min(place.line for place in places), max(place.line for place in places)))
    (first, last), (start, end) = spans
    return len(files) == 1 and max(first, start) <= min(last, end)


# -------------------------------------------------------------------------------------------- several runs
def merged(first: Sequence[Finding], others: Iterable[tuple[int, Sequence[Finding]]]) -> tuple[Finding, ...]:
    """The findings of the first run, and those that others alone show, with the seed of the first of these.

    A race of equal values that is one of different values in another order is the latter.
    """
    found = list(first)
    for seed, findings in others:
        for finding in findings:
            number = find_cause(found, finding)
            if number is None:
                found.append(replace(finding, seed=seed))
            elif found[number].severity == WARNING != finding.severity:
                found[number] = replace(finding, seed=seed)
    if all(finding.seed is None for finding in found):
        return tuple(first)
    return tuple(one_per_cause(sorted(found, key=_rank)))


def _rank(finding: Finding) -> tuple[object, ...]:
    place = finding.source
    where = ("", 0) if place is None else (place.file, place.line)
    return finding.severity, finding.seed is not None, KINDS.index(finding.kind), where, finding.message
