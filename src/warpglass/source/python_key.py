"""The content key of a Python kernel: a digest of everything that its PTX depends on.

Belongs here: describing a function by its source text (comments, blank space and place do not count, relative
lines do), the values it takes from outside, and its device functions in the same way. A value that cannot be
described with certainty makes the kernel uncacheable, never wrongly cached. Nothing here imports a compiler.
"""

from __future__ import annotations

import inspect
import io
import linecache
import tokenize
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cache import digest
from .numba_package import Function
from .python_names import device_options, is_dispatcher, is_library, module_of, package_of, references
from .relocate import Layout, Piece

_MODULES = frozenset({"math", "cmath", "numpy", "operator", "builtins"})
_SKIPPED = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


class Unkeyable(Exception):
    """A kernel that refers to something whose content cannot be told."""


@dataclass(frozen=True, slots=True)
class Described:
    """A function's content (the same on every machine), its bytecode's digest and where its lines stand."""

    content: str
    bytecode: str
    layout: Layout


def describe(function: Function) -> Described:
    """Describe a kernel and all it calls; raises Unkeyable."""
    walk = _Walk()
    walk.function(function)
    return Described(digest(*walk.parts), digest(*walk.bytecode), Layout(pieces=tuple(walk.pieces)))


@dataclass(slots=True)
class _Walk:
    """One walk over a kernel and the functions it calls; each function counts once."""

    parts: list[str] = field(default_factory=list[str])
    bytecode: list[bytes | str] = field(default_factory=list[bytes | str])
    pieces: list[Piece] = field(default_factory=list[Piece])
    seen: dict[types.CodeType, list[object]] = field(default_factory=dict[types.CodeType, list[object]])

    def function(self, function: Function) -> None:
        code = function.__code__
        try:
            closed = [cell.cell_contents for cell in function.__closure__ or ()]
        except ValueError:
            raise Unkeyable(f"a closure of {function.__name__} that is not complete") from None
        if code in self.seen:
            if self.seen[code] is not closed and any(
                old is not new for old, new in zip(self.seen[code], closed, strict=True)
            ):
                raise Unkeyable(f"two closures of {function.__name__}")
            self.parts.append(f"again {list(self.seen).index(code)}")
            return
        self.seen[code] = closed
        self.parts.append(f"function {function.__name__} {self.source(code)}")
        self.code(code)
        for default in (function.__defaults__ or ()) + tuple((function.__kwdefaults__ or {}).items()):
            self.value("default", default)
        for name, value in sorted(references(function).items()):
            self.value(name, value)

    def source(self, code: types.CodeType) -> str:
        """Return the tokens of a function with their lines, counted from its first, and note its piece."""
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        if not lines:
            raise Unkeyable(f"the source of {code.co_name} is not to be found")
        try:
            block = inspect.getblock(lines)
            tokens = list(tokenize.generate_tokens(io.StringIO("".join(block)).readline))
        except (tokenize.TokenError, SyntaxError, IndentationError):
            raise Unkeyable(f"the source of {code.co_name} cannot be read by itself") from None
        self.pieces.append(Piece(code.co_filename, code.co_firstlineno, len(block)))
        words = [token for token in tokens if token.type not in _SKIPPED]
        start = next((i for i, token in enumerate(words) if token.string in ("def", "lambda")), 0)
        return " ".join(f"{token.start[0]}:{token.string}" for token in words[start:])

    def code(self, code: types.CodeType) -> None:
        """Note the bytecode: it guards against a file that was edited after its import."""
        self.bytecode.append(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.code(constant)
            else:
                self.bytecode.append(repr(constant))

    def value(self, name: str, value: object) -> None:
        """Note what a name means."""
        if isinstance(value, types.FunctionType) and not is_library(value):
            self.parts.append(f"{name} = device function")
            self.function(value)
        elif is_dispatcher(value):
            dispatcher: Any = value
            self.parts.append(f"{name} = device function {sorted(device_options(dispatcher).items())!r}")
            self.function(dispatcher.py_func)
        else:
            self.parts.append(f"{name} = {_describe_value(name, value)}")


def _describe_value(name: str, value: object) -> str:
    if value is None:
        return "module cuda" if name == "cuda" else "None"
    if type(value) in (bool, int, float, complex, str, bytes):
        return f"{type(value).__name__} {value!r}"
    if type(value) is tuple:
        return f"({', '.join(_describe_value('', item) for item in value)})"
    if isinstance(value, np.ndarray | np.generic | np.dtype | np.ufunc):
        return _describe_numpy(name, value)
    if isinstance(value, types.ModuleType):
        return _describe_module(name, value)
    if package_of(value) is not None:
        own = getattr(value, "__qualname__", None)
        shown = own if isinstance(own, str) else str(value)
        if " at 0x" in shown:
            raise Unkeyable(name)
        return f"{'name' if own else type(value).__name__} {shown}"
    if is_library(value) and isinstance(getattr(value, "__qualname__", None), str):
        return f"{module_of(value).partition('.')[0]} {value.__qualname__}"  # type: ignore[attr-defined]
    raise Unkeyable(name)


def _describe_numpy(name: str, value: np.ndarray[Any, Any] | np.generic | np.dtype[Any] | np.ufunc) -> str:
    if isinstance(value, np.ufunc):
        return f"ufunc {value.__name__}"
    if isinstance(value, np.dtype):
        return f"dtype {value.descr!r} {value.itemsize}"
    if value.dtype.hasobject:
        raise Unkeyable(name)
    if isinstance(value, np.generic):
        return f"{value.dtype.descr!r} {value.tobytes().hex()}"
    return f"array {value.dtype.descr!r} {value.shape} {value.strides} {digest(value.tobytes())}"


def _describe_module(name: str, module: types.ModuleType) -> str:
    origin = package_of(module)
    if origin is not None:
        for place, path in sorted(origin.modules.items(), key=lambda item: -len(item[1])):
            if module.__name__ == path or module.__name__.startswith(path + "."):
                return f"module {place}{module.__name__[len(path) :]}"
        return f"module {module.__name__}"
    if module.__name__ in _MODULES:
        return f"module {module.__name__}"
    raise Unkeyable(name)
