"""How a source's own text spells the barrier of the block: a macro, its own function, a group's sync()."""

from __future__ import annotations

import re
from functools import cache

from ....isa.ordering import ordering_of
from ....program import Step
from ....records.check import Place
from ..instrumentation import inlining
from .line_facts import LineFacts
from .outline import outermost_text
from .source_text import line_of

# A call, or a macro's name, that is a statement: behind nothing, another statement or a condition.
_STATEMENT = re.compile(
    r"(?:^|[;{}):]|\belse\b|\bdo\b)\s*((?:\w+(?:::|\.|->))*\w+\s*\([^()]*\)|[A-Z][A-Z0-9_]+)\s*(?:;|$)"
)


class Spelling:
    """What barriers of the block are called in the lines of one program; `usual` is the language's name."""

    def __init__(self, facts: LineFacts, usual: str):
        self._facts = facts
        self._usual = usual
        self._statements = cache(self._find)

    def at(self, place: Place) -> str:
        """The name in the function that a line is in: the usual one, unless only another is used there."""
        text = outermost_text(place.file, place.line)
        if self._usual in text:
            return self._usual
        return next((one for one in self._statements() if one in text), self._usual)

    def _find(self) -> tuple[str, ...]:
        """The statements that are barriers of the block and nothing else, in the order of the lines."""
        steps = [step for step in self._facts.steps if step.control == "barrier" and step.match.row.steers]
        lines = {(place.file, place.line) for step in steps for place in inlining(step)}
        texts = {
            (file, line): _STATEMENT.findall(line_of(Place(file, line)).partition("//")[0].rstrip())
            for file, line in sorted(lines)
            if all(map(_does_nothing_else, self._facts.by_line[file, line]))
        }
        return tuple(found[0] for found in texts.values() if len(found) == 1)


def _does_nothing_else(step: Step) -> bool:
    return step.match.row.access is None and not ordering_of(step.match).fence
