"""What one cell is about: a kernel's launch, a ladder's rung or a whole program, of a table's filled values.

Belongs here: what of these values can be checked without a compiler. spec.py says which keys there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..ladders import find_ladder
from ..ladders.trial import Options
from ..observe.counters import COUNTERS
from ..observe.metrics import METRICS
from ..programs import targets
from ..records.argument_text import parse_argument, parse_dimensions, parse_size, parse_target
from .cell import Subject
from .expressions import as_whole

KINDS = ("kernel", "rung", "program")
# What rows of programs have by themselves.
_TAKEN = frozenset("seconds exit_status kernels errors warnings findings device label wrong".split())
_FOLDERS = ("-I", "-L", "-isystem", "-include", "--include-path", "--library-path")


def kind_of(table: Mapping[str, Any]) -> str:
    """The main key of a table: "kernel", "rung" or "program"."""
    return next(kind for kind in KINDS if kind in table)


def shown_name(value: Any) -> str:
    """What rows of a table without a name are called: the main key's value."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def make_subject(filled: dict[str, Any], folder: Path) -> Subject:
    """The subject of filled values; paths are relative to `folder`. Raises ArgumentError."""
    makers = {"kernel": _kernel, "rung": _rung, "program": _program}
    return makers[kind_of(filled)](filled, folder)


def _kernel(filled: dict[str, Any], folder: Path) -> Subject:
    path, kernel = parse_target(str(filled["kernel"]))
    if not (folder / path).is_file():
        raise ArgumentError(f"there is no file {folder / path}")
    args = _texts(filled.get("args", ()))
    for text in args:
        parse_argument(text.removeprefix("out:").removeprefix("all:").removeprefix("ro:"))
    return Subject(
        file=str(folder / path),
        kernel=kernel,
        grid=_extent(filled["grid"]),
        block=_extent(filled["block"]),
        shared=parse_size(str(filled.get("shared", 0))),
        args=args,
        variables=_texts(filled.get("set", ())),
        flags=_texts(filled.get("flags", ())),
        expect=filled.get("expect", ""),
        tolerance=float(filled.get("tolerance", 0.0)),
    )


def _rung(filled: dict[str, Any], folder: Path) -> Subject:
    ladder, colon, rung = str(filled["rung"]).partition(":")
    if not colon or not rung:
        raise ArgumentError(f"{filled['rung']!r}: write LADDER:RUNG, as in reduction:interleaved")
    find_ladder(ladder).rungs(Options(rungs=() if rung == "*" else (rung,)))  # raises for what there is not
    options = {
        "size": parse_size(str(filled["size"])) if "size" in filled else None,
        "block": int(filled["block"]) if "block" in filled else None,
        "dtype": filled.get("dtype"),
        "language": filled.get("language", "both"),
    }
    return Subject(ladder=ladder, rung=rung, options=tuple(options.items()))


def _program(filled: dict[str, Any], folder: Path) -> Subject:
    named = filled["program"]
    files = [str(one) for one in named] if isinstance(named, list) else [str(named)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not files:
        raise ArgumentError("it names no file")
    for name in files:
        if not (folder / name).is_file():
            raise ArgumentError(f"there is no file {folder / name}")
    first = str((folder / files[0]).absolute())
    built = targets.may_be_source(first)
    if built and not targets.is_source(first) and len(files) == 1:
        raise ArgumentError(f"{files[0]} has no main function; kernel = names one of its kernels")
    if not built and not first.endswith(".py") and targets.found(first) is None:
        raise ArgumentError(f"{files[0]} is neither a source (.cu, .cpp, .c, .py) nor an executable")
    if not built and (len(files) > 1 or filled.get("flags")):
        raise ArgumentError(f"{files[0]} is not compiled: it takes no other files and no flags")
    return Subject(
        file=first,
        program=tuple(str((folder / name).absolute()) for name in files),
        folder=str(folder.absolute()),
        flags=_placed(_texts(filled.get("flags", ())), folder),
        args=_texts(filled.get("arguments", ())),
        expect=str(filled.get("expect", "")),
        numbers=tuple(filled.get("numbers", {}).items()),
    )


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Values of templates as texts: one that is a single expression is a number, and 8.0 is meant as 8."""
    return tuple(str(as_whole(value)) for value in values)


def _placed(flags: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The compiler's flags with the folders that they name, relative to ours, in full."""
    placed: list[str] = []
    before = ""
    for flag in flags:
        option = next((one for one in _FOLDERS if flag.startswith(one) and flag != one), "")
        path = flag if before in _FOLDERS else flag.removeprefix(option).removeprefix("=")
        named = bool(option or before in _FOLDERS) and (folder / path).exists()
        placed.append(flag.removesuffix(path) + str((folder / path).absolute()) if named else flag)
        before = flag
    return tuple(placed)


def numbers_problem(numbers: Any) -> str:
    """What is wrong with a program's table of numbers; empty if nothing is."""
    if not isinstance(numbers, Mapping):
        return f"{numbers!r}; write a table such as {{ gflops = '([0-9.]+) GFLOP/s' }}"
    for name, pattern in numbers.items():  # pyright: ignore[reportUnknownVariableType]
        if name in _TAKEN or name in METRICS or name in COUNTERS:
            return f"{name} is the name of a number that rows have anyway"
        try:
            groups = re.compile(pattern).groups if isinstance(pattern, str) else -1
        except re.error as problem:
            return f"{name}: {pattern!r} is no regular expression: {problem}"
        if groups != 1:
            return f"{name}: {pattern!r}; write a regular expression with the number in (brackets)"
    return ""


def _extent(value: Any) -> tuple[int, ...]:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return parse_dimensions(str(value))
