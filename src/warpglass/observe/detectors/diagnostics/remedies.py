"""What mends a race: which primitive, on which line; or, where none helps, what else.

A barrier of the block serves threads of one block, one of the warp lanes of a warp; between blocks only
atomic operations, other elements, a flag or a second kernel help. Where one line reads and writes one element
it is the atomic operation. A barrier belongs where placement.py finds all threads to come.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ....program import Program, Step
from ....records.check import Insertion, Place
from ..instrumentation import inlining
from .line_facts import LineFacts
from .locks import lock_around
from .placement import Obstacle, Placement, Placing, Point
from .recorded import Recorded
from .shared_names import carved, exchanged, overlapping
from .source_text import between, line_of
from .spelling import Spelling
from .updates import Update, update_at, update_over_lines
from .vocabulary import VOCABULARIES

ATOMIC, BLOCKS = "atomic", "blocks"  # causes, of one array each


@dataclass(frozen=True, slots=True)
class Remedy:
    """The hint, and the lines to be added: races with the same lines have one cause."""

    hint: str
    points: tuple[Point, ...] = ()
    primitive: str = ""
    cause: Hashable = None  # what races of one cause have in common, None where that is not known
    series: bool = False  # of one cause are also those at other lines of a series of updates
    rewrites: bool = False  # no added line helps
    turn: Point | None = None  # the end of a loop's body, if a barrier is missing there
    rank: int = 0  # of one cause the race with the lowest is told first

    @property
    def is_atomic(self) -> bool:
        """Whether it is an atomic operation."""
        return isinstance(self.cause, tuple) and self.cause[0] == ATOMIC

    @property
    def fix(self) -> tuple[Insertion, ...]:
        """The lines to be added, where they can be as the text stands."""
        if not all(point.braced for point in self.points):
            return ()
        return tuple(Insertion(self.primitive, point.place, point.behind) for point in self.points)


class Remedies:
    """What mends the races of one kernel; `together` are branches that no warp parts at, by step."""

    def __init__(self, program: Program, language: str, together: frozenset[int]):
        self._facts = LineFacts(program, together)
        self._types = program.registers
        self._placing = Placing(self._facts)
        self._words = VOCABULARIES[language]
        self._spelling = Spelling(self._facts, self._words.barrier)

    def of(self, found: Recorded) -> Remedy:
        """What mends a race."""
        assert found.other is not None, "races have two threads"
        one, other = _same_function(found.steps)
        if one is None or other is None:
            return self._without_lines(found)
        self._words = replace(self._words, barrier=self._spelling.at(one))
        both = overlapping(one, other) if found.kind == "shared-race" else ()
        if both:
            names = " and ".join(both)
            return Remedy(
                f"{names} are the same dynamic shared memory: both begin at its first byte. Let the second "
                "begin behind the first, and launch with bytes enough for both"
            )
        parts = carved(one, other) if found.kind != "global-race" else ()
        if parts:
            return Remedy(
                f"{' and '.join(parts)} are parts of one array that overlap: let the second begin behind the "
                "first, counted in the array's elements, and make the array large enough for both"
            )
        lock = lock_around(self._facts, one, other) if found.kind != "warp-race" else None
        if lock is not None:
            return self._under_lock(found, one, other, lock)
        compared = self._words.compare_and_store(between(one, other))
        if compared:
            return self._atomic(found, min(one, other, key=_line), compared, "comparison")
        update = self._update(one, other)
        spread = None
        if update is None or not update.itself:
            spread = update_over_lines(self._facts, self._types, found.steps)
        if spread is not None:
            return self._atomic(found, one, self._words.atomic_for(spread), other=other)
        if found.one.block != found.other.block:
            return self._between_blocks(found, one, other)
        warp = found.kind == "warp-race"
        if found.copied:
            return self._after_copy(found, one, other)
        placement = self._placing.between(one, other, warp=warp)
        if update is not None:
            return self._on_one_line(found, one, update, placement, warp=warp)
        return self._of_placement(one, other, placement, warp=warp)

    # ------------------------------------------------------------------------------------ cases
    def _of_placement(self, one: Place, other: Place, placement: Placement, *, warp: bool) -> Remedy:
        name = self._words.warp_barrier if warp else self._words.barrier
        if placement.obstacle is not None:
            hint = self._around_obstacle(one, other, placement.obstacle, name, warp=warp)
            return Remedy(hint, cause=(name, placement.obstacle))
        if not placement.points:
            lines = _both(one, other)
            return Remedy(
                f"no barrier between {lines} is one that both come to: add {name} there, where all "
                f"{_whom(warp)} come"
            )
        added = self._added(name, placement.points)
        if all(update_at(self._facts, self._types, place).itself for place in (one, other)):
            return replace(added, cause=(name, placement.around), series=True)
        return added

    def _added(self, name: str, points: tuple[Point, ...]) -> Remedy:
        words = f"add {name} " + ", and another ".join(map(_where, points))
        if name == self._words.warp_barrier:
            words += ": lanes of a warp need not run in lockstep"
        turn = next((point for point in points if point.loop is not None), None)
        return Remedy(words, points, name, cause=(name, points), turn=turn)

    def together(self, remedies: Sequence[Remedy]) -> Remedy:
        """One remedy for races of one cause."""
        first = next((one for one in remedies if one.is_atomic or one.points), remedies[0])
        first = next((one for one in remedies if one.rewrites), first)
        if not first.series and first.turn is None:
            return first
        points = sorted({point for one in remedies for point in one.points}, key=_rank)
        return self._added(first.primitive, tuple(points))

    @staticmethod
    def _around_obstacle(one: Place, other: Place, found: Obstacle, name: str, *, warp: bool) -> str:
        lines, whom = _both(one, other), _whom(warp)
        if found.what == "branches":
            return (
                f"{lines} are in two branches of {found.place}: make two conditions of it, one after the "
                f"other, and add {name} between them, where all {whom} come"
            )
        if found.what == "loop":
            return (
                f"not all {whom} pass the loop of {found.place} equally often: let all make as many passes, "
                f"with the work under a condition of its own, and add {name} between {lines}"
            )
        if found.what == "tested":
            return (
                f"the condition of {found.place} reads what is written under it: compute it into a variable "
                f"first, then {name}, where all {whom} come, and test the variable"
            )
        return (
            f"not all {whom} come past the condition of {found.place}, so a barrier cannot stand under it: "
            f"end the branch between {lines}, add {name} there and go on under the same condition"
        )

    def _on_one_line(
        self, found: Recorded, one: Place, update: Update, placement: Placement, *, warp: bool
    ) -> Remedy:
        name = self._words.warp_barrier if warp else self._words.barrier
        if update.itself and not update.neighbour:
            return self._atomic(found, one)
        loop = next((point for point in placement.points if point.loop is not None), None)
        if all(found.writers):
            own = (
                "let one thread write it, give each thread an element of its own, or use an atomic operation"
            )
            if loop is None:
                return Remedy(own)
            text = f"{own}; if only two passes meet, add {name} {_where(loop)}"
            return Remedy(text, cause=(name, (loop,)), turn=loop)
        if not update.neighbour:
            return Remedy(f"give the two accesses of {one} lines of their own, with {name} between them")
        if loop is not None and (
            update.alternates or exchanged(one) or self._placing.has_condition(one, loop.loop or 0)
        ):
            return self._added(name, (loop,))
        text = (
            f"{one} writes what other {_whom(warp)} read there: read into a variable first, then {name}, "
            f"then write, then {name}"
        )
        if placement.obstacle is not None and placement.obstacle.what != "branches":
            text += f", all outside of the condition of {placement.obstacle.place}"
        text += f"; or {self._words.shuffle}" if warp else "; or write to another array"
        return Remedy(text, cause=(name, self._placing.around(one)), rewrites=True)

    def _atomic(
        self, found: Recorded, place: Place, name: str = "", before: str = "read", other: Place | None = None
    ) -> Remedy:
        name = name or self._words.atomic_for(line_of(place))
        name = name or f"an atomic operation ({self._words.atomic}, ...)"
        where = f"of {place}" if other in (None, place) else f"({_both(place, other)})"
        return Remedy(
            f"make it one operation, {name}, or give each thread an element of its own: between the {before} "
            f"and the write {where} others come, and no barrier helps",
            cause=(ATOMIC, found.array),
        )

    def _under_lock(self, found: Recorded, one: Place, other: Place, lock: tuple[Place, Place]) -> Remedy:
        taken, given = lock
        hint = (
            f"the lock that {taken} takes keeps others out, but orders no other memory: add "
            f"{self._words.fence} behind {taken} and before {given}"
        )
        update = self._update(one, other)
        name = self._words.atomic_for(line_of(one)) if update is not None and update.itself else ""
        if name:
            hint += f"; or do without it, by {name}"
        return Remedy(hint, cause=("lock", found.array, lock))

    def _between_blocks(self, found: Recorded, one: Place, other: Place) -> Remedy:
        update = self._update(one, other)
        if update is not None and update.itself and not update.neighbour:
            return self._atomic(found, one)
        if found.kind == "shared-race":
            lines = _both(one, other) if one.line else "the two accesses"
            return Remedy(
                f"add cluster.sync() between {lines}, where all threads of the cluster come to it",
                cause=("cluster", found.array),
            )
        if all(found.writers):
            hint = "let each block write elements of its own, or use an atomic operation"
            return Remedy(hint, cause=(BLOCKS, found.array))
        return Remedy(
            "no barrier orders blocks: write to another array than the one that is read, launch a second "
            f"kernel, or put {self._words.fence} before and an atomic operation on a flag between the two "
            "accesses",
            cause=(BLOCKS, found.array),
        )

    def _after_copy(self, found: Recorded, one: Place, other: Place) -> Remedy:
        where = "before that memory is used" if one == other else f"between {_both(one, other)}"
        return Remedy(
            f"wait for the copy (__pipeline_wait_prior, cp.async.wait_group) and then add "
            f"{self._words.barrier} {where}",
            cause=("copy", found.array),
            rank=int(all(found.writers)),
        )

    def _without_lines(self, found: Recorded) -> Remedy:
        assert found.other is not None, "races have two threads"
        if found.one.block != found.other.block:
            unknown = Place("", 0)
            return self._between_blocks(found, unknown, unknown)
        name = self._words.warp_barrier if found.kind == "warp-race" else self._words.barrier
        return Remedy(f"add {name} between the two accesses, where all threads come to it")

    # ------------------------------------------------------------------------------------ facts
    def _update(self, one: Place, other: Place) -> Update | None:
        """What a statement does to what it writes, None for accesses of two statements."""
        if not self._placing.in_one_statement(one, other):
            return None
        return update_at(self._facts, self._types, one, other)


def _same_function(steps: tuple[Step | None, Step | None]) -> tuple[Place | None, Place | None]:
    """The lines of two steps in the innermost function that both were inlined into."""
    chains = [inlining(step)[::-1] if step is not None else [] for step in steps]
    if not all(chains):
        return None, None
    depth = 0
    while depth + 1 < min(map(len, chains)) and len({(c[depth].file, c[depth].line) for c in chains}) == 1:
        depth += 1
    one, other = (Place(chain[depth].file, chain[depth].line) for chain in chains)
    return one, other


def _both(one: Place, other: Place) -> str:
    first, second = sorted((one, other), key=lambda place: (place.file, place.line))
    return f"{first} and {second}"


def _line(place: Place) -> int:
    return place.line


def _whom(warp: bool) -> str:
    return "lanes of the warp" if warp else "threads of the block"


def _rank(point: Point) -> tuple[str, int, bool]:
    return point.place.file, point.place.line, point.behind


def _where(point: Point) -> str:
    if point.loop is None:
        return f"{'behind' if point.behind else 'before'} {point.place}"
    loop = replace(point.place, line=point.loop)
    braces = "" if point.braced else ", in braces with it"
    return f"at the end of the loop of {loop}, behind {point.place}{braces}"
