"""From the tallies of a launch to counters and metrics, for the whole launch and for each source line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..codegen import Probe
from ..models.caches import Geometry, Traffic
from ..models.memory_rules import MODERN, MemoryRules
from ..program import Program
from ..ptx import tree
from ..sass.accesses import Access
from ..sass.choices import MARK
from ..sass.counts import LineCounts, by_line
from ..sass.estimate import counters as machine_counters
from ..sass.translate import Translation
from .caches import CacheProbe
from .counters import COUNTERS, EXACT, MODELLED, PTX_LEVEL, Measured
from .counting import Counting, Rewritten, Rule, Tally, choose_rule
from .counting.leaders import LeaderProbe
from .metrics import METRICS
from .restructured import describe, gathered_lines, scattered_lines
from .warp_views import WarpViewProbe

# From the most certain to the least: a metric is as certain as its least certain counter.
_CERTAINTY = (EXACT, PTX_LEVEL, MODELLED)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Counters and metrics of a launch, how certain each is, and the non-zero counters of each line."""

    counters: Mapping[str, float]
    metrics: Mapping[str, float]
    labels: Mapping[str, str]
    lines: Mapping[tuple[str, int], Mapping[str, float]]
    notes: tuple[str, ...]  # what ptxas changed


@dataclass(frozen=True, slots=True)
class Sites:
    """By number of a step what first warps did, in runs and lanes; with whether it writes, the caches."""

    leaders: Mapping[int, tuple[int, int]]
    traffic: Mapping[tuple[int, bool], Traffic]


@dataclass(frozen=True, slots=True)
class Profiling:
    """The instrument of a profile: counting, the simulated caches if their geometry is given, warp views."""

    counting: Counting
    caches: Geometry | None
    views: bool = False

    def probes(self, program: Program) -> Sequence[Probe]:
        """The probes of all of them; those of the counting come first.

        With caches, the first warps are counted apart, as kernel times need them.
        """
        caches = () if self.caches is None else (LeaderProbe(), CacheProbe(self.caches))
        views = (WarpViewProbe(),) if self.views else ()
        return (*self.counting.probes(program), *caches, *views)

    def read(
        self, program: Program, probes: Sequence[Probe], totals: np.ndarray
    ) -> tuple[tuple[Tally, ...], Traffic | None]:
        """A tally for each instruction, and what the caches saw."""
        own = [p for p in probes if not isinstance(p, CacheProbe | LeaderProbe | WarpViewProbe)]
        simulated = next((probe for probe in probes if isinstance(probe, CacheProbe)), None)
        traffic = None if simulated is None else simulated.traffic(totals.tolist())
        return self.counting.read(program, own, totals), traffic

    def by_site(self, program: Program, probes: Sequence[Probe], totals: np.ndarray) -> Sites | None:
        """What kernel times need beside the tallies; None without caches."""
        leaders = next((probe for probe in probes if isinstance(probe, LeaderProbe)), None)
        simulated = next((probe for probe in probes if isinstance(probe, CacheProbe)), None)
        if leaders is None or simulated is None:
            return None
        words = totals.tolist()
        return Sites(leaders.steps(program, words), simulated.by_site(words))


def counting_of(translation: Translation | None, memory: MemoryRules = MODERN) -> Counting:
    """The counting of a kernel, told which accesses the machine code makes otherwise than the PTX."""
    if translation is None:
        return Counting(memory=memory)
    silent = {line for line, access in translation.accesses.items() if access.leader != line}
    wide = {
        (line, access.width, -dict(access.members)[line])
        for line, access in translation.accesses.items()
        if access.leader == line and (len(access.members) > 1 or _narrowed(access))
    }
    return Counting(Rewritten(frozenset(silent), frozenset(wide), gathered_lines(translation)), memory)


def _narrowed(access: Access) -> bool:
    """Whether a load takes only the first of the bytes, since nobody reads the others."""
    return access.access == "load" and 0 < access.width < access.size


def evaluate(
    program: Program,
    tallies: Sequence[Tally],
    translation: Translation | None,
    launch: Mapping[str, float],
    simulated: Mapping[str, float],
    memory: MemoryRules = MODERN,
) -> Numbers:
    """All counters and metrics.

    `launch` has what follows from the configuration alone, `simulated` what the simulated caches say,
    `memory` the rules that the tallies were counted by.
    """
    read = frozenset(name for block in program.blocks for step in block.all_steps for name in step.reads)
    machine = {} if translation is None else machine_counters(translation, line_counts(program, tallies))
    machine = {**machine, **simulated}
    tallies = [tally for tally in tallies if not any(name.startswith(MARK) for name in tally.step.writes)]
    scattered = scattered_lines(program, translation, tallies) if translation else frozenset[int]()
    whole = Measured(tuple(tallies), machine, {}, launch, translation is not None, read, scattered, memory)
    present = {name: counter for name, counter in COUNTERS.items() if counter.known(whole)}
    counters = {name: counter.value(whole) for name, counter in present.items()}
    labels = {name: counter.label(whole) for name, counter in present.items()}
    possible = {name: one for name, one in METRICS.items() if counters.keys() >= set(one.counters)}
    metrics = {name: metric.value(counters) for name, metric in possible.items()}
    for name, metric in possible.items():
        labels[name] = max((labels[one] for one in metric.counters), key=_CERTAINTY.index)
    lines: dict[tuple[str, int], Mapping[str, float]] = {}
    for place, own in sorted(_by_line(tallies).items()):
        part = Measured(tuple(own), {}, {}, {}, translation is not None, read, memory_rules=memory)
        values = {name: counter.value(part) for name, counter in COUNTERS.items() if counter.known(part)}
        lines[place] = {name: value for name, value in values.items() if value}
    notes = tuple(describe(program, translation, tallies)) if translation else ()
    return Numbers(counters, metrics, labels, lines, notes)


def with_times(numbers: Numbers, times: Mapping[str, float]) -> Numbers:
    """The numbers with those of a modelled time, and the metrics that are made of them."""
    found = {name: value for name, value in times.items() if name in COUNTERS}
    counters = {**numbers.counters, **found}
    metrics = {
        name: metric.value(counters)
        for name, metric in METRICS.items()
        if found.keys() & set(metric.counters) and counters.keys() >= set(metric.counters)
    }
    return replace(
        numbers,
        counters=counters,
        metrics={**numbers.metrics, **metrics},
        labels={**numbers.labels, **dict.fromkeys((*found, *metrics), MODELLED)},
    )


def line_counts(program: Program, tallies: Sequence[Tally]) -> LineCounts:
    """The tallies by PTX line."""
    rounds: dict[int, tuple[int, int]] = {}
    for tally in tallies:
        line = tally.step.instruction.line
        for (space, write), row in tally.accesses.items():
            if choose_rule(tally.step.match, space, write) == Rule.SHARED_CAS_LOOP:
                tries, lanes = rounds.get(line, (0, 0))
                rounds[line] = (tries + row[0], lanes + row[1])
    steps = {tally.step.number: (tally.issued, tally.threads, tally.divergent) for tally in tallies}
    return by_line(program, steps, rounds)


def _by_line(tallies: Sequence[Tally]) -> dict[tuple[str, int], list[Tally]]:
    found: dict[tuple[str, int], list[Tally]] = {}
    for tally in tallies:
        place = _author_line(tally.step.instruction.source)
        if place is not None:
            found.setdefault(place, []).append(tally)
    return found


def _author_line(source: tree.SourceLocation | None) -> tuple[str, int] | None:
    """The author's own line, if it is known."""
    return (source.author.file, source.author.line) if source is not None and source.author.line else None
