"""PTX text to tokens, and from tokens back to places in the text.

Belongs here: the token pattern, positions, and the collection of diagnostics. Not here: what tokens mean.
One compiled pattern splits the text; a token is just its text, and its first character tells its kind: a
letter, `_`, `$` or `%` starts a word (`ld.global.f32` and `%tid.x` are one word), `.` a directive, a digit a
number. A token list ends in a few empty strings, so that a parser may look ahead without testing for the end.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ..errors import CompileError, Diagnostic

_TOKEN = re.compile(
    r"""
    (?:\s+ | //[^\n]* | /\*[\s\S]*?\*/)*+           # blanks and comments before the token
    (
      [A-Za-z_$%][\w$]*(?:\.\w+(?:::\w+)*)*         # word: opcode with modifiers, register, symbol
    | [,;\[\]{}()@:] | \|\|? | !=?                   # the frequent punctuation
    | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]\d+    # decimal floating literal
    | \d\w*                                         # integers of any base, 0f and 0d literals
    | \.\d+(?:[eE][+-]?\d+)?(?!\w)                  # .5
    | \.\w+(?:::\w+)*                               # directive or type
    | "(?:[^"\\\n]|\\.)*"                           # string
    | "[^\n]*                                       # string without end
    | /\*[\s\S]*                                    # comment without end
    | << | >> | && | [<>=]=
    | \S
    | \Z                                            # nothing more
    )
    """,
    re.VERBOSE | re.ASCII,
)

_STRUCTURE = frozenset("{}:")
LOOKAHEAD = 8  # empty tokens after the last one


class PtxSyntaxError(CompileError):
    """PTX text that does not follow the grammar; `diagnostics` names every place."""


class Mistake(Exception):
    """One error while a statement is parsed; the statement loops turn it into a diagnostic and go on.

    `index` is the token from which to recover, `offset` the place to show.
    """

    def __init__(self, index: int, message: str, offset: int | None = None):
        self.index = index
        self.message = message
        self.offset = offset
        super().__init__(message)


class Tokens:
    """The tokens of one PTX text, their positions, and the diagnostics found so far.

    `texts[i]` is token i and `starts[i]` its offset; `structure` lists the tokens that are `{`, `}` or `:`.
    """

    def __init__(self, text: str, file: str):
        self.file = file
        self.text = text.rstrip("\0")  # NVRTC's buffer includes the terminator
        texts: list[str] = []
        starts: list[int] = []
        for match in _TOKEN.finditer(self.text):
            texts.append(match[1])
            starts.append(match.start(1))
        while texts and not texts[-1]:
            del texts[-1], starts[-1]
        self.count = len(texts)
        self.structure = [index for index, token in enumerate(texts) if token in _STRUCTURE]
        end = len(self.text.rstrip())
        self.texts = texts + [""] * LOOKAHEAD
        self.starts = starts + [end] * LOOKAHEAD
        self._line_starts = [0, *[match.end() for match in re.finditer("\n", self.text)]]
        self._found: dict[tuple[int, str], Diagnostic] = {}
        self._lost: set[str] = set()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything reported, in the order of the text."""
        return tuple(self._found[key] for key in sorted(self._found))

    def line(self, index: int) -> int:
        """The 1-based line of a token."""
        return bisect_right(self._line_starts, self.starts[index])

    def starts_line(self, index: int) -> bool:
        """Whether a token is the first of its line."""
        return index == 0 or self.line(index) != self.line(index - 1)

    def report(self, mistake: Mistake) -> None:
        """Note one error."""
        offset = self.starts[mistake.index] if mistake.offset is None else mistake.offset
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        stop = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        text = shorten(self.text[start:stop].rstrip("\r\n"), 240)
        found = Diagnostic(mistake.message, self.file, line, offset - start + 1, text)
        self._found.setdefault((offset, mistake.message), found)

    def expected(self, index: int, what: str) -> Mistake:
        """The error that `what` should stand where token `index` is, or at the end of the line before it."""
        found = self.texts[index]
        if found and (index == 0 or not self.starts_line(index)):
            return self.unexpected(index, what)
        place = "the end of the line" if found else "the end of the file"
        before = self.starts[index - 1] + len(self.texts[index - 1].rstrip()) if index > 0 else 0
        return Mistake(index, f"expected {what}, found {place}{_reason(found)}", before)

    def unexpected(self, index: int, what: str) -> Mistake:
        """The error that token `index`, which may start a line, is not `what`."""
        found = self.texts[index]
        if not found:
            return self.expected(index, what)
        return Mistake(index, f"expected {what}, found {shorten(found)!r}{_reason(found)}")

    def respell(self, index: int, known: Iterable[str], otherwise: str) -> None:
        """Report a directive that is nearly one of those known, and go on as if it had been spelt right.

        Raises Mistake for any other token: `otherwise` says what should stand there.
        """
        token = self.texts[index]
        close = difflib.get_close_matches(token[:40], sorted(known), n=1) if token[:1] == "." else []
        mistake = self.unexpected(index, close[0] if close else otherwise)
        if not close:
            raise mistake
        self.report(mistake)
        self.texts[index] = close[0]

    def lose(self, start: int, stop: int) -> None:
        """Note that the declarations in a range of tokens were lost to a mistake."""
        self._lost.update(self.texts[start:stop])

    def is_lost(self, name: str) -> bool:
        """Whether a broken declaration may have declared a name, so that its use is no further error."""
        return name in self._lost or name.rstrip("0123456789") in self._lost

    def raise_if_any(self) -> None:
        """Raise one PtxSyntaxError with every diagnostic, if there is any."""
        found = self.diagnostics
        if found:
            count = "1 error" if len(found) == 1 else f"{len(found)} errors"
            raise PtxSyntaxError(f"{self.file}: {count} in PTX", found)


def shorten(token: str, limit: int = 60) -> str:
    """A token for use in a message."""
    line = token.partition("\n")[0]  # a comment without end may span lines
    return line if len(line) <= limit else line[: limit - 3] + "..."


def choices(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _reason(found: str) -> str:
    if found.startswith("/*"):
        return " (this comment is never closed by */)"
    if found.startswith('"') and (len(found) < 2 or not found.endswith('"')):
        return " (this string is never closed)"
    return ""
