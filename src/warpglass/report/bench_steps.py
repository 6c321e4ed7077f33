"""One sentence for each step of a ladder, made from the counters: what changed, and why that is faster.

Belongs here: which differences between two rungs are worth a clause, and its words. Counters are of the GPU
that the bench counted for; times are of the device that ran, and an engine's time is never given as the
reason's effect on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
MOST = 3  # clauses in a sentence


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
    """One sentence per step, in the order of the rows; a language where the same changed is said with it."""
    kernels = [row for row in rows if row.metrics is not None and row.language not in LIBRARIES]
    steps: dict[tuple[str, str], list[tuple[Row, Row]]] = {}
    for before, after in pairwise(kernels):
        if before.language == after.language:
            steps.setdefault((before.rung, after.rung), []).append((before, after))
    for (old, new), pairs in steps.items():
        changes = [(after.language, _changes(before, after), _time(before, after)) for before, after in pairs]
        if len({changed.about for _, changed, _ in changes}) == 1:
            language, changed, time = changes[0]
            others = "".join(f", {LANGUAGES[other]} alike" for other, _, _ in changes[1:])
            yield f"{new} against {old}: {changed.text} ({LANGUAGES[language]}{_time_of(time)}{others})."
            continue
        for language, changed, time in changes:
            yield f"{new} against {old}: {changed.text} ({LANGUAGES[language]}{_time_of(time)})."


def _time_of(text: str) -> str:
    return f", {text}" if text else ""


def _time(before: Row, after: Row) -> str:
    """How the times compare, and whose times they are."""
    if not before.seconds or not after.seconds:
        return ""
    ratio = before.seconds / after.seconds
    place = "on the GPU" if after.label == "gpu" else "on the engine"
    if 1 / NOTABLE < ratio < NOTABLE:
        return f"as fast {place}"
    return f"{format_ratio(max(ratio, 1 / ratio))} times {'as fast' if ratio > 1 else 'slower'} {place}"


@dataclass(frozen=True, slots=True)
class _Changed:
    """The differences between two rungs in words, and which metrics they are about."""

    text: str
    about: frozenset[str]


def _changes(before: Row, after: Row) -> _Changed:
    """The differences that matter most: gains first, then what they cost."""
    old, new = before.metrics or {}, after.metrics or {}
    found: list[tuple[float, str, str]] = []  # gain, metric, words
    for clause in _CLAUSES:
        gain = _gain(clause, old, new)
        if gain is not None and abs(gain) > math.log(NOTABLE):
            found.append((gain * clause.weight, clause.metric, _words(clause, old, new)))
    if before.launches != after.launches and min(before.launches, after.launches) > 0:
        gain = math.log(before.launches / after.launches)
        found.append((gain, "launches", f"{before.launches} -> {after.launches} launches"))
    gains = [item for item in sorted(found, reverse=True) if item[0] > 0][:MOST]
    costs = [item for item in sorted(found) if item[0] < 0][: max(1, MOST - len(gains))]
    texts = [", ".join(text for _, _, text in part) for part in (gains, costs)]
    if not gains:
        text = f"nothing gained in what is counted{', at the price of ' if costs else ''}{texts[1]}"
    else:
        text = texts[0] + (f"; the price is {texts[1]}" if costs else "")
    return _Changed(text, frozenset(metric for _, metric, _ in (*gains, *costs)))


def _gain(clause: _Clause, old: Mapping[str, float], new: Mapping[str, float]) -> float | None:
    """Logarithm of the improvement, None where there is nothing to compare."""
    if clause.metric not in old or clause.metric not in new:
        return None
    if clause.over is not None and not (old[clause.over] and new[clause.over]):
        return None
    a, b = old[clause.metric], new[clause.metric]
    if a == b:
        return 0.0
    # One of a kind is nothing beside thousands: a count that appears or goes weighs as its logarithm.
    one: Callable[[float], float] = (lambda value: max(value, 1e-3)) if clause.share else (lambda v: v + 1.0)
    gain = math.log(one(a) / one(b))
    return -gain if clause.share else gain


def _words(clause: _Clause, metrics: Mapping[str, float], new_metrics: Mapping[str, float]) -> str:
    old, new = metrics[clause.metric], new_metrics[clause.metric]
    if clause.share:
        return f"{clause.words} {old:.1f} -> {new:.1f} %"
    if not new:
        return f"no {clause.words} ({short(old)} before)"
    if not old:
        return f"{short(new)} {clause.words}"
    ratio = max(old / new, new / old)
    direction = "fewer" if new < old else "more"
    much = f"{100 * abs(new / old - 1):.0f} %" if ratio < 2 else f"{format_ratio(ratio)} times"
    return f"{much} {direction} {clause.words}{_share_of(clause, metrics, new_metrics)}"


def _share_of(clause: _Clause, old: Mapping[str, float], new: Mapping[str, float]) -> str:
    """How well the sectors are used, where that has changed with their number."""
    if clause.efficiency is None or not _differs(old[clause.efficiency], new[clause.efficiency]):
        return ""
    return f" ({old[clause.efficiency]:.1f} -> {new[clause.efficiency]:.1f} % of them used)"


def _differs(old: float, new: float) -> bool:
    return max(old, new) > NOTABLE * min(old, new)
