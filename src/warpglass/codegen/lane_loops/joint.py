"""Several lanes at once through a loop of known rounds, where each round waits for the one before it.

A lane's sum waits for itself: each addition needs the one before it. Lanes have nothing to do with each
other, so the processor has as many such chains under way as lanes go at once (several.py). In the order of
their rounds (order.py) those side by side have nearly as many. What the shortest leaves of the others' rounds
each does alone. Where there are too few lanes for that, each goes alone from the beginning (code.py).
"""

from __future__ import annotations

from .lane_rounds import LATER
from .several import SeveralLanes


def emit_joint(several: SeveralLanes) -> None:
    """Lanes go at once while there are enough of them; then each of the others goes to `{name}_lane`."""
    b, name, rounds, runners = several.b, several.name, several.rounds, several.runners
    now = b.load("i64", f"%{name}.turn")
    after = b.value(f"add i64 {now}, {len(runners)}")
    enough = b.value(f"icmp ule i64 {after}, {b.load('i64', f'%{name}.turns')}")
    b.branch(enough, f"{name}_several", f"{name}_lane")
    b.place(f"{name}_several")
    lanes = [rounds.in_order(now, away) for away in range(len(runners))]
    entered = [rounds.enter(lane) for lane in lanes]
    for away, (runner, lane) in enumerate(zip(runners, lanes, strict=True)):
        rounds.look_ahead(rounds.in_order(now, away + LATER))
        several.take(runner, lane)
    least = entered[0].last
    for one in entered[1:]:
        least = b.intrinsic("umin", "i64", least, one.last)
    several.go("0", least, list(zip(runners, entered, strict=True)))
    for runner, one in zip(runners, entered, strict=True):
        rest, over = b.label("rest"), b.label("over")
        b.branch(b.value(f"icmp eq i64 {least}, {one.last}"), over, rest)
        b.place(rest)
        several.go(least, one.last, [(runner, one)])
        b.jump(over)
        b.place(over)
    several.leave(runners, lanes, after, f"{name}_joint")
