"""Reading line tables: which PTX line each machine instruction was made from.

Belongs here: the line number program of DWARF versions 2 to 5 (standard, section 6.2), as far as addresses
and lines go; files and columns are passed over, since annotate.py names one file only. A sequence starts
with an address that a relocation gives, because every function has a section of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import WarpglassError
from ..source.elf import Elf, symbols

SECTION = ".debug_line"

# Opcodes of the program: standard ones, then extended ones.
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 8, 9
_EXTENDED, _END_SEQUENCE, _SET_ADDRESS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Header:
    """What the program of one unit is to be read with, and where it lies."""

    start: int
    end: int
    least: int  # bytes of the shortest instruction
    line_base: int
    line_range: int
    lengths: tuple[int, ...]  # operands of standard opcodes; [0] is unused

    @property
    def opcode_base(self) -> int:
        return len(self.lengths)


def read_lines(elf: Elf) -> Mapping[int, Mapping[int, int]]:
    """Return {number of a code section: {offset of an instruction where a line begins: line}}.

    A line holds until the next offset that has one. Raises WarpglassError for a table that is cut off.
    """
    section = elf.section(SECTION)
    if section is None:
        return {}
    places = _addresses(elf)
    found: dict[int, dict[int, int]] = {}
    try:
        for header in _headers(section.content):
            for code, offset, line in _run(section.content, header, places):
                found.setdefault(code, {})[offset] = line
    except (struct.error, IndexError):
        raise WarpglassError("the line table of the machine code is cut off") from None
    return found


def _addresses(elf: Elf) -> Mapping[int, tuple[int, int]]:
    """Where the relocated addresses in the line table point to: section and offset, by place in the table."""
    names = symbols(elf)
    found: dict[int, tuple[int, int]] = {}
    for prefix, form in ((".rela", struct.Struct("<QQq")), (".rel", struct.Struct("<QQ"))):
        section = elf.section(prefix + SECTION)
        content = section.content if section else b""
        for place, info, *addend in form.iter_unpack(content[: len(content) // form.size * form.size]):
            symbol = names[info >> 32]
            found[place] = (symbol.section, symbol.value + sum(addend))
    return found


def _headers(table: bytes) -> Iterator[_Header]:
    at = 0
    while at < len(table):
        (length,) = struct.unpack_from("<I", table, at)
        if length == 0xFFFFFFFF:
            raise WarpglassError(
                "the line table of the machine code has 64-bit units, which ptxas never writes"
            )
        at, end = at + 4, at + 4 + length
        (version,) = struct.unpack_from("<H", table, at)
        at += 2 if version < 5 else 4  # version 5 has the sizes of addresses and segments
        (header,) = struct.unpack_from("<I", table, at)
        start = at + 4 + header
        at += 4
        least = table[at]
        at += 2 if version >= 4 else 1  # version 4 has the instructions of a VLIW word
        _, line_base, line_range, opcode_base = struct.unpack_from("<BbBB", table, at)
        lengths = (0, *table[at + 4 : at + 3 + opcode_base])
        yield _Header(start, end, least, line_base, line_range, lengths)
        at = end


def _run(
    table: bytes, header: _Header, places: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Run one program; yields section, offset and line of every row."""
    reader = _Reader(table, header.start)
    section, address, line = 0, 0, 1
    while reader.at < header.end:
        opcode = reader.byte()
        if opcode >= header.opcode_base:
            advance, more = divmod(opcode - header.opcode_base, header.line_range)
            address += advance * header.least
            line += header.line_base + more
            yield section, address, line
        elif opcode == _EXTENDED:
            length = reader.unsigned()
            after = reader.at + length
            kind = reader.byte() if length else 0
            if kind == _SET_ADDRESS:
                section, address = places.get(reader.at, (0, 0))
            elif kind == _END_SEQUENCE:
                section, address, line = 0, 0, 1
            reader.at = after
        elif opcode == _COPY:
            yield section, address, line
        elif opcode == _ADVANCE_PC:
            address += reader.unsigned() * header.least
        elif opcode == _ADVANCE_LINE:
            line += reader.signed()
        elif opcode == _CONST_ADD_PC:
            address += (255 - header.opcode_base) // header.line_range * header.least
        elif opcode == _FIXED_ADVANCE_PC:
            address += reader.half()
        else:
            for _ in range(header.lengths[opcode]):
                reader.unsigned()


class _Reader:
    """Numbers of the line table's encodings, one after the other."""

    def __init__(self, data: bytes, at: int):
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def half(self) -> int:
        self.at += 2
        return int.from_bytes(self.data[self.at - 2 : self.at], "little")

    def unsigned(self) -> int:
        return self._leb128()[0]

    def signed(self) -> int:
        value, bits = self._leb128()
        return value - (1 << bits) if value >> (bits - 1) else value

    def _leb128(self) -> tuple[int, int]:
        value = bits = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << bits
            bits += 7
            if byte < 0x80:
                return value, bits
