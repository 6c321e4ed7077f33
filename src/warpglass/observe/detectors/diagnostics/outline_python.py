"""The statements of a Python text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .statement import Statement

_KINDS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "function",
    ast.ClassDef: "function",
    ast.If: "if",
    ast.For: "loop",
    ast.While: "loop",
    ast.Match: "switch",
    ast.With: "group",
    ast.Try: "group",
    ast.Return: "jump",
    ast.Break: "jump",
    ast.Continue: "jump",
    ast.Raise: "jump",
}


def read_python(text: str) -> tuple[Statement, ...]:
    """The statements of a module; raises SyntaxError."""
    return _all(ast.parse(text).body)


def _all(nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
    return tuple(map(_one, nodes))


def _one(node: ast.stmt) -> Statement:
    last = node.end_lineno or node.lineno
    kind = _KINDS.get(type(node), "simple")
    if isinstance(node, ast.Match):
        bodies = [case.body for case in node.cases]
    else:
        bodies = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    branches = tuple(_all(body) for body in bodies if body)
    if not branches:
        leaves = isinstance(node, ast.Break | ast.Continue)
        return Statement(kind, node.lineno, last, last, leaves=leaves)
    head = max(node.lineno, branches[0][0].first - 1)
    # A body on its header's line has no room for a line of its own.
    braced = tuple(branch[0].first > node.lineno for branch in branches)
    return Statement(kind, node.lineno, last, head, branches, braced)
