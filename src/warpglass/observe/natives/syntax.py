"""Native functions as Python sees them: their syntax trees, and what names in them stand for."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import cache
from types import FunctionType

_BUILTINS = {"min": min, "max": max, "range": range}
_WORDS = (None, "int", "bool")  # annotations of parameters that are words


class NotNative(Exception):
    """Python that is not of the language of native functions; the text names file and line."""


def refused(function: FunctionType, node: ast.AST, why: str) -> NotNative:
    """The error for what a function says at a node."""
    line = getattr(node, "lineno", function.__code__.co_firstlineno)
    return NotNative(f"{function.__code__.co_filename}:{line}: the native function {function.__name__} {why}")


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """The function's syntax tree."""
    return _definitions(function.__code__.co_filename)[function.__name__]


@cache
def _definitions(file: str) -> dict[str, ast.FunctionDef]:
    """The functions of a file, by name."""
    tree = ast.parse("".join(linecache.getlines(file)), file)
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def parameters_of(function: FunctionType) -> list[tuple[str, str]]:
    """The names of its parameters and their types in LLVM: words, or addresses of words."""
    definition = definition_of(function)
    given = definition.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        raise refused(function, definition, "has parameters that are optional or named")
    texts = [(one.arg, one.annotation and ast.unparse(one.annotation)) for one in given.args]
    return [(name, "i64" if text in _WORDS else "ptr") for name, text in texts]


def returned_by(function: FunctionType) -> Iterator[ast.expr | None]:
    """What its return statements give."""
    return (node.value for node in ast.walk(definition_of(function)) if isinstance(node, ast.Return))


def meaning_of(function: FunctionType, node: ast.expr) -> object:
    """What a name, or one within a module or class, stands for outside of the function; None if unknown."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id, _BUILTINS.get(node.id))
    if isinstance(node, ast.Attribute):
        return getattr(meaning_of(function, node.value), node.attr, None)
    return None
