"""Which statements of a source file are conditional, and which returns are under them.

Belongs here: reading C++ and Python only as far as to tell `if (i >= n) return;` in front of a barrier from
a barrier in `if (i < n) { ... }`. Compilers make the same code of both: only the text tells them apart. C++
is read by its brackets and keywords, preprocessor lines left out; Python by its own parser.
"""

from __future__ import annotations

import ast
import linecache
import re
from dataclasses import dataclass
from functools import lru_cache

from ....host.source_lines import is_python

# A place in a file: line and column, from 1; a column of 0 is any of the line.
Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text, its last place included."""

    first: Position
    last: Position

    def holds(self, place: Position) -> bool:
        """Whether a place, or some of its line, lies within."""
        line, column = place
        if column == 0:
            return self.first[0] <= line <= self.last[0]
        return self.first <= place <= self.last


@dataclass(frozen=True, slots=True)
class Conditional:
    """An if, loop or switch: what decides, from the keyword on, and the statements that it is for."""

    head: Span
    arms: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file says: its conditional statements, bodies of functions, and where threads return.

    `guards` are macros that stand as statements and may return, as the file says or for all that it says.
    """

    conditionals: tuple[Conditional, ...]
    functions: tuple[Span, ...]
    returns: tuple[Position, ...]
    guards: tuple[Span, ...] = ()

    def returns_at(self, branch: Position, barrier: Position | None) -> bool:
        """Whether threads that miss a barrier, by a branch of the statement at a place, have returned.

        They have if an arm of it returns that the barrier is not in. Of a branch that belongs to no such
        statement nothing is known but whether its function returns under any condition.
        """
        if any(guard.holds(branch) for guard in self.guards):
            return True
        deciding = [one for one in self.conditionals if one.head.holds(branch)]
        if deciding:
            arms = max(deciding, key=lambda one: one.head.first).arms
            return any(self._returns_in(arm) and not (barrier and arm.holds(barrier)) for arm in arms)
        around = [one for one in self.functions if one.holds(branch)]
        # Of a kernel that begins and branches on one line compilers know one column: that of its name.
        around = around or [one for one in self.functions if one.holds((branch[0], 0))]
        if not around:
            return True
        body = max(around, key=lambda one: one.first)
        arms = [arm for one in self.conditionals if body.holds(one.head.first) for arm in one.arms]
        return any(map(self._returns_in, arms))

    def _returns_in(self, arm: Span) -> bool:
        return any(map(arm.holds, self.returns))


def outline(file: str) -> Outline | None:
    """That of a file as it is now; None if it cannot be read."""
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    return _outline("".join(lines), is_python(file)) if lines else None


@lru_cache(maxsize=32)
def _outline(text: str, python: bool) -> Outline | None:
    if not python:
        return _Reader(text).outline()
    try:
        return _of_python(ast.parse(text))
    except SyntaxError:
        return None


# -------------------------------------------------------------------------------------------- Python
def _of_python(tree: ast.Module) -> Outline:
    found: list[Conditional] = []
    functions: list[Span] = []
    returns: list[Position] = []
    for node in ast.walk(tree):
        match node:
            case ast.If() | ast.While():
                found.append(_conditional(node, node.test))
            case ast.For():
                found.append(_conditional(node, node.iter))
            case ast.FunctionDef():
                functions.append(_span(node.body))
            case ast.Return():
                returns.append((node.lineno, node.col_offset + 1))
    return Outline(tuple(found), tuple(functions), tuple(returns))


def _conditional(node: ast.If | ast.While | ast.For, decider: ast.expr) -> Conditional:
    arms = [_span(arm) for arm in (node.body, node.orelse) if arm]
    return Conditional(Span((node.lineno, node.col_offset + 1), _end(decider)), tuple(arms))


def _span(body: list[ast.stmt]) -> Span:
    return Span((body[0].lineno, body[0].col_offset + 1), _end(body[-1]))


