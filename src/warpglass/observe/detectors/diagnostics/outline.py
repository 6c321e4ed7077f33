"""The statements of a source file, as nested as they are written: where in it a line could be added.

PTX has no loops that were unrolled and no branches that became selections; the author's text still has them.
outline_cpp.py and outline_python.py read it. Files that cannot be read have no outline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ....host.source_lines import is_python
from .outline_cpp import read_cpp
from .outline_python import read_python
from .source_text import text_of
from .statement import Statement


@dataclass(frozen=True, slots=True)
class Turn:
    """A statement on the way to a line, and its place: branch of the one around it, position."""

    statement: Statement
    branch: int
    position: int


Way = tuple[Turn, ...]


def outline_of(file: str) -> tuple[Statement, ...] | None:
    """The statements of a file, None if it cannot be read."""
    text = text_of(file)
    try:
        return _read(text, is_python(file)) if text else None
    except (ValueError, SyntaxError, RecursionError):
        return None


@lru_cache(maxsize=32)
def _read(text: str, python: bool) -> tuple[Statement, ...]:
    return read_python(text) if python else read_cpp(text)


def way_to(statements: Sequence[Statement], line: int) -> Way:
    """The statements around a line from the outside in, () if it is in none."""
    way: list[Turn] = []
    branches: Sequence[Sequence[Statement]] = (statements,)
    while True:
        turn = next(_holding(branches, line), None)
        if turn is None:
            return tuple(way)
        way.append(turn)
        branches = turn.statement.branches


def outermost_text(file: str, line: int) -> str:
    """The text of the outermost statement around a line, most often its function; "" for lines of none."""
    way = way_to(outline_of(file) or (), line)
    lines = text_of(file).splitlines(keepends=True)
    return "".join(lines[way[0].statement.first - 1 : way[0].statement.last]) if way else ""


def _holding(branches: Sequence[Sequence[Statement]], line: int) -> Iterator[Turn]:
    for number, branch in enumerate(branches):
        for position, one in enumerate(branch):
            if one.first <= line <= one.last:
                yield Turn(one, number, position)


def inside(statement: Statement) -> Iterator[Statement]:
    """All statements within one, functions that it defines aside."""
    for branch in statement.branches:
        for one in branch:
            yield one
            if one.kind != "function":
                yield from inside(one)


# How surely threads come to a barrier on the way: not at all, some of them or sometimes, always.
NEVER, MAYBE, ALWAYS = range(3)


class Barriers:
    """Where threads come to a barrier, by the lines that have one."""

    def __init__(self, has: Callable[[int, int], bool]):
        self._has = has  # whether one of the lines from the first to the last has a barrier

    def among(self, statements: Sequence[Statement]) -> int:
        """How surely threads that pass some statements come to a barrier."""
        return max(map(self._within, statements), default=NEVER)

    def _within(self, one: Statement) -> int:
        match one.kind:
            case "function":
                return NEVER
            case "group":
                return max(map(self.among, one.branches), default=NEVER)
            case "if" | "switch" | "loop":
                apart = all(branch[0].first > one.head for branch in one.branches if branch)
                if apart and self._has(one.first, one.head):
                    return ALWAYS  # in the condition
                found = [self.among(branch) for branch in one.branches]
                if one.kind == "loop":  # most often one that runs
                    return max(found, default=NEVER)
                if one.kind == "if" and len(found) > 1 and min(found) > NEVER:
                    return min(found)
                return min(MAYBE, max(found, default=NEVER))
            case _:
                return ALWAYS if self._has(one.first, one.last) else NEVER

    def behind(self, way: Way, around: Statement | None) -> int:
        """Between the end of a way and the end of the statement that its first turn is in."""
        return self._beside(way, around, behind=True)

    def before(self, way: Way, around: Statement | None) -> int:
        """Between the start of the statement around a way and the way's end."""
        return self._beside(way, around, behind=False)

    def _beside(self, way: Way, around: Statement | None, *, behind: bool) -> int:
        found = NEVER
        for turn in way:
            if around is not None:
                branch = around.branches[turn.branch]
                rest = branch[turn.position + 1 :] if behind else branch[: turn.position]
                found = max(found, self.among(rest))
            around = turn.statement
        return found
