"""Names of C++ as they stand in PTX: what an entry or a variable is called, and an entry's parameter types.

Belongs here: the part of the Itanium C++ ABI's mangling (itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling)
that kernels and module variables are named by. What lies beyond it (lambdas, member pointers, expressions as
template arguments) has no reading, and whoever asked goes without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from .compiled import CType
from .cpp_types import parameter_type

_BUILTIN = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "z": "...",
}
_BUILTIN_D = {"Dh": "_Float16", "Ds": "char16_t", "Di": "char32_t", "Du": "char8_t"}
_QUALIFIERS = {"r": "__restrict__", "V": "volatile", "K": "const"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNNAMED = ("_GLOBAL__N_", "_INTERNAL_")


class _UnreadableError(Exception):
    """The name has a part that is not read here."""


def parameter_types(symbol: str) -> tuple[CType, ...]:
    """The types of the parameters of a mangled function name; () if it is none, or cannot be read."""
    return tuple(map(parameter_type, _read(symbol)[1]))


def plain_name(symbol: str) -> str:
    """The C++ name behind a symbol, without unnamed namespaces; the symbol itself if it cannot be read."""
    return _read(symbol)[0] or symbol


@cache
def _read(symbol: str) -> tuple[str, tuple[str, ...]]:
    """The name and the parameter types; ("", ()) if the symbol is not mangled or cannot be read."""
    if not symbol.startswith("_Z"):
        return "", ()
    reader = _Reader(symbol, 2)
    try:
        name, template = reader.name(is_type=False)
        types = list[str]()
        if template and reader.at < len(symbol):
            reader.type()  # what it returns
        while reader.at < len(symbol) and symbol[reader.at] not in ".$":
            types.append(reader.type())
    except (_UnreadableError, IndexError, RecursionError):
        return "", ()
    return name, () if types == ["void"] else tuple(types)


@dataclass(slots=True)
class _Reader:
    """A position in a mangled name, and what it may refer back to."""

    text: str
    at: int
    known: list[str] = field(default_factory=list[str])  # what S_, S0_, ... stand for
    template: list[str] = field(default_factory=list[str])  # what T_, T0_, ... stand for

    def _next(self, length: int = 1) -> str:
        found = self.text[self.at : self.at + length]
        if len(found) < length:
            raise _UnreadableError
        self.at += length
        return found

    def _has(self, start: str) -> bool:
        if self.text.startswith(start, self.at):
            self.at += len(start)
            return True
        return False

    def _note(self, text: str) -> str:
        self.known.append(text)
        return text

    # ------------------------------------------------------------------------------------ names
    def name(self, *, is_type: bool) -> tuple[str, bool]:
        """A name, and whether it ends in template arguments."""
        if self._has("N"):
            return self._nested(is_type)
        noted = False
        if self._has("St"):
            name = "std::" + self._identifier()
        elif self.text.startswith("S", self.at):
            name, noted = self._substitution(), True
        else:
            name = self._identifier()
        if not self.text.startswith("I", self.at):
            return (self._note(name) if is_type and not noted else name), False
        if not noted:
            self._note(name)
        name += self._arguments(is_type)
        return (self._note(name) if is_type else name), True

    def _nested(self, is_type: bool) -> tuple[str, bool]:
        while self.text[self.at] in _QUALIFIERS:
            self.at += 1
        parts, template = "", False
        while not self._has("E"):
            is_noted = False
            if self._has("St"):
                parts, is_noted = "std", True
            elif self.text.startswith("S", self.at):
                parts, is_noted = self._substitution(), True
            elif self.text.startswith("I", self.at):
                parts, template = parts + self._arguments(is_type), True
            else:
                own = self._identifier()
                parts, template = "::".join(filter(None, (parts, own))), False
            if not is_noted and (is_type or not self.text.startswith("E", self.at)):
                self._note(parts)
        return parts, template

    def _identifier(self) -> str:
        self._has("L")  # internal linkage
        digits = re.compile(r"\d+").match(self.text, self.at)
        if digits is None:
            raise _UnreadableError
        self.at = digits.end()
        found = self._next(int(digits[0]))
        return "" if found.startswith(_UNNAMED) else found

    def _substitution(self) -> str:
        self._next()
        return self.known[self._number()]

    def _number(self) -> int:
        """The sequence number before the next underscore: none is 0, 0 is 1."""
        digits, _, _ = self.text[self.at :].partition("_")
        self._next(len(digits) + 1)
        number = 0
        for digit in digits:
            if digit not in _DIGITS:
                raise _UnreadableError
            number = number * 36 + _DIGITS.index(digit)
        return number + 1 if digits else 0

    def _arguments(self, is_type: bool) -> str:
        """Template arguments; those of the function itself are what T_ stands for."""
        self._next()
        found = list[str]()
        while not self._has("E"):
            if self._has("J"):
                while not self._has("E"):
                    found.append(self._argument())
            else:
                found.append(self._argument())
        if not is_type:
            self.template = found
        return f"<{', '.join(found)}>"

    def _argument(self) -> str:
        if not self._has("L"):
            return self.type()
        kind = self.type()
        value, _, _ = self.text[self.at :].partition("E")
        self._next(len(value) + 1)
        value = value.replace("n", "-")
        return value if kind != "bool" else ("true" if value == "1" else "false")

    # ------------------------------------------------------------------------------------ types
    def type(self) -> str:
        """A type, spelled as compilers do: `const float *`."""
        qualifiers = list[str]()
        while self.text[self.at : self.at + 1] in _QUALIFIERS and self.at < len(self.text):
            qualifiers.append(_QUALIFIERS[self._next()])
        if qualifiers:
            return self._note(_qualified(self.type(), [*reversed(qualifiers)]))
        for letter, sign in (("P", "*"), ("R", "&"), ("O", "&&")):
            if self._has(letter):
                return self._note(_pointer(self.type(), sign))
        if self._has("T"):
            return self._note(self.template[self._number()])
        if self._has("A"):
            extent, _, _ = self.text[self.at :].partition("_")
            self._next(len(extent) + 1)
            return self._note(f"{self.type()} [{extent}]")
        if self._has("F"):
            return self._function()
        return self._plain()

    def _plain(self) -> str:
        two = self.text[self.at : self.at + 2]
        if two in _BUILTIN_D:
            self.at += 2
            return _BUILTIN_D[two]
        if two[:1] in _BUILTIN:
            return _BUILTIN[self._next()]
        if two[:1].isdigit() or two[:1] in ("N", "S"):
            return self.name(is_type=True)[0]
        raise _UnreadableError

    def _function(self) -> str:
        result = self.type()
        taken = list[str]()
        while not self._has("E"):
            taken.append(self.type())
        return self._note(f"{result} ({', '.join(taken)})")


def _qualified(text: str, qualifiers: list[str]) -> str:
    words = " ".join(qualifiers)
    return f"{text}{words}" if text.endswith("*") else f"{words} {text}"


def _pointer(text: str, sign: str) -> str:
    """A pointer or reference to a type; to arrays and functions as C++ writes them."""
    inner = re.search(r" (?:\[\d+\]|\(.*\))$", text)
    if inner:
        return f"{text[: inner.start()]} ({sign}){inner[0][1:]}"
    return text + sign if text.endswith("*") else f"{text} {sign}"
