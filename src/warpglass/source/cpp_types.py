"""C++ types of parameters and variables, as far as arguments must agree with them.

Belongs here: from a type's name, spelled as a compiler or a demangler spells it (no typedefs), to what its
elements are. A vector type (float4, complex<float>, __half2) is so many elements of its scalar type. What
has no counterpart in NumPy, such as a structure, void and a pointer, is opaque: its bytes are the author's
business.
"""

from __future__ import annotations

import re

from .compiled import CType

_FUNDAMENTAL = {
    "float": ("f", 4),
    "double": ("f", 8),
    "bool": ("b", 1),
    "__nv_bool": ("b", 1),
    "char": ("i", 1),
    "signed char": ("i", 1),
    "unsigned char": ("u", 1),
    "short": ("i", 2),
    "unsigned short": ("u", 2),
    "int": ("i", 4),
    "unsigned int": ("u", 4),
    "unsigned": ("u", 4),
    "long": ("i", 8),
    "unsigned long": ("u", 8),
    "long long": ("i", 8),
    "unsigned long long": ("u", 8),
    "char8_t": ("u", 1),
    "char16_t": ("u", 2),
    "char32_t": ("u", 4),
    "wchar_t": ("i", 4),
    "__half": ("f", 2),
    "__nv_bfloat16": ("bfloat", 2),
}
_VECTOR = re.compile(
    r"(?P<unsigned>u?)(?P<scalar>char|short|int|longlong|long|float|double)(?P<count>[1-4])(?:_(?:16|32)a)?"
)
_HALVES = {"__half2": "__half", "__nv_bfloat162": "__nv_bfloat16"}
_COMPLEX = re.compile(r"(?:\w+::)*complex<(float|double|__half)>")
_QUALIFIER = re.compile(r"\b(?:const|volatile|struct|class|enum|union)\b|__restrict__|__restrict")
_EXTENTS = re.compile(r"\s*((?:\[\d+\])+)$")


_ROWS = re.compile(r"\s*\(\*\)(?:\[\d+\])+$")
# What a type is made of, as CType has it: kind, bytes of a scalar, how many of them.
_Elements = tuple[str, int, int]
_OPAQUE: _Elements = ("", 0, 1)


def parameter_type(text: str, size: int = 0, enumeration: str = "") -> CType:
    """The type of a parameter spelled `text`.

    `size` is that of what a pointer points to, else of the type itself, in bytes (0: not known);
    `enumeration` is "i" or "u" where that is an enumeration of signed or unsigned numbers.
    """
    if rows := _ROWS.search(text):  # T (*)[4]
        return CType(text, True, *_elements(text[: rows.start()], size, enumeration))
    pointer = text.endswith("*")
    return CType(text, pointer, *_elements(text.removesuffix("*"), size, enumeration))


def variable_type(text: str, size: int = 0, enumeration: str = "") -> tuple[CType, tuple[int, ...]]:
    """The element type and the extents of a variable of the type spelled `text`; `size` is an element's."""
    extents = _EXTENTS.search(text)
    element = text[: extents.start()].rstrip() if extents else text
    shape = tuple(map(int, re.findall(r"\d+", extents[1]))) if extents else ()
    return CType(element, False, *_elements(element, size, enumeration)), shape


def _elements(text: str, size: int, enumeration: str) -> _Elements:
    name = " ".join(_QUALIFIER.sub(" ", text).split())
    if name.endswith("*"):
        return "pointer", 8, 1
    if enumeration and size:
        return enumeration, size, 1
    if name in _FUNDAMENTAL:
        kind, usual = _FUNDAMENTAL[name]
        return kind, size or usual, 1  # a long has 4 bytes on Windows
    if name in _HALVES:
        return *_FUNDAMENTAL[_HALVES[name]], 2
    if found := _COMPLEX.fullmatch(name):
        return *_FUNDAMENTAL[found[1]], 2
    if found := _VECTOR.fullmatch(name):
        scalar = ("unsigned " if found["unsigned"] else "") + found["scalar"].replace("longlong", "long long")
        kind, usual = _FUNDAMENTAL.get(scalar, _OPAQUE[:2])
        return (kind, usual, int(found["count"])) if kind else _OPAQUE
    return "", size, 1
