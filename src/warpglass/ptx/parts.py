"""PTX text in parts: a kernel with the functions that it reaches, without the rest of a large module.

Libraries have modules of thousands of kernels, of which a program uses a few; to parse all takes minutes.
What stands outside of functions belongs to every part. A function is reached if its name is in the text of a
kernel, of a function that is reached, or outside of functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

# Where a function begins, at the start of a line, with its linkage; and its name, behind results of a .func.
_START = re.compile(r"^[ \t]*(?:\.(?:visible|weak|extern|common)[ \t]+)*\.(entry|func)\b", re.MULTILINE)
_NAME = re.compile(r"\s*(?:\.\w+(?:\([^)]*\))?\s*)*(?:\([^)]*\)\s*)?([\w$%]+)")
# Where a declaration ends or a body begins, and what semicolons and braces mean nothing in.
_STOP = re.compile(r'[{;]|//[^\n]*|"[^"\n]*"|/\*.*?\*/', re.DOTALL)
# The same in a body, by where what it begins ends: searching for strings takes a tenth of a pattern's time.
_MARKS = {"{": "", "}": "", "//": "\n", '"': '"', "/*": "*/"}
_SECTION = re.compile(r"^[ \t]*\.section\b[^{]*\{[^}]*\}", re.MULTILINE)
_WORD = re.compile(r"[\w$]+")
_INDIRECT = ".callprototype"
_MOVED = re.compile(r"\bmov\.[bsu]64\s+%?[\w$]+\s*,\s*([A-Za-z_$][\w$]*)\s*;")
_INNER = re.compile(r"\n\s*\.(?:global|const)\b")  # variables that a function declares


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A function's text, or its declaration's, from one place to another."""

    name: str
    entry: bool
    start: int
    end: int


class Parts:
    """The text of a module by its functions; `whole` says that it cannot be taken apart.

    So it is where a kernel may call through pointers to functions that another kernel has stored.
    """

    def __init__(self, text: str):
        self.text = text
        self._chunks = tuple(_chunks(text))
        self.entries = tuple(dict.fromkeys(one.name for one in self._chunks if one.entry))
        self.whole = (
            len(self._chunks) < 2
            or any(_INNER.search(text, one.start, one.end) for one in self._chunks)
            or (_INDIRECT in text and any(name in self._functions for name in _MOVED.findall(text)))
        )

    @property
    def defined(self) -> frozenset[str]:
        """The kernels and functions that have a body."""
        return frozenset(one.name for one in self._chunks if self.text[one.end - 1] == "}")

    @property
    def headings(self) -> Iterator[str]:
        """The text of each kernel up to the end of its parameters."""
        return (self.text[one.start : self.text.index(")", one.start)] for one in self._chunks if one.entry)

    @cached_property
    def outside(self) -> str:
        """What every part has: all but kernels and the functions that only they reach."""
        return self.text if self.whole else self._joined(self._always)

    def of(self, entry: str, *, in_place: bool = False) -> str:
        """The text of a module with this kernel alone; `in_place`, each line of it stands where it stood.

        All of the text, if there is no such kernel.
        """
        if self.whole or entry not in self.entries:
            return self.text
        own = [one for one in self._chunks if one.entry and one.name == entry]
        words = (word for one in own for word in self._words(one))
        return self._joined(self._reached(words, self._always), own, in_place=in_place)

    @cached_property
    def _functions(self) -> dict[str, list[_Chunk]]:
        found: dict[str, list[_Chunk]] = {}
        for one in self._chunks:
            if not one.entry:
                found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def _always(self) -> frozenset[str]:
        """The functions that are named outside of functions: in initial values, aliases."""
        rest = _SECTION.sub("", self._joined(frozenset()))
        return self._reached(_WORD.findall(rest), frozenset())

    def _reached(self, words: Iterable[str], known: frozenset[str]) -> frozenset[str]:
        found = set(known)
        work = [word for word in dict.fromkeys(words) if word in self._functions]
        while work:
            name = work.pop()
            if name not in found:
                found.add(name)
                for one in self._functions[name]:
                    work += [word for word in set(self._words(one)) if word in self._functions]
        return frozenset(found)

    def _words(self, one: _Chunk) -> list[str]:
        return _WORD.findall(self.text, one.start, one.end)

    def _joined(
        self, functions: frozenset[str], entries: Iterable[_Chunk] = (), *, in_place: bool = False
    ) -> str:
        """The text without other functions and kernels."""
        kept = set(entries)
        pieces: list[str] = []
        at = 0
        for one in self._chunks:
            if one not in kept and (one.entry or one.name not in functions):
                pieces.append(self.text[at : one.start])
                if in_place:
                    pieces.append("\n" * self.text.count("\n", one.start, one.end))
                at = one.end
        pieces.append(self.text[at:])
        return "".join(pieces)


def _chunks(text: str) -> Iterator[_Chunk]:
    bodies = _Bodies(text)
    at = 0
    while (start := _START.search(text, at)) is not None:
        at = start.end()
        name = _NAME.match(text, at)
        if name is None:
            continue
        at = name.end()
        while (stop := _STOP.search(text, at)) is not None and stop[0] not in ("{", ";"):
            at = stop.end()
        at = len(text) if stop is None else stop.end()
        if stop is not None and stop[0] == "{":
            at = bodies.end(at)
        yield _Chunk(name[1], start[1] == "entry", start.start(), at)


class _Bodies:
    """Where bodies of functions end; they are asked for in the order of the text."""

    def __init__(self, text: str):
        self._text = text
        self._next = dict.fromkeys(_MARKS, -1)  # where each mark stands next

    def end(self, at: int) -> int:
        """The place behind the brace that closes what was opened before `at`."""
        depth = 1
        while depth:
            mark, found = self._stop(at)
            if found == len(self._text):
                return found
            at = found + len(mark)
            if mark in "{}":
                depth += 1 if mark == "{" else -1
            else:
                close = self._text.find(_MARKS[mark], at)
                at = len(self._text) if close < 0 else close + len(_MARKS[mark])
        return at

    def _stop(self, at: int) -> tuple[str, int]:
        """The first mark from a place on, and where it stands: at the text's end if there is none."""
        for mark, place in self._next.items():
            if place < at:
                found = self._text.find(mark, at)
                self._next[mark] = len(self._text) if found < 0 else found
        return min(self._next.items(), key=_place)


_place = itemgetter(1)
