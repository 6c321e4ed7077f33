"""PTX kernels: the text is the program; only the entry has to be found.

Belongs here: entry names and parameter types by regular expression, enough to choose an entry without parsing
(the parser, further on, reports what is malformed). Entries with unsupported instructions do no harm here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from ..errors import CompileError, UnknownKernel
from ..records.spelling import did_you_mean
from . import mangled
from .compiled import Argument, Compiled, CType, DeclaredKernel, FixedSource, ModuleVariable

VariableType = tuple[CType, tuple[int, ...]]  # of elements, and extents

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+([\w$%.@]+)\s*(?:\(([^)]*)\))?")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*")
_VARIABLE = re.compile(
    r"^[ \t]*(?:\.(?P<linkage>visible|weak|extern|common)\s+)?\.(?:const|global)\s+"
    r"(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+\d+\s+)?(?:\.v(?P<vector>[248])\s+)?"
    r"\.(?P<type>[bfus]\d+)\s+(?P<name>[\w$]+)(?P<extents>(?:\[\d*\])*)\s*[;=]",
    re.MULTILINE,
)
_LIBRARIES = ("cooperative_groups::", "cuda::", "cub::", "thrust::", "std::")  # whose variables are their own
_DIALECT = re.compile(r"^\s*\.(?:version|target)\b", re.MULTILINE)


def load_ptx(text: str, file: str, name: str | None) -> FixedSource:
    """Return the entry `name` of PTX text, or its only entry; `file` is for messages.

    Raises CompileError if there is no such entry, or no telling which.
    """
    if not _DIALECT.search(text):
        raise CompileError(f"{file}: this is not PTX (no .version and no .target line)")
    entry = choose_entry(text, name, file)
    compiled = Compiled(text, entry, entry, "ptx", _arguments(text, entry), variables=module_variables(text))
    return FixedSource(compiled)


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


def declared_in_ptx(text: str) -> tuple[DeclaredKernel, ...]:
    """The kernels of PTX text, with the C++ types of their parameters where mangled names tell them."""
    clean = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return tuple(
        DeclaredKernel(
            found[1],
            ", ".join(one.text for one in mangled.parameter_types(found[1]))
            or ", ".join(f".{kind}" for kind in _PARAMETER.findall(found[2] or "")),
            clean.count("\n", 0, found.start()) + 1,
        )
        for found in _ENTRY.finditer(clean)
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


def module_variables(
    text: str, types: Mapping[str, VariableType] | None = None
) -> tuple[ModuleVariable, ...]:
    """The variables of PTX text outside of its functions that have a name in C++ or are no compiler's own.

    `types` has what is known of the elements and extents of some by their C++ names.
    """
    found = list[ModuleVariable]()
    for match in _VARIABLE.finditer(_COMMENT.sub(" ", text)):
        symbol, kind = match["name"], match["type"]
        if symbol.startswith(("$", "_ZZ", "__warpglass")) or match["linkage"] == "extern":
            continue
        shape = tuple(map(int, re.findall(r"\d+", match["extents"])))
        size = int(kind[1:]) // 8 * int(match["vector"] or 1) * prod(shape)
        name = mangled.plain_name(symbol)
        if name.startswith(_LIBRARIES):
            continue
        element, extents = (types or {}).get(name) or _element(kind, shape)
        if element is not None and element.size * element.count * prod(extents) != size:
            element, extents = None, ()
        found.append(ModuleVariable(name, symbol, size, element, extents))
    return tuple(found)


def _element(kind: str, shape: tuple[int, ...]) -> tuple[CType | None, tuple[int, ...]]:
    """What a PTX type says: bits without a meaning say nothing."""
    if kind[0] not in "fus" or kind == "f16":
        return None, ()
    return CType(f".{kind}", False, kind[0].replace("s", "i"), int(kind[1:]) // 8), shape


def choose_entry(text: str, name: str | None, file: str) -> str:
    """Return `name` if it is an entry, or the only entry if `name` is None."""
    names = entry_names(text)
    if name is None and len(names) == 1:
        return names[0]
    if name in names:
        return name
    problem = (
        "name the kernel to load" if name is None else f"no kernel named {name}{did_you_mean(name, names)}"
    )
    if not names:
        problem = "it has no kernels"
    raise UnknownKernel(
        f"{file}: {problem}" + (f"; kernels in the file: {', '.join(names)}" if names else "")
    )
