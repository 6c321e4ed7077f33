"""What the two packages that compile Python kernels have in common; one file per package describes each.

Belongs here: the record that describes a package, the choice between them, and the trimming of their errors.
"""

from __future__ import annotations

import enum
import linecache
import re
import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..errors import CompileError, Diagnostic
from .argument_types import ArgumentType
from .cache import versions
from .compiled import ExceptionVariables

Function = types.FunctionType


PtxAndExceptions = tuple[str, ExceptionVariables | None]


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """One package: how it is found, asked for PTX, and how it passes arguments.

    `compile_ptx(function, types, target, options)` needs no GPU and no driver; it gives PTX, and how the
    kernel raises exceptions (None without debug=True). `expand(type)` gives the Argument.fields of one
    argument. While `without_driver(target)` is entered, @cuda.jit with explicit
    signatures asks no driver. `modules` are import paths of its `cuda`, `types` and top level.
    """

    name: str
    distributions: tuple[str, ...]  # the first is the package, the rest also shape its output
    modules: Mapping[str, str]
    options: tuple[str, ...]  # of a dispatcher that change the PTX
    compile_ptx: Callable[[Function, tuple[ArgumentType, ...], str, Mapping[str, object]], PtxAndExceptions]
    expand: Callable[[ArgumentType], tuple[str, ...]]
    without_driver: Callable[[str], AbstractContextManager[None]]


@cache
def version_of(package: Package) -> str | None:
    """Return the versions that determine the package's output, None if it is not installed."""
    return versions(*package.distributions)


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r"\bat (/[^\n]*?|[A-Za-z]:[^\n]*?) \((\d+)\)")
_FILE_LINE = re.compile(r'^File "([^"\n]+)", line (\d+):', re.MULTILINE)
_INNER = re.compile(r"^\s*(?:Rejected[^\n]*\n)?\s*\w*Error: (.+)$", re.MULTILINE)
_NAME_ERROR = re.compile(r"name '(\w+)' is not defined|has no attribute '(\w+)'")


def explain(error: Exception, function: Function, package: Package) -> CompileError:
    """Turn what a package raised into an error that names file and line and says only what helps."""
    text = _COLOUR.sub("", str(error)) or type(error).__name__
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    line = first
    place = _PLACE.search(text)
    if place:
        file, line = place[1], int(place[2])
    elif shown := _FILE_LINE.search(text):
        line = int(shown[2])
    elif missing := _NAME_ERROR.search(text):
        line = _line_naming(function, missing[1] or missing[2])
    message = _trimmed(text)
    if isinstance(error, AttributeError):
        message = text.strip()
    return CompileError(
        f"{function.__name__}: {package.name} cannot compile this kernel",
        (Diagnostic(message, file, line, text=_source_line(file, line)),),
    )


def _trimmed(text: str) -> str:
    """Keep the sentence that names the mistake: numba wraps it into pipeline steps and candidate lists."""
    body = re.sub(r"^Failed in \w+ mode pipeline[^\n]*\n", "", text.strip())
    inner = _INNER.findall(body)
    body = re.split(r"\n\s*(?:File \"|During: |There are \d+ candidate)", "\n" + body, maxsplit=1)[0]
    lines = [line.strip() for line in body.splitlines() if line.strip() and line.strip() != ">>>"]
    message = " ".join(line.removeprefix(">>> ") for line in lines) or text.strip().splitlines()[0]
    specific = [found for found in inner if found not in message]
    return f"{message} ({specific[-1]})" if specific else message


def _source_line(file: str, line: int) -> str | None:
    return linecache.getline(file, line).rstrip("\n") or None


def _line_naming(function: Function, name: str) -> int:
    """Return the first line of the function where `name` stands."""
    first = function.__code__.co_firstlineno
    for line in range(first, max((n for *_, n in function.__code__.co_lines() if n), default=first) + 1):
        if re.search(rf"\b{name}\b", _source_line(function.__code__.co_filename, line) or ""):
            return line
    return first


def capability(target: str) -> tuple[Any, ...]:
    """Return a target as the packages write it: (9, 0) for "sm_90", (9, 0, "a") for "sm_90a"."""
    found = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target)
    if not found:
        raise CompileError(f"target {target!r}: expected a form such as 'sm_90'")
    return (int(found[1]), int(found[2]), *filter(None, [found[3]]))


def numba_type(kind: ArgumentType, numba_types: Any, numpy_support: Any) -> object:
    """Return a package's own type for an ArgumentType, given its modules of these names."""
    if kind.is_tuple:
        items = [numba_type(item, numba_types, numpy_support) for item in kind.items]
        return numba_types.BaseTuple.from_types(items, kind.python)
    element = numpy_support.from_dtype(kind.dtype)
    if kind.python is not None:
        member = (
            numba_types.IntEnumMember if issubclass(kind.python, enum.IntEnum) else numba_types.EnumMember
        )
        return member(kind.python, element)
    if not kind.is_array:
        return element
    aligned = kind.dtype.names is None or kind.dtype.isalignedstruct
    return numba_types.Array(element, kind.ndim, kind.layout, aligned=aligned)


def signature_type(numba_type: Any) -> ArgumentType:
    """Return the ArgumentType of one type of an explicit signature, of either package.

    Raises CompileError for what kernels here do not take (tuples, records by name).
    """
    layout = getattr(numba_type, "layout", "")
    element = numba_type.dtype if layout else numba_type
    try:
        dtype = (
            element.dtype if hasattr(element, "fields") else np.dtype(str(element).replace("boolean", "bool"))
        )
    except TypeError:
        raise CompileError(f"explicit signature: arguments of type {numba_type} are not supported") from None
    return ArgumentType(dtype, numba_type.ndim if layout else 0, layout)
