"""Several PTX modules as one: what a linker does with names.

A definition takes the place of declarations of the same name, and of weak and common definitions. What a
module keeps to itself (no .visible, .weak, .common or .extern) gets another name where two modules chose the
same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from .. import ptx
from ..ptx import tree

Named = TypeVar("Named", tree.Function, tree.Variable)


def merge(texts: Sequence[str]) -> str:
    """One module with the content of all. Raises CompileError."""
    if len(texts) == 1:
        return texts[0]
    taken: set[str] = set()
    modules: list[tree.Module] = []
    for number, text in enumerate(texts):
        module = ptx.parse(text, "PTX to be linked")
        doubles = _private(module) & taken
        if doubles:
            for name in doubles:
                text = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"{name}__{number}", text)
            module = ptx.parse(text, "PTX to be linked")
        taken |= {one.name for one in (*module.functions, *module.variables)}
        modules.append(module)
    paths = dict.fromkeys(path for module in modules for path in module.files.values())
    aliases = {alias: name for module in modules for alias, name in module.aliases.items()}
    whole = replace(
        modules[0],
        version=max(module.version for module in modules),
        functions=_strongest([one for module in modules for one in module.functions]),
        variables=_strongest([one for module in modules for one in module.variables]),
        files=dict(enumerate(paths, start=1)),
        aliases=aliases,
    )
    return ptx.print_module(whole)


def _private(module: tree.Module) -> set[str]:
    """The names that other modules do not see."""
    functions = {one.name for one in module.functions if one.linkage == "" and not one.entry}
    return functions | {one.name for one in module.variables if one.linkage == ""}


def _strongest(things: Sequence[Named]) -> tuple[Named, ...]:
    """One of each name: a definition rather than a weak or common one, any of them rather than none."""
    found: dict[str, Named] = {}
    for one in things:
        if one.name not in found or _rank(one) > _rank(found[one.name]):
            found[one.name] = one
    return tuple(found.values())


def _rank(one: tree.Function | tree.Variable) -> int:
    if one.linkage == "extern" or (isinstance(one, tree.Function) and one.body is None):
        return 0
    return 1 if one.linkage in ("weak", "common") else 2
