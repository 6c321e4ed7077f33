"""One sentence for each step of a ladder, made from the counters: what changed, and why that is faster.

Belongs here: which differences between two rungs are worth a clause, and its words. Counters are of the GPU
that the bench counted for; times are of the device that ran, and an engine's time is never given as the
reason's effect on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import fill

from rich.console import Console
from rich.text import Text

from ..records.bench import Row
from .figures import LANGUAGES, LIBRARIES, format_ratio
from .profile_lines import short

READING_WIDTH = 110
NOTABLE = 1.05  # a factor below which a difference is not worth a word
ALIKE = 1.02  # a factor up to which two languages' numbers are told as one
_SMALL = 0.01
MOST = 3  # counts in a sentence; shares are few, and have room beside them


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a metric's change is called. `amount` metrics are better when small, shares when large."""

    metric: str
    words: str
    share: bool = False
    weight: float = 1.0  # how much of a kernel's time such a change usually decides
    efficiency: str | None = None  # the share of it that is used
    over: str | None = None  # a count without which the share means nothing


_CLAUSES = (
    _Clause("gld_transactions", "sectors loaded", weight=1.5, efficiency="gld_efficiency"),
    _Clause("gst_transactions", "sectors stored", weight=1.5, efficiency="gst_efficiency"),
    _Clause("atomic_transactions", "atomic transactions", weight=1.5),
    _Clause("shared_bank_conflicts", "bank conflicts", weight=1.2),
    _Clause("shared_load_transactions", "wavefronts of shared loads"),
    _Clause("shared_store_transactions", "wavefronts of shared stores"),
    _Clause("inst_executed", "instructions"),
    _Clause("warp_execution_efficiency", "lanes busy", share=True, weight=0.8),
    _Clause("branch_efficiency", "branches that do not diverge", share=True, weight=0.8, over="branch"),
    _Clause("theoretical_occupancy", "occupancy", share=True, weight=0.5),
)


def print_steps(rows: Sequence[Row], console: Console) -> None:
    """Print a sentence for every two neighbouring rungs that were counted; nothing if none were."""
    sentences = list(step_sentences(rows))
    if not sentences:
        return
    console.print()
    console.print(Text("What each step changes", style="bold"))
    width = min(READING_WIDTH, console.width)
    for sentence in sentences:
        console.print(Text(fill(sentence, width, subsequent_indent="  ", break_on_hyphens=False)))


def step_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """One sentence per step, in the order of the rows; a language with the same numbers is said with it."""
    kernels = [row for row in rows if row.metrics is not None and row.language not in LIBRARIES]
    steps: dict[tuple[str, str], list[tuple[Row, Row]]] = {}
    for before, after in pairwise(kernels):
        if before.language == after.language:
            steps.setdefault((before.rung, after.rung), []).append((before, after))
    for (old, new), pairs in steps.items():
        told: list[tuple[_Changed, list[tuple[Row, Row]]]] = []
        for pair in pairs:
            changed = _changes(*pair)
            same = next((which for one, which in told if one.like(changed)), None)
            if same is None:
                told.append((changed, [pair]))
            else:
                same.append(pair)
        for changed, which in told:
            yield f"{new} against {old}: {changed.text} ({_times(which)})."


def _times(pairs: Sequence[tuple[Row, Row]]) -> str:
    """Each language with its time; one whose time is the first's, too, is alike."""
    said: list[str] = []
    first = _speedup(*pairs[0])
    for before, after in pairs:
        language, time, ratio = LANGUAGES[after.language], _time(before, after), _speedup(before, after)
        if said and (first == ratio or (first and ratio and not _differs(first, ratio))):
            said[-1] += f", {language} alike"
        else:
            said.append(f"{language}, {time}" if time else language)
    return "; ".join(said)


def _speedup(before: Row, after: Row) -> float | None:
    return before.seconds / after.seconds if before.seconds and after.seconds else None


def _time(before: Row, after: Row) -> str:
    """How the times compare, and whose times they are."""
    ratio = _speedup(before, after)
    if ratio is None:
        return ""
    place = "on the GPU" if after.label == "gpu" else "on the engine"
    if 1 / NOTABLE < ratio < NOTABLE:
        return f"as fast {place}"
    return f"{format_ratio(max(ratio, 1 / ratio))} times {'as fast' if ratio > 1 else 'slower'} {place}"


