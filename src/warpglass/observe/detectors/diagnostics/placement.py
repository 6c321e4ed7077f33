"""Where a missing barrier belongs: a line that all threads of the block, or lanes of the warp, come to.

Two accesses that nothing orders are connected by a way without a barrier: forward, from the earlier line to
the later one, or around a loop, from the end of its body to the start. The barrier belongs on that way, in
the innermost list of statements that holds both, if no condition around it parts threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....records.check import Place
from .line_facts import LineFacts
from .outline import ALWAYS, Barriers, Way, inside, outline_of, way_to
from .statement import Statement


@dataclass(frozen=True, slots=True)
class Point:
    """Where to add a line: in front of what begins at `place`, or behind what ends there.

    `loop` is the first line of the loop at the end of whose body that is.
    """

    place: Place
    behind: bool = False
    loop: int | None = None
    braced: bool = True  # the loop's body, so that a line can be added as it stands


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no barrier can stand between two lines: `what` is at a line.

    That is two "branches", an "if" or a "loop" around them, or an "if" that one of them is "tested" in.
    """

    what: str
    place: Place


@dataclass(frozen=True, slots=True)
class Placement:
    """`points` for barriers, or the obstacle to them; neither where the text does not tell."""

    points: tuple[Point, ...] = ()
    obstacle: Obstacle | None = None
    around: Place | None = None  # the statement in whose list all points are


@dataclass(frozen=True, slots=True)
class _Missing:
    """A way without a barrier between two lines: forward to a statement, or around a loop."""

    surely: int  # how surely there is a barrier after all
    order: int
    point: Point
    around: tuple[Statement, ...]  # what is to be passed by all threads


