"""Line tables: programs written by hand in each version's form, and tables that are damaged."""

from __future__ import annotations

import struct

import pytest

from warpglass.errors import WarpglassError
from warpglass.sass.lines import read_lines
from warpglass.source.elf import Elf, Section

# Line 10 at 0, line 12 at 16 (a special opcode), line 5 at 48, end.
PROGRAM = (
    bytes([0, 9, 2, *bytes(8)])  # set the address
    + bytes([3, 9, 1])  # advance the line by 9; copy
    + bytes([10 + 14 * 16 + (2 + 5)])  # 16 further, two lines on
    + bytes([2, 32, 3, 0x79, 1])  # 32 further, seven lines back; copy
    + bytes([0, 1, 1])
)
LENGTHS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])


def unit(version: int, program: bytes = PROGRAM) -> bytes:
    """One unit of a line table; its tables of files are left empty, since the header tells where they end."""
    sizes = struct.pack("<BB", 8, 0) if version >= 5 else b""
    operations = b"\1" if version >= 4 else b""
    rest = b"\1" + operations + struct.pack("<BbBB", 1, -5, 14, 10) + LENGTHS + b"\0\0"
    body = struct.pack("<H", version) + sizes + struct.pack("<I", len(rest)) + rest + program
    return struct.pack("<I", len(body)) + body


def file(table: bytes, *places: int) -> Elf:
    """A file with a line table whose addresses at `places` are those of a function in section 3."""
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0) + struct.pack("<IBBHQQ", 1, 0, 0, 3, 0x40, 64)
    relocations = b"".join(struct.pack("<QQq", place, 1 << 32 | 2, 0) for place in places)
    return Elf(
        (
            Section(".symtab", len(symbols), symbols, 1),
            Section(".strtab", 3, b"\0k\0", 0),
            Section(".debug_line", len(table), table, 0),
            Section(".text.k", 64, bytes(64), 0),
            Section(".rela.debug_line", len(relocations), relocations, 0),
        )
    )


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_version_gives_the_same_lines(version: int):
    table = unit(version)
    place = table.index(PROGRAM) + 3
    assert read_lines(file(table, place)) == {3: {0x40: 10, 0x50: 12, 0x70: 5}}


def test_units_follow_each_other():
    table = unit(2) + unit(4)
    second = len(unit(2)) + unit(4).index(PROGRAM) + 3
    lines = read_lines(file(table, table.index(PROGRAM) + 3, second))
    assert lines == {3: {0x40: 10, 0x50: 12, 0x70: 5}}


def test_a_file_without_a_table_has_no_lines():
    assert read_lines(Elf((Section(".text.k", 0, b"", 0),))) == {}


@pytest.mark.parametrize("missing", [1, 5, 20])
def test_a_table_that_is_cut_off_is_refused(missing: int):
    table = unit(2)[:-missing]
    with pytest.raises(WarpglassError, match="cut off"):
        read_lines(file(table))


def test_units_of_64_bits_are_refused():
    with pytest.raises(WarpglassError, match="64-bit units"):
        read_lines(file(b"\xff\xff\xff\xff" + bytes(40)))
