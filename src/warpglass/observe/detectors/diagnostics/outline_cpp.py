"""The statements of a CUDA C++ text, as far as braces, conditions and loops go.

No preprocessor: lines that begin with # are left out, both branches of a condition on them are read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .statement import Statement

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*|\s+)
    |R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'
    |(?P<word>[A-Za-z_]\w*)|::|.""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_DEFINES = ("struct", "class", "union", "enum", "namespace", "extern")
_JUMPS = ("return", "break", "continue", "goto")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


class _Token(NamedTuple):
    text: str
    line: int


def read_cpp(text: str) -> tuple[Statement, ...]:
    """The statements of a file; raises ValueError where braces do not match."""
    return _Reader(_tokens(text)).statements("")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        if not match["skip"]:
            found.append(_Token(match[0] if len(match[0]) < 20 or match["word"] else '""', line))
        line += match[0].count("\n")
    return found


class _Reader:
    """Reads statements one after the other."""

    def __init__(self, tokens: list[_Token]):
        self._tokens = tokens
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _take(self) -> _Token:
        if self._at >= len(self._tokens):
            raise ValueError("the text ends within a statement")
        self._at += 1
        return self._tokens[self._at - 1]

    @property
    def _line(self) -> int:
        """Of the last token."""
        return self._tokens[self._at - 1].line

    def statements(self, end: str) -> tuple[Statement, ...]:
        """All statements up to a token, which is taken, too."""
        found: list[Statement] = []
        while (text := self._peek()) != end:
            if text in (";", "}"):
                self._take()
            else:
                found.append(self._statement())
        if end:
            self._take()
        return tuple(found)

    def _statement(self) -> Statement:
        first = self._tokens[self._at].line
        match self._peek():
            case "{":
                self._take()
                body = self.statements("}")
                return Statement("group", first, self._line, first, (body,), (True,))
            case "if":
                return self._if(first)
            case "for" | "while" | "switch":
                kind = "switch" if self._take().text == "switch" else "loop"
                return self._under(kind, first, self._condition())
            case "do":
                return self._do(first)
            case "case" | "default":
                while self._take().text != ":":
                    pass
                return Statement("simple", first, self._line, self._line)
            case text if text in _JUMPS:
                self._simple()
                return Statement("jump", first, self._line, self._line, leaves=text != "return")
            case _:
                return self._other(first)

    def _condition(self) -> int:
        """Pass what stands in parentheses; returns the last line."""
        while self._take().text != "(":
            pass
        self._balanced("(")
        return self._line

    def _balanced(self, opening: str) -> None:
        """Pass everything up to what closes what has just been opened."""
        while (text := self._take().text) != _CLOSING[opening]:
            if text in _CLOSING:
                self._balanced(text)

    def _body(self) -> tuple[tuple[Statement, ...], bool]:
        """A statement, or those in braces, and whether there are braces."""
        if self._peek() == "{":
            self._take()
            return self.statements("}"), True
        if self._peek() == ";":
            self._take()
            return (), False
        return (self._statement(),), False

    def _under(self, kind: str, first: int, head: int) -> Statement:
        body, braced = self._body()
        return Statement(kind, first, self._line, head, (body,), (braced,))

    def _if(self, first: int) -> Statement:
        head = self._condition()
        branches = [self._body()]
        if self._peek() == "else":
            self._take()
            branches.append(self._body())
        bodies, braced = zip(*branches, strict=True)
        return Statement("if", first, self._line, head, bodies, braced)

    def _do(self, first: int) -> Statement:
        self._take()
        body, braced = self._body()
        self._condition()
        return Statement("loop", first, self._line, first, (body,), (braced,))

    def _simple(self) -> None:
        """Pass everything up to a semicolon."""
        while (text := self._take().text) != ";":
            if text in _CLOSING:
                self._balanced(text)

    def _other(self, first: int) -> Statement:
        """An expression or a declaration, or a definition with statements of its own."""
        before: list[str] = []
        while (text := self._peek()) not in (";", "}", ""):
            self._take()
            if text == "{" and (")" in before or before[0] in _DEFINES) and "=" not in before:
                body = self.statements("}")
                return Statement("function", first, self._line, first, (body,), (True,))
            if text in _CLOSING:
                self._balanced(text)
                text = _CLOSING[text]
            before.append(text)
        if self._peek() == ";":
            self._take()
        return Statement("simple", first, self._line, self._line)
