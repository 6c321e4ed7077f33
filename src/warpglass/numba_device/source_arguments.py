"""What the arguments of a CUDA C++ kernel are called, for messages about a program's launches.

Belongs here: the way from an entry of PTX to the declaration in its source. Lines of the PTX name the files;
the one that declares a kernel of this name with as many parameters says what they are called. The mangled
name says what they point to. Where neither is known, an argument has its number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..ptx.tree import Function
from ..source import cpp_text, mangled
from ..source.compiled import Argument, CType
from ..source.cpp_types import parameter_type

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s", re.MULTILINE)
_TEMPLATE = re.compile(r"<.*>$", re.DOTALL)
_RESTRICT = re.compile(r"\s*\b__restrict(?:__)?\b\s*")


def source_arguments(entry: Function, ptx: str) -> tuple[Argument, ...]:
    """An argument for every parameter of an entry of `ptx`, with name and type as far as they are known."""
    declared = _declaration(entry, ptx)
    types = mangled.parameter_types(entry.name) or tuple(map(_written, declared))
    count = len(entry.parameters)
    names = [one.name for one in declared] if len(declared) == count else [""] * count
    known = types if len(types) == count else (None,) * count
    return tuple(
        _argument(name or _own_name(entry, number), kind)
        for number, (name, kind) in enumerate(zip(names, known, strict=True), 1)
    )


def _own_name(entry: Function, number: int) -> str:
    """The name in the PTX where its author has chosen it; compilers number parameters."""
    name = entry.parameters[number - 1].name
    return f"argument {number}" if name.startswith(f"{entry.name}_param_") else name


def _argument(name: str, kind: CType | None) -> Argument:
    if kind is None or (not kind.kind and not kind.pointer):
        return Argument(name, ("any",), declared=kind)
    if not kind.pointer:
        return Argument(name, ("value",), declared=kind)
    size = kind.size * kind.count
    scalar = kind.dtype if kind.count == 1 else None
    whole = np.dtype((np.void, size)) if size else None
    return Argument(name, ("pointer",), scalar or whole, declared=kind)


def _written(parameter: cpp_text.Parameter) -> CType:
    return parameter_type(_RESTRICT.sub(" ", parameter.type).strip())


def _declaration(entry: Function, ptx: str) -> tuple[cpp_text.Parameter, ...]:
    """The parameters of the kernel in the files that its lines are of; () if it is in none."""
    name = _TEMPLATE.sub("", mangled.plain_name(entry.name))
    start = max(ptx.find(entry.name), 0)
    files = dict(_FILE.findall(ptx))
    for number in dict.fromkeys(_LOC.findall(ptx, start)):
        for kernel in _kernels(files.get(number, "")):
            same = kernel.name == name or kernel.name.rpartition("::")[2] == name.rpartition("::")[2]
            if same and kernel.parameters is not None and len(kernel.parameters) == len(entry.parameters):
                return kernel.parameters
    return ()


@lru_cache(maxsize=64)
def _kernels(file: str) -> tuple[cpp_text.KernelDeclaration, ...]:
    try:
        return cpp_text.find_kernels(Path(file).read_text("utf-8", "surrogateescape"))
    except OSError:
        return ()
