"""Reading the ELF files that hold a GPU's machine code.

Belongs here: sections, symbols and the attribute lists of .nv.info, as bytes become records. What an
attribute means is its reader's business. The format is ELF64, little-endian (System V ABI, chapter 4); the
attribute lists are NVIDIA's: a byte for the format, a byte for the attribute, two bytes of value or, in
format 4, the length of what follows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import WarpglassError

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NO_BITS = 8  # a section that takes no place in the file
_BYTE_VALUE, _HALF_VALUE, _SIZED_VALUE = 2, 3, 4  # formats of an attribute's value


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its size in bytes, and its content (empty if the file holds none)."""

    name: str
    size: int
    content: bytes
    link: int

    def words(self) -> tuple[int, ...]:
        """The content as 32-bit words."""
        return struct.unpack(f"<{len(self.content) // 4}I", self.content[: len(self.content) // 4 * 4])


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol: its name, address or offset, size, the number of its section, and its kind (STT_*)."""

    name: str
    value: int
    size: int
    section: int
    kind: int


@dataclass(frozen=True)
class Elf:
    """A file's sections in their order."""

    sections: tuple[Section, ...]

    @cached_property
    def _by_name(self) -> Mapping[str, Section]:
        return {section.name: section for section in self.sections}

    def section(self, name: str) -> Section | None:
        """The section of this name, None if there is none."""
        return self._by_name.get(name)


def read_elf(image: bytes) -> Elf:
    """Return the sections of an ELF64 file; raises WarpglassError if it is none."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise WarpglassError("the machine code is no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", image, 0x3A)
    heads = [_SECTION.unpack_from(image, offset + size * index) for index in range(count)]
    names = _content(image, heads[names_at])
    return Elf(
        tuple(Section(_name(names, head[0]), head[5], _content(image, head), head[6]) for head in heads)
    )


def _content(image: bytes, head: tuple[int, ...]) -> bytes:
    return b"" if head[1] == _NO_BITS else image[head[4] : head[4] + head[5]]


def _name(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode(errors="replace")


def symbols(elf: Elf) -> tuple[Symbol, ...]:
    """Return the symbol table; a symbol's place in it is its number."""
    table = elf.section(".symtab")
    if table is None:
        return ()
    names = elf.sections[table.link].content
    return tuple(
        Symbol(_name(names, name), value, size, section, info & 15)
        for name, info, _, section, value, size in _SYMBOL.iter_unpack(table.content)
    )


def attributes(elf: Elf, name: str) -> Mapping[tuple[int, int | None], int]:
    """Return the numbers in an attribute list: {(attribute, symbol): value}.

    The symbol is None for attributes of the kernel that the list belongs to. Longer values are left out.
    """
    section = elf.section(name)
    content = section.content if section else b""
    found: dict[tuple[int, int | None], int] = {}
    place = 0
    while place + 4 <= len(content):
        form, attribute, value = struct.unpack_from("<BBH", content, place)
        place += 4
        if form == _SIZED_VALUE:
            if value == 8:
                symbol, number = struct.unpack_from("<II", content, place)
                found[attribute, symbol] = number
            place += value
        elif form in (_BYTE_VALUE, _HALF_VALUE):
            found[attribute, None] = value & 0xFF if form == _BYTE_VALUE else value
    return found
