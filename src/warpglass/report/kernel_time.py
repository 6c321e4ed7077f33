"""Modelled times in words: for the heading of a profile and the tables of a bench.

Belongs here: how a modelled time is said. It is never shown without that word, its GPU and its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..models.kernel_time.limiters import WORDS
from ..records.kernel_time import ModelledTime
from .figures import format_seconds

_NOTABLE = 1.05  # a factor below which two modelled times are alike


def modelled_sentence(one: ModelledTime) -> str:
    """The time, its interval and what limits it; or why there is none."""
    if one.seconds is None:
        return f"No modelled time on {one.name}: {one.failure}"
    time = f"{format_seconds(one.seconds)} ({interval(one)})"
    return f"Modelled time on {one.name}: {time}, limited by {one.limiter}"


def verdict(before: ModelledTime | None, after: ModelledTime | None) -> str:
    """Which of two launches is faster on their GPU, and because of which limiter; "" if that is not known."""
    if before is None or after is None or before.device != after.device:
        return ""
    for one in (before, after):
        if one.seconds is None:
            return f"No verdict on {one.name}: {one.failure}"
    assert before.seconds is not None
    assert after.seconds is not None
    ratio = before.seconds / after.seconds
    times = f"{format_seconds(before.seconds)} -> {format_seconds(after.seconds)}"
    head = f"On {after.name} (modelled) {times}: "
    if max(ratio, 1 / ratio) < _NOTABLE:
        return f"{head}no difference that the model would stand for; limited by {after.limiter}"
    better = "faster" if ratio > 1 else "slower"
    changed = max(
        before.limits.keys() | after.limits.keys(),
        key=lambda name: (
            (before.limits.get(name, 0.0) - after.limits.get(name, 0.0)) * (1 if ratio > 1 else -1)
        ),
    )
    old, new = (format_seconds(one.limits.get(changed, 0.0)) for one in (before, after))
    cause = f"{WORDS.get(changed, changed)} took {old}, now {new}"
    return f"{head}{max(ratio, 1 / ratio):.2f} times {better}, since {cause}; limited by {after.limiter}"


def ranking(times: Sequence[tuple[str, ModelledTime | None]]) -> list[str]:
    """Launches by their names, the fastest on their GPU first, with what limits each; [] if GPUs differ."""
    known = [(name, one) for name, one in times if one is not None]
    if len(known) < len(times) or len({one.device for _, one in known}) != 1:
        return []
    timed = sorted((one.seconds, name, one) for name, one in known if one.seconds is not None)
    lines = [f"On {known[0][1].name} (modelled), the fastest first:"] if timed else []
    for seconds, name, one in timed:
        ratio = seconds / timed[0][0]
        slower = f", {ratio:.2f} times as long" if ratio >= _NOTABLE else ""
        lines.append(
            f"  {name}: {format_seconds(seconds)} ({interval(one)}){slower}, limited by {one.limiter}"
        )
    return lines + [f"  {name}: {one.failure}" for name, one in known if one.seconds is None]


def interval(one: ModelledTime) -> str:
    """The least and the most that nine of ten kernels would take, as "20.1 to 36.7 us"."""
    low, high = format_seconds(one.low), format_seconds(one.high)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(unit) and high.partition(' ')[2] == unit else low} to {high}"
