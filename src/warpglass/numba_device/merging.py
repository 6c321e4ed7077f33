"""Several PTX modules as one: what a linker does with names.

A definition takes the place of declarations of the same name. What a module keeps to itself (no .visible,
.weak or .extern) gets another name where two modules chose the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import ptx
from ..ptx import tree

_HEADER = re.compile(r"^\s*\.(?:version|target|address_size)\b.*\n?", re.MULTILINE)
_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_FILE = re.compile(r"^(\s*\.file\s+)(\d+)", re.MULTILINE)
_LOC = re.compile(r"^(\s*\.loc\s+)(\d+)(.*)$", re.MULTILINE)
_INLINED = re.compile(r"(inlined_at\s+)(\d+)")
_DEBUG = re.compile(r"^\s*\.section\s+\.debug_\w+\s*\{.*?^\s*\}", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"\$L__info_string(\d+)")


def merge(texts: Sequence[str]) -> str:
    """One module with the content of all, the newest version's header first. Raises CompileError."""
    if len(texts) == 1:
        return texts[0]
    modules = [ptx.parse(text, "PTX to be linked") for text in texts]
    taken: set[str] = set()
    bodies: list[str] = []
    files = 0
    for number, (text, module) in enumerate(zip(texts, modules, strict=True)):
        own = {name for name in _private(module) if name in taken}
        taken |= _names(module)
        for name in own:
            text = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"{name}__{number}", text)
        bodies.append(_HEADER.sub("", _renumbered(text, files, number)))
        files += max(module.files, default=0)
    newest = max(((int(a), int(b)) for text in texts for a, b in _VERSION.findall(text)), default=(9, 0))
    target = ", ".join(modules[0].target)
    head = f".version {newest[0]}.{newest[1]}\n.target {target}\n.address_size 64\n"
    return "\n".join([head, *bodies])


def _private(module: tree.Module) -> set[str]:
    things = (*module.functions, *module.variables)
    return {one.name for one in things if one.linkage == "" and not getattr(one, "entry", False)}


def _names(module: tree.Module) -> set[str]:
    return {one.name for one in (*module.functions, *module.variables)}


def _renumbered(text: str, files: int, number: int) -> str:
    """The numbers of source files made different from those before."""
    text = _DEBUG.sub("", text) if number else text
    text = _LABEL.sub(rf"$L__info_string_{number}_\1", text)
    text = _FILE.sub(lambda found: f"{found[1]}{int(found[2]) + files}", text)

    def moved(found: re.Match[str]) -> str:
        rest = _INLINED.sub(lambda inner: f"{inner[1]}{int(inner[2]) + files}", found[3])
        return f"{found[1]}{int(found[2]) + files}{rest}"

    return _LOC.sub(moved, text)
