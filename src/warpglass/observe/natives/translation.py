"""Native functions as a module of LLVM IR: which functions, under which symbols, with which constants.

The language is Python, less most of it. A variable is a word: an integer of 64 bits that wraps; a comparison
gives 0 or 1. A parameter whose annotation is neither int nor bool is the address of words, which subscripts
read and write. A function returns nothing, a word, or several of them as a tuple, and calls other native
functions, intrinsics, `min` and `max`. Integers of modules and enumerations are constants, tuples of them
tables. Shifts go by 0 to 63 places, `//` and `%` round as Python's; body.py lists the statements,
expressions.py the expressions.

So no types are inferred, and a thousand lines take LLVM a second or two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .body import Body
from .code import Callee, result_type
from .syntax import definition_of, meaning_of, parameters_of, refused, returned_by


@dataclass(frozen=True)
class Intrinsic:
    """What the language has no words for: the body of a function of LLVM's on words %0, %1, ...

    `python` does the same in Python, so that native functions run there, too.
    """

    name: str
    words: int
    body: str
    python: Callable[..., Any]
    results: int = 1

    def __call__(self, *words: Any) -> Any:
        """What it does, in Python."""
        return self.python(*words)

    @property
    def symbol(self) -> str:
        """Its symbol."""
        return f'@"intrinsic.{self.name}"'

    @property
    def definition(self) -> str:
        """The function."""
        given = ", ".join(["i64"] * self.words)
        head = f"define internal {result_type(self.results)} {self.symbol}({given}) alwaysinline #0"
        return f"{head} {{\nentry:\n{self.body}\n}}\n"


class Translation:
    """Translates `exports`, by symbol, and what they call among the `natives`; `inlined` are put in place.

    An exported function is a C function; where it returns words, it puts them where its first argument says.
    """

    def __init__(
        self,
        natives: Collection[FunctionType],
        exports: Mapping[str, FunctionType],
        inlined: Collection[FunctionType] = (),
    ):
        self._natives, self._exports, self._inlined = natives, exports, inlined
        self._waiting: list[FunctionType] = []
        self._callees: dict[FunctionType, Callee] = {}
        self._intrinsics: dict[str, Intrinsic] = {}
        self._tables: dict[tuple[int, ...], str] = {}

    def text(self) -> str:
        """The module."""
        parts = [self._exported(symbol, function) for symbol, function in sorted(self._exports.items())]
        while self._waiting:
            parts.append(self._define(self._waiting.pop()))
        parts += [one.definition for one in self._intrinsics.values()]
        parts += [_table(values, symbol) for values, symbol in self._tables.items()]
        return "\n".join(parts)

    def callee(self, function: object) -> Callee | None:
        """How to call a native function or an intrinsic, which is defined then; None for anything else."""
        if isinstance(function, Intrinsic):
            self._intrinsics[function.name] = function
            return Callee(function.symbol, ("i64",) * function.words, function.results)
        if not isinstance(function, FunctionType) or function not in self._natives:
            return None
        if function not in self._callees:
            symbol = f'@"{function.__module__}.{function.__name__}"'
            parameters = tuple(kind for _, kind in parameters_of(function))
            self._callees[function] = Callee(symbol, parameters, self._results(function))
            self._waiting.append(function)
        return self._callees[function]

    def table(self, values: tuple[int, ...]) -> str:
        """The address of a tuple's words."""
        return self._tables.setdefault(values, f"@table.{len(self._tables)}")

    def _exported(self, symbol: str, function: FunctionType) -> str:
        callee = self.callee(function)
        assert callee is not None, f"{function.__name__} is no native function"
        names = [f"{kind} %{number}" for number, kind in enumerate(callee.parameters)]
        given = f"{callee.symbol}({', '.join(names)})"
        kind = result_type(callee.results)
        if callee.results == 0:
            body = f"call void {given}"
        else:
            names.insert(0, "ptr %results")
            body = f"%found = call {kind} {given}\nstore {kind} %found, ptr %results, align 8"
        # Arguments are numbered, and so is the entry block if it has no name.
        return f"define void @{symbol}({', '.join(names)}) #0 {{\nentry:\n{body}\nret void\n}}\n"

    def _define(self, function: FunctionType) -> str:
        callee = self._callees[function]
        kind = result_type(callee.results)
        parameters = parameters_of(function)
        body = Body(self.callee, self.table, function, parameters, callee.results).text()
        given = ", ".join(f"{kind} %{name}.given" for name, kind in parameters)
        inline = "alwaysinline " if function in self._inlined else ""
        return f"define internal {kind} {callee.symbol}({given}) {inline}#0 {{\n{body}}}\n"

    def _results(self, function: FunctionType) -> int:
        """How many words it returns."""
        found = {self._returned(function, value) for value in returned_by(function)} or {0}
        if len(found) > 1:
            raise refused(function, definition_of(function), "returns different numbers of words")
        return found.pop()

    def _returned(self, function: FunctionType, value: ast.expr | None) -> int:
        if value is None:
            return 0
        if isinstance(value, ast.IfExp):
            value = value.body
        if isinstance(value, ast.Tuple):
            return len(value.elts)
        callee = self.callee(meaning_of(function, value.func)) if isinstance(value, ast.Call) else None
        return 1 if callee is None else callee.results


def _table(values: tuple[int, ...], symbol: str) -> str:
    words = ", ".join(f"i64 {value}" for value in values)
    return f"{symbol} = internal constant [{len(values)} x i64] [{words}]\n"
