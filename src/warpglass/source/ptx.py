"""PTX kernels: the text is the program; only the entry has to be found.

Belongs here: entry names and parameter types by regular expression, enough to choose an entry without parsing
(the parser, further on, reports what is malformed). Entries with unsupported instructions do no harm here.
"""

from __future__ import annotations

import re

from ..errors import CompileError
from . import mangled
from .compiled import Argument, Compiled, FixedSource

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+([\w$%.@]+)\s*(?:\(([^)]*)\))?")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*")
_DIALECT = re.compile(r"^\s*\.(?:version|target)\b", re.MULTILINE)


def load_ptx(text: str, file: str, name: str | None) -> FixedSource:
    """Return the entry `name` of PTX text, or its only entry; `file` is for messages.

    Raises CompileError if there is no such entry, or no telling which.
    """
    if not _DIALECT.search(text):
        raise CompileError(f"{file}: this is not PTX (no .version and no .target line)")
    entry = choose_entry(text, name, file)
    return FixedSource(Compiled(text, entry, entry, "ptx", _arguments(text, entry)))


def _arguments(text: str, entry: str) -> tuple[Argument, ...] | None:
    """The arguments of an entry whose mangled name tells their types; None if it does not."""
    types = mangled.parameter_types(entry)
    if len(types) != len(entry_parameters(text, entry)):
        return None
    return (
        tuple(
            Argument(f"argument {number}", ("pointer",) if one.pointer else ("any",), declared=one)
            for number, one in enumerate(types, 1)
        )
        or None
    )


def entry_names(text: str) -> tuple[str, ...]:
    """Return the names of the kernels in PTX text, in order."""
    return tuple(dict.fromkeys(match[1] for match in _ENTRY.finditer(_COMMENT.sub(" ", text))))


def entry_parameters(text: str, entry: str) -> tuple[str, ...]:
    """Return the PTX types of an entry's parameters: ("u64", "u32"); "b8" for aggregates."""
    for match in _ENTRY.finditer(_COMMENT.sub(" ", text)):
        if match[1] == entry:
            return tuple(_PARAMETER.findall(match[2] or ""))
    return ()


def choose_entry(text: str, name: str | None, file: str) -> str:
    """Return `name` if it is an entry, or the only entry if `name` is None."""
    names = entry_names(text)
    if name is None and len(names) == 1:
        return names[0]
    if name in names:
        return name
    problem = "name the kernel to load" if name is None else f"no kernel named {name}"
    if not names:
        problem = "it has no kernels"
    raise CompileError(f"{file}: {problem}" + (f"; kernels in the file: {', '.join(names)}" if names else ""))