class Placing:
    """Finds the places for barriers in one kernel."""

    def __init__(self, facts: LineFacts):
        self._facts = facts

    def between(self, one: Place, other: Place, *, warp: bool) -> Placement:
        """Where a barrier between accesses at two lines of a file belongs, or one line in two passes."""
        statements = outline_of(one.file)
        if statements is None or one.file != other.file:
            return Placement()
        first, second = sorted((way_to(statements, one.line), way_to(statements, other.line)), key=_order)
        if not first or not second:
            return Placement()
        depth = _common(first, second)
        around = tuple(turn.statement for turn in first[:depth])
        if depth < min(len(first), len(second)) and first[depth].branch != second[depth].branch:
            return Placement(obstacle=Obstacle("branches", Place(one.file, around[-1].first)))
        barriers = Barriers(self._has(one.file, warp=warp))
        found = self._around_loops(one.file, barriers, first, second, depth)
        if depth < min(len(first), len(second)):
            if around and around[-1].kind == "switch":
                return Placement(obstacle=Obstacle("branches", Place(one.file, around[-1].first)))
            found.append(_forward(one.file, barriers, statements, first, second, depth))
        elif len(first) != len(second) and around and around[-1].kind in ("if", "loop"):
            found.append(_from_head(one.file, barriers, max(first, second, key=len), depth))
        found = [missing for missing in found if missing.surely < ALWAYS]
        inner = max((len(missing.around) for missing in found if missing.order), default=0)
        found = [missing for missing in found if not missing.order or len(missing.around) == inner]
        obstacles = [self._obstacle(one.file, missing.around, warp=warp) for missing in found]
        chosen = [missing for missing, obstacle in zip(found, obstacles, strict=True) if obstacle is None]
        if not chosen:
            obstacle = next(iter(obstacles), None)
            if obstacle is not None and len(first) != len(second) and depth == min(len(first), len(second)):
                tested = obstacle.what == "if" and obstacle.place.line == around[-1].first
                obstacle = replace(obstacle, what="tested") if tested else obstacle
            return Placement(obstacle=obstacle)
        points = tuple(missing.point for missing in sorted(chosen, key=lambda m: m.order))
        return Placement(points, around=Place(one.file, around[-1].first) if around else None)

    @staticmethod
    def around(place: Place) -> Place | None:
        """The first line of the statement in whose list a line is, None where that is not known."""
        way = way_to(outline_of(place.file) or (), place.line)
        return Place(place.file, way[-2].statement.first) if len(way) > 1 else None

    @staticmethod
    def in_one_statement(one: Place, other: Place) -> bool:
        """Whether two lines are one, or of one statement without others in it."""
        if one == other:
            return True
        statements = outline_of(one.file) if one.file == other.file else None
        ways = [way_to(statements or (), place.line) for place in (one, other)]
        return ways[0] == ways[1] != () and not ways[0][-1].statement.branches

    def has_condition(self, place: Place, inner: int) -> bool:
        """Whether threads part at a condition around a line that begins behind line `inner`."""
        way = way_to(outline_of(place.file) or (), place.line)
        return any(
            turn.statement.first >= inner and self._parts(place.file, turn.statement, warp=True)
            for turn in way
            if turn.statement.kind == "if"
        )

    def _around_loops(
        self, file: str, barriers: Barriers, first: Way, second: Way, depth: int
    ) -> list[_Missing]:
        """Of each loop around both lines the way from the later one to the earlier one of the next pass."""
        found: list[_Missing] = []
        for level in range(len(first)):
            loop = first[level].statement
            if loop.kind != "loop" or level >= len(second) or second[level].statement is not loop:
                continue
            rest, start = second[level + 1 :], first[level + 1 :]
            if not (rest or start) or not loop.branches[0]:
                continue
            if not rest or not start:  # the other line is in the loop's condition, where a turn begins
                surely = barriers.behind(rest or start, loop)
            else:
                surely = max(barriers.behind(rest, loop), barriers.before(start, loop))
            end = loop.branches[0][-1]
            point = Point(Place(file, end.last), True, loop.first, loop.braced[0])
            found.append(_Missing(surely, 1, point, tuple(turn.statement for turn in first[: level + 1])))
        return found

    def _has(self, file: str, *, warp: bool):
        lines = self._facts.warp_barriers if warp else self._facts.block_barriers
        return lambda first, last: any((file, line) in lines for line in range(first, last + 1))

    def _obstacle(self, file: str, around: tuple[Statement, ...], *, warp: bool) -> Obstacle | None:
        """The outermost statement that not all threads pass in the same way."""
        for one in around:
            if one.kind in ("if", "switch", "loop") and self._parts(file, one, warp=warp):
                return Obstacle("loop" if one.kind == "loop" else "if", Place(file, one.first))
        return None

    def _parts(self, file: str, one: Statement, *, warp: bool) -> bool:
        if self._facts.parts(file, one.first, one.head, warp=warp):
            return True
        if one.kind != "loop":
            return False
        conditions = (inner for inner in inside(one) if inner.kind == "if")
        return any(
            self._facts.parts(file, inner.first, inner.head, warp=warp)
            for inner in conditions
            if any(jump.kind == "jump" and jump.leaves for jump in inside(inner))
        )


def _order(way: Way) -> tuple[tuple[int, int], ...]:
    return tuple((turn.branch, turn.position) for turn in way)


def _common(first: Way, second: Way) -> int:
    """How many statements two ways share."""
    shared = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _forward(
    file: str,
    barriers: Barriers,
    statements: tuple[Statement, ...],
    first: Way,
    second: Way,
    depth: int,
) -> _Missing:
    """The way from a line to a later one of the same list of statements."""
    around = tuple(turn.statement for turn in first[:depth])
    ahead, behind = first[depth], second[depth]
    branch = around[-1].branches[ahead.branch] if around else statements
    surely = max(
        barriers.behind(first[depth + 1 :], ahead.statement),
        barriers.among(branch[ahead.position + 1 : behind.position]),
        barriers.before(second[depth + 1 :], behind.statement),
    )
    return _Missing(surely, 0, Point(Place(file, behind.statement.first)), around)


def _from_head(file: str, barriers: Barriers, inner: Way, depth: int) -> _Missing:
    """The way from the condition of a statement to a line under it."""
    around = tuple(turn.statement for turn in inner[:depth])
    under = inner[depth]
    surely = max(
        barriers.among(around[-1].branches[under.branch][: under.position]),
        barriers.before(inner[depth + 1 :], under.statement),
    )
    return _Missing(surely, 0, Point(Place(file, under.statement.first)), around)
