"""Which lessons a profile teaches: the ones that cost most, without those that another explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...models.kernel_time import LAUNCH, saved
from ...records.profile import Profile
from ..figures import format_seconds
from .facts import Facts
from .rules import LESSONS, Lesson

MOST = 3
_NO_TIME = 0.01  # share of the modelled time below which a cost is none
_SLIGHT = 0.06  # losses below this are not worth a word


@dataclass(frozen=True, slots=True)
class Advice:
    """One lesson of one launch.

    `loss` is the share of work that it costs, `file` and `line` are where ("" and 0: the launch as a whole).
    `seconds` is what it costs at most on the GPU that was counted for, by the model of kernel times; None
    where the launch has no modelled time, or the model does not know the lesson.
    """

    name: str
    loss: float
    number: str
    costs: str
    remedy: str
    file: str = ""
    line: int = 0
    seconds: float | None = None


def advise(profile: Profile, most: int = MOST, *, small: bool = False) -> tuple[Advice, ...]:
    """The lessons that matter most, the costliest first; none where all is well used.

    Of a launch at a `small` size that nobody chose for its own sake, lessons about the grid are left out.
    """
    facts = Facts(profile)
    losses = {one.name: (one, one.loss(facts)) for one in LESSONS if not (small and one.of_grid)}
    found = [(one, loss) for one, loss in losses.values() if loss > _SLIGHT]
    found.sort(key=lambda pair: -pair[1])
    hidden: set[str] = set()
    told: list[Advice] = []
    for one, loss in found:
        if one.name in hidden:
            continue
        hidden.update(name for name in one.hides if name in losses and losses[name][1] <= loss)
        told.append(_advice(one, loss, facts))
    return tuple(sorted(told, key=lambda one: _is_cheap(one, profile))[:most])


def _is_cheap(one: Advice, profile: Profile) -> bool:
    """Whether a lesson costs next to nothing of the modelled time; such ones come last."""
    modelled = profile.modelled
    if modelled is None or modelled.seconds is None:
        return False
    if one.seconds is None:
        return modelled.limiter == LAUNCH
    return one.seconds < _NO_TIME * modelled.seconds


def _advice(one: Lesson, loss: float, facts: Facts) -> Advice:
    file, line = _worst(one, facts)
    cost = _modelled(one, facts)
    return Advice(one.name, min(1.0, loss), one.number(facts), one.costs(facts), one.remedy, file, line, cost)


def _modelled(one: Lesson, facts: Facts) -> float | None:
    """Seconds of the modelled time that the waste takes; None where nobody knows."""
    modelled = facts.profile.modelled
    if modelled is None or modelled.seconds is None or not modelled.limits or not one.limiters:
        return None
    return saved(modelled.seconds, modelled.limits, one.wastes(facts))


def modelled_cost(one: Advice, profile: Profile) -> str:
    """What a lesson costs in modelled time, as a sentence; "" where that is not known."""
    modelled = profile.modelled
    if one.seconds is None or modelled is None or modelled.seconds is None:
        return ""
    whole = format_seconds(modelled.seconds)
    if _is_cheap(one, profile):
        return f"In modelled time it costs next to nothing of {whole}, limited by {modelled.limiter}."
    return f"In modelled time it costs up to {format_seconds(one.seconds)} of {whole}."


def _worst(one: Lesson, facts: Facts) -> tuple[str, int]:
    """The line that a lesson's cost is largest at."""
    if one.line is None:
        return "", 0
    costs = [(one.line(counts), line) for line, counts in facts.lines]
    most = max(costs, key=lambda pair: pair[0], default=None)
    return (most[1].file, most[1].line) if most is not None and most[0] > 0 else ("", 0)


def advice_record(profile: Profile, found: Sequence[Advice]) -> dict[str, Any]:
    """The advice on a launch as plain data, for JSON."""
    launch = {"kernel": profile.kernel, "grid": profile.grid, "block": profile.block, "model": profile.model}
    return {**launch, "advice": [asdict(one) for one in found]}