@dataclass(frozen=True, slots=True)
class _Change:
    """One difference: how much of a gain it is, in words, and the numbers that these tell."""

    metric: str
    gain: float
    text: str
    numbers: tuple[float, ...]
    share: bool = False

    def like(self, other: _Change) -> bool:
        """Whether the words hold for another's numbers, too."""
        same = self.metric == other.metric and len(self.numbers) == len(other.numbers)
        return same and not any(
            _differs(one, two, ALIKE) for one, two in zip(self.numbers, other.numbers, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Changed:
    """The differences between two rungs that matter most: gains, and what they cost."""

    gains: tuple[_Change, ...]
    costs: tuple[_Change, ...]

    @property
    def text(self) -> str:
        """All of them in words."""
        gains, costs = (", ".join(one.text for one in part) for part in (self.gains, self.costs))
        if not gains:
            return f"nothing gained in what is counted{', at the price of ' if costs else ''}{costs}"
        return gains + (f"; the price is {costs}" if costs else "")

    def like(self, other: _Changed) -> bool:
        """Whether one sentence tells both."""
        mine, others = ({one.metric: one for one in (*x.gains, *x.costs)} for x in (self, other))
        return mine.keys() == others.keys() and all(
            one.like(others[metric]) and (one.gain > 0) == (others[metric].gain > 0)
            for metric, one in mine.items()
        )


def _changes(before: Row, after: Row) -> _Changed:
    """The differences that matter most. Counts do not take the place of shares, however large they are."""
    old, new = before.metrics or {}, after.metrics or {}
    found: list[_Change] = []
    for clause in _CLAUSES:
        gain = _gain(clause, old, new)
        if gain is not None and abs(gain) > math.log(NOTABLE):
            text, numbers = _words(clause, old, new)
            found.append(_Change(clause.metric, gain * clause.weight, text, numbers, clause.share))
    if before.launches != after.launches and min(before.launches, after.launches) > 0:
        gain = math.log(before.launches / after.launches)
        text = f"{before.launches} -> {after.launches} launches"
        found.append(_Change("launches", gain, text, (before.launches, after.launches)))
    found.sort(key=lambda one: -abs(one.gain))
    gains, costs = ([one for one in found if (one.gain > 0) == good] for good in (True, False))
    room = {True: MOST, False: max(1, MOST - sum(not one.share for one in gains))}
    return _Changed(*(_chosen(part, room[good]) for part, good in ((gains, True), (costs, False))))


def _chosen(changes: Sequence[_Change], room: int) -> tuple[_Change, ...]:
    """All shares, and as many counts as there is room for."""
    counts = [one for one in changes if not one.share][:room]
    return tuple(one for one in changes if one.share or one in counts)


def _gain(clause: _Clause, old: Mapping[str, float], new: Mapping[str, float]) -> float | None:
    """Logarithm of the improvement, None where there is nothing to compare."""
    if clause.metric not in old or clause.metric not in new:
        return None
    if clause.over is not None and not (old[clause.over] and new[clause.over]):
        return None
    a, b = old[clause.metric], new[clause.metric]
    if a == b:
        return 0.0
    if clause.share:
        return math.log(max(b, 1e-3) / max(a, 1e-3))
    # A count that appears or goes has no ratio: it weighs as what it adds to a small part of instructions.
    base = 0.0 if a and b else max(1.0, _SMALL * max(old["inst_executed"], new["inst_executed"]))
    return math.log((a + base) / (b + base))


def _words(
    clause: _Clause, metrics: Mapping[str, float], new_metrics: Mapping[str, float]
) -> tuple[str, tuple[float, ...]]:
    """A change in words, and the numbers in them."""
    old, new = metrics[clause.metric], new_metrics[clause.metric]
    if clause.share:
        return f"{clause.words} {old:.1f} -> {new:.1f} %", (old, new)
    if not new:
        return f"no {clause.words} ({short(old)} before)", (old, new)
    if not old:
        return f"{short(new)} {clause.words}", (old, new)
    ratio = max(old / new, new / old)
    direction = "fewer" if new < old else "more"
    much = f"{100 * abs(new / old - 1):.0f} %" if ratio < 2 else f"{format_ratio(ratio)} times"
    used, shares = _share_of(clause, metrics, new_metrics)
    return f"{much} {direction} {clause.words}{used}", (new / old, *shares)


def _share_of(
    clause: _Clause, old: Mapping[str, float], new: Mapping[str, float]
) -> tuple[str, tuple[float, ...]]:
    """How well the sectors are used, where that has changed with their number."""
    if clause.efficiency is None or not _differs(old[clause.efficiency], new[clause.efficiency]):
        return "", ()
    shares = old[clause.efficiency], new[clause.efficiency]
    return f" ({shares[0]:.1f} -> {shares[1]:.1f} % of them used)", shares


def _differs(old: float, new: float, factor: float = NOTABLE) -> bool:
    return max(old, new) > factor * min(old, new)