def _end(node: ast.stmt | ast.expr) -> Position:
    return (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1)


# -------------------------------------------------------------------------------------------- C++
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?:^|(?<=\n))[ \t]*\#(?:\\\n|[^\n])*)"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[A-Za-z_]\w*|\d[\w.']*)|(?P<sign>::|.)""",
    re.DOTALL,
)
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)


class _Reader:
    """Reads C++ statement by statement: `_at` is the next token, a word or sign with where it begins."""

    def __init__(self, text: str):
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens: list[tuple[str, Position]] = []
        line = 0
        for match in _TOKEN.finditer(text):
            if match.lastgroup == "skip":
                continue
            while line + 1 < len(starts) and starts[line + 1] <= match.start():
                line += 1
            said = match.group()
            if match.lastgroup == "text":  # of strings only inline assembly that ends a thread matters
                said = "return" if re.search(r"\bexit\s*;", said) else '"'
            self._tokens.append((said, (line + 1, match.start() - starts[line] + 1)))
        self._at = 0
        self._macros = {name: "return" in body for name, body in _MACRO.findall(text)}
        self._guards: list[Span] = []
        self._conditionals: list[Conditional] = []
        self._functions: list[Span] = []

    def outline(self) -> Outline:
        """That of the whole text."""
        while self._at < len(self._tokens):
            self._statement()
        returns = tuple(place for word, place in self._tokens if word == "return")
        return Outline(tuple(self._conditionals), tuple(self._functions), returns, guards=tuple(self._guards))

    @property
    def _word(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    @property
    def _here(self) -> Position:
        return self._tokens[min(self._at, len(self._tokens) - 1)][1]

    @property
    def _before(self) -> Position:
        return self._tokens[max(0, min(self._at, len(self._tokens)) - 1)][1]

    def _statement(self) -> Span:
        """Read a statement and what is in it."""
        first, word = self._here, self._word
        if word == "{":
            self._block()
        elif word in ("if", "for", "while", "switch"):
            self._deciding(first)
        elif word == "do":
            self._at += 1
            arms = (self._statement(),)
            start = self._here
            self._at += 1  # while
            self._brackets()
            self._conditionals.append(Conditional(Span(start, self._before), arms))
            self._at += 1  # the semicolon
        else:
            self._plain()
        return Span(first, self._before)

    def _deciding(self, first: Position) -> None:
        self._at += 1
        if self._word == "constexpr":
            self._at += 1
        self._brackets()
        head = Span(first, self._before)
        arms = [self._statement()]
        if self._word == "else":
            self._at += 1
            arms.append(self._statement())
        self._conditionals.append(Conditional(head, tuple(arms)))

    def _block(self) -> None:
        self._at += 1
        while self._at < len(self._tokens) and self._word != "}":
            self._statement()
        self._at += 1

    def _plain(self) -> None:
        """A statement of no other kind, up to its semicolon or the end of its body: a function's, perhaps."""
        start, name, calls = self._here, self._word, False
        while self._at < len(self._tokens):
            word = self._word
            if word == "{":
                first = self._here
                self._block()
                if calls:
                    self._functions.append(Span(first, self._before))
                return
            if word == "}":  # the end of the block around
                return
            if word in ("(", "["):
                calls = calls or word == "("
                self._brackets()
                continue
            self._at += 1
            if word in (";", ":"):  # a colon behind a label, mostly
                if name.isupper() and self._macros.get(name, True):
                    self._guards.append(Span(start, self._before))
                return

    def _brackets(self) -> None:
        """Read from a bracket to the one that closes it; blocks inside are lambdas' bodies."""
        if self._word not in ("(", "["):
            return
        close = _CLOSED_BY[self._word]
        self._at += 1
        while self._at < len(self._tokens) and self._word != close:
            if self._word in ("(", "["):
                self._brackets()
            elif self._word == "{":
                self._block()
            elif self._word == "}":
                return
            else:
                self._at += 1
        self._at += 1
