"""What the name of a kernel says that numba has compiled: its Python name and the types of its arguments.

numba mangles names as Itanium C++ does (github.com/numba/numba, core/itanium_mangler.py), with types of its
own as templates: `5ArrayIfLi1E1C7mutable7alignedE`. Arguments become PTX parameters as source/numba_cuda.py
or source/numba_mlir.py says, which the number of parameters tells. A name with anything that is not known
here says nothing.
"""

from __future__ import annotations

import re

import numpy as np

from ..ptx.tree import Function
from ..source import mangled
from ..source.compiled import Argument
from .parameter_names import parameter_names

# Itanium codes of the builtin types, as numba uses them.
_SCALARS = {
    "b": "?",
    "a": "i1",
    "h": "u1",
    "s": "i2",
    "t": "u2",
    "i": "i4",
    "j": "u4",
    "l": "i8",
    "m": "u8",
    "x": "i8",
    "y": "u8",
    "f": "f4",
    "d": "f8",
}
_TEMPLATED = {"complex64": "c8", "complex128": "c16", "bool": "?", "float16": "f2"}
_ARRAY = re.compile(r"5ArrayI(?P<dtype>[a-z]|\d+\w+?)Li(?P<ndim>\d+)E1(?P<layout>[CFA])7mutable7alignedE")
_TEMPLATE = re.compile(r"<.*>$", re.DOTALL)
_NAMESPACED = re.compile(r"_ZN(?P<rest>\d.*)", re.DOTALL)


def plain_name(entry: str) -> str:
    """The function's name in Python or C++, without template arguments; the entry's if it is not mangled."""
    parts, _ = _split(entry)
    return parts[-1] if parts else _TEMPLATE.sub("", mangled.plain_name(entry))


def arguments_of(entry: Function, ptx: str = "") -> tuple[Argument, ...] | None:
    """The arguments of a kernel that numba has compiled to `ptx`; None where its name does not say."""
    parts, types = _split(entry.name)
    if _ARRAY.search(types) is None and not _NAMESPACED.match(entry.name):
        return None  # C++ mangles functions of scalars likewise
    kinds: list[tuple[np.dtype, int | None]] = []  # of a scalar without a number of dimensions
    while parts and types:
        array = _ARRAY.match(types)
        dtype = _dtype(types[0] if array is None else array["dtype"])
        if dtype is None:
            return None
        kinds.append((dtype, None if array is None else int(array["ndim"])))
        types = types[1 if array is None else array.end() :]
    for expand in (_numba_cuda, _numba_cuda_mlir):
        fields = [("value",) if ndim is None else expand(ndim) for _, ndim in kinds]
        if parts and sum(map(len, fields)) == len(entry.parameters):
            names = parameter_names(parts, ptx, entry.name)
            if len(names) != len(kinds):
                names = tuple(f"argument {number}" for number in range(1, len(kinds) + 1))
            return tuple(
                Argument(name, each, dtype, ndim or 0)
                for name, each, (dtype, ndim) in zip(names, fields, kinds, strict=True)
            )
    return None


def _numba_cuda(ndim: int) -> tuple[str, ...]:
    shape = (f"shape:{k}" for k in range(ndim))
    strides = (f"byte_stride:{k}" for k in range(ndim))
    return ("null", "null", "size", "itemsize", "pointer", *shape, *strides)


def _numba_cuda_mlir(ndim: int) -> tuple[str, ...]:
    shape = (f"shape:{k}" for k in range(ndim))
    strides = (f"stride:{k}" for k in range(ndim))
    return ("pointer", "pointer", "offset", *shape, *strides)


def _dtype(code: str) -> np.dtype | None:
    if code in _SCALARS:
        return np.dtype(_SCALARS[code])
    name = code.lstrip("0123456789")
    return np.dtype(_TEMPLATED[name]) if name in _TEMPLATED else None


def _split(entry: str) -> tuple[list[str], str]:
    """The parts of a name, without their tags, and what follows it; ([], "") for what is not mangled."""
    match = _NAMESPACED.fullmatch(entry)
    if match is None:  # of a function of the program itself, which is in no module: `_Z4scan5Array...`
        plain = re.match(r"_Z(\d+)", entry)
        if plain is None or len(entry) < plain.end() + int(plain[1]):
            return [], ""
        end = plain.end() + int(plain[1])
        return [entry[plain.end() : end]], entry[end:]
    rest, parts = match["rest"], list[str]()
    while rest and rest[0] != "E":
        tag = rest[0] == "B"
        size = re.match(r"\d+", rest[1:] if tag else rest)
        if size is None:
            return [], ""
        start = size.end() + int(tag)
        text, rest = rest[start : start + int(size[0])], rest[start + int(size[0]) :]
        if not tag:
            parts.append(text)
    return parts, rest[1:]
