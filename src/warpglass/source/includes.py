"""Refuses `#include` and `__has_include` of files that nobody has offered to the program.

Belongs here: the check of every name against the folders that a compilation may read: CUDA's own and those of
options=("-I", ...). NVRTC itself would open any path. A text is read before the compiler reads it, and rather
too strictly than too freely: what only looks like a directive (within a block comment, say) counts as one.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import CompileError, Diagnostic

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n")
_GAP = r"(?:\s|/\*.{0,1000}?\*/)*+"  # bounded: a text may consist of such beginnings
_HASH = r"(?:\#|%:|\?\?=)"
_DIRECTIVE = re.compile(
    rf"{_HASH}{_GAP}(?:(?:include(?:_next)?|import)\b{_GAP}(?P<name>[^\n]*)|(?P<long>/\*))", re.DOTALL
)
_PROBE = re.compile(rf"__has_include(?:_next)?\b{_GAP}\({_GAP}(?P<name>[^\n]*)", re.DOTALL)
_DEFINE = re.compile(rf"{_HASH}{_GAP}define\b(?P<rest>[^\n]*)", re.DOTALL)
_LITERAL = re.compile(r"\"(?P<quoted>[^\"\n]*)\"|<(?P<angled>[^>\n]*)>")
_ENOUGH = 20  # messages


@dataclass(frozen=True, slots=True)
class _Named:
    """A file that a text asks for; no name if a macro is to make it."""

    name: str | None
    line: int
    text: str


def refuse_outside(
    text: str, file: str, folder: str, include: tuple[str, ...], cuda: tuple[str, ...]
) -> None:
    """Raise CompileError if `text`, or a header of its own, includes what lies outside of the given folders.

    `file` is the text's name and `folder` where it stands; `include` are the folders that the user offers,
    `cuda` those of CUDA's headers, which are trusted.
    """
    found = list[Diagnostic]()
    seen = set[str]()
    pending = [(text, file, folder)]
    while pending and len(found) < _ENOUGH:
        content, name, own = pending.pop()
        for asked in _names(content):
            place = _place(asked, own, include, cuda)
            if place is None:
                found.append(Diagnostic(_reason(asked, own), name, asked.line, text=asked.text[:200]))
                if len(found) == _ENOUGH:
                    break
            elif place not in seen and _inside(place, include):
                seen.add(place)
                header = Path(place).read_text(encoding="utf-8", errors="surrogateescape")
                pending.append((header, place, str(Path(place).parent)))
    if found:
        shown = file if file.startswith("<") else os.path.relpath(file)
        raise CompileError(
            f"{shown}: it includes files that it may not read; offer their folders with "
            "options=('-I', 'folder')",
            tuple(found),
        )


def _place(asked: _Named, own: str, include: tuple[str, ...], cuda: tuple[str, ...]) -> str | None:
    """Where the compiler finds a name, "" where it finds nothing that the check is about; None: refused."""
    if asked.name is None:
        return "" if include else None
    if not asked.name:
        return ""
    for folder in (own, *include, *cuda):
        path = os.path.normpath(Path(folder, asked.name))
        if Path(path).is_file():
            return path if _inside(path, (*include, *cuda)) else None
    outside = Path(asked.name).is_absolute() or ".." in re.split(r"[/\\]", asked.name)
    return None if outside else ""


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _reason(asked: _Named, own: str) -> str:
    if asked.name is None:
        return "this name of a header is made by a macro, which needs an include folder (-I)"
    if Path(asked.name).is_absolute() or ".." in re.split(r"[/\\]", asked.name):
        folder = os.path.normpath(Path(own, asked.name).parent)
        return f"{asked.name} lies in no include folder (-I {os.path.relpath(folder)} offers its own)"
    return f"{asked.name} stands in {own}, which is no include folder (-I)"


def _names(content: str) -> Iterator[_Named]:
    """Every file that a text may ask for, with its line."""
    splices, parts, end = list[int](), list[str](), 0
    for number, splice in enumerate(_SPLICE.finditer(content)):
        parts.append(content[end : splice.start()])
        splices.append(sum(map(len, parts[-1:])) + (splices[number - 1] if number else 0))
        end = splice.end()
    joined = "".join([*parts, content[end:]])
    lines = content.split("\n")
    ends = [match.start() for match in re.finditer("\n", joined)]
    computed = False
    for pattern in (_DIRECTIVE, _PROBE):
        for match in pattern.finditer(joined):
            before = joined[joined.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            if before.startswith("//") and "*/" not in before:
                continue
            at = match.start()
            line = bisect_left(ends, at) + bisect_right(splices, at) + 1
            shown = lines[line - 1] if line <= len(lines) else ""
            literal = _LITERAL.match(match["name"] or "")
            if literal is not None:
                yield _Named(literal["quoted"] or literal["angled"] or "", line, shown)
            elif before == "" or before.endswith("*/") or pattern is _PROBE:
                computed = True
                yield _Named(None, line, shown)
    if computed:  # by a macro; those that may hold a path must hold one that is allowed
        for match in _DEFINE.finditer(joined):
            line = bisect_left(ends, match.start()) + bisect_right(splices, match.start()) + 1
            for literal in _LITERAL.finditer(match["rest"]):
                yield _Named(literal["quoted"] or literal["angled"] or "", line, lines[line - 1])
