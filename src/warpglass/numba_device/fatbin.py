"""What fatbins hold, and the objects and libraries of a host that hold fatbins: PTX, machine code, LTO-IR.

The format is the one that nvcc's fatbinary writes; NVIDIA does not document it. A fatbin has a header of 16
bytes and entries, each for one architecture, with a header of their own. Their content may be compressed: LZ4
(up to CUDA 12), or zstd, for which the system's libzstd is asked. nvcc puts a fatbin for each translation
unit into a section of the object file.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import WarpglassError
from ..source.elf import read_elf

MAGIC = b"\x50\xed\x55\xba"
WRAPPER = b"\xb1\x43\x62\x46"  # of a struct that points to a fatbin, at its byte 8
ELF, ARCHIVE = b"\x7fELF", b"!<arch>\n"
_HEADER = struct.Struct("<4sHHQ")  # magic, version, bytes of the header and of what follows
# kind, version, bytes of the header and of the content; compressed bytes; options, version of PTX,
# architecture, name, its length, flags, -, bytes of the content before compression
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _MACHINE_CODE, _LTO = 1, 2, 8  # kinds
_LZ4, _ZSTD = 0x2000, 0x8000  # flags
_MEMBER = struct.Struct("16s12s6s6s8s10s2s")  # of an archive (ar)
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a fatbin has for one architecture, such as 80 for sm_80."""

    kind: int
    architecture: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Fatbin:
    """All entries of one translation unit."""

    entries: tuple[Entry, ...]

    @property
    def has_lto(self) -> bool:
        """Whether there is LTO-IR in it."""
        return any(one.kind == _LTO for one in self.entries)

    @property
    def least_architecture(self) -> int | None:
        """The oldest architecture that there is PTX for; None if there is none."""
        return min((one.architecture for one in self.entries if one.kind == _PTX), default=None)

    def ptx(self, architecture: int) -> str | None:
        """The PTX that a GPU of an architecture would be given; None if there is none for it.

        Where such a GPU would run machine code of the fatbin's, PTX for a newer one stands in for it.
        """
        texts = [one for one in self.entries if one.kind == _PTX]
        fits = [one for one in texts if one.architecture <= architecture]
        if fits:
            best = max(fits, key=lambda one: one.architecture)
        elif texts and any(
            one.kind == _MACHINE_CODE
            and one.architecture // 10 == architecture // 10
            and one.architecture <= architecture
            for one in self.entries
        ):
            best = min(texts, key=lambda one: one.architecture)
        else:
            return None
        return best.content.partition(b"\0")[0].decode(errors="replace")


def size_of(header: bytes) -> int:
    """The bytes of a fatbin, by its header."""
    _, _, size, rest = _HEADER.unpack_from(header)
    return size + rest


def fatbins(content: bytes) -> list[Fatbin]:
    """All fatbins of a fatbin, an object file or a library. Raises WarpglassError for what cannot be read."""
    try:
        return list(_fatbins(content))
    except (struct.error, ValueError, IndexError) as problem:
        raise WarpglassError(f"a fatbin, object or library that is cut off or damaged ({problem})") from None


def _fatbins(content: bytes) -> Iterator[Fatbin]:
    if content.startswith(MAGIC):
        at = 0
        while content[at : at + 4] == MAGIC:
            end = at + size_of(content[at : at + _HEADER.size])
            yield Fatbin(tuple(_entries(content[at:end])))
            at = -(-end // 8) * 8
    elif content.startswith(ARCHIVE):
        for member in _members(content):
            yield from _fatbins(member)
    elif content.startswith(ELF):
        for section in read_elf(content).sections:
            if section.name in _SECTIONS:
                yield from _fatbins(section.content)


def _members(archive: bytes) -> Iterator[bytes]:
    at = len(ARCHIVE)
    while at + _MEMBER.size <= len(archive):
        size = int(_MEMBER.unpack_from(archive, at)[5])
        at += _MEMBER.size
        yield archive[at : at + size]
        at += size + size % 2


def _entries(fatbin: bytes) -> Iterator[Entry]:
    at = _HEADER.unpack_from(fatbin)[2]
    while at + _ENTRY.size <= len(fatbin):
        kind, _, header, size, packed, _, _, _, architecture, _, _, flags, _, whole = _ENTRY.unpack_from(
            fatbin, at
        )
        if header < _ENTRY.size:
            raise ValueError("an entry without a header")
        content = fatbin[at + header : at + header + (packed or size)]
        if kind == _PTX:  # nobody reads the others
            content = _unpacked(content, flags, whole)
        yield Entry(kind, architecture, content)
        at += header + size


def _unpacked(content: bytes, flags: int, size: int) -> bytes:
    if flags & _ZSTD:
        return _zstd(content, size)
    return _lz4(content, size) if flags & _LZ4 else content


def _lz4(content: bytes, size: int) -> bytes:
    """A block of LZ4: literals, then a match to copy from what is there already, again and again."""
    out, at = bytearray(), 0

    def length(nibble: int) -> int:
        nonlocal at
        more = nibble == 15
        while more:
            nibble += content[at]
            more = content[at] == 255
            at += 1
        return nibble

    while len(out) < size:
        token = content[at]
        at += 1
        literals = length(token >> 4)
        out += content[at : at + literals]
        at += literals
        if len(out) >= size:
            break
        distance = int.from_bytes(content[at : at + 2], "little")
        at += 2
        if not 0 < distance <= len(out):
            raise ValueError("LZ4 data")
        for _ in range(length(token & 15) + 4):  # may overlap what it writes
            out.append(out[-distance])
    return bytes(out)


@cache
def _zstd_library() -> Any:
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise WarpglassError(
            "the PTX of a fatbin is compressed with zstd, and the system has no libzstd: install it, or "
            "compile with nvcc -compress-mode=none"
        )
    library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = library.ZSTD_isError.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return library


def _zstd(content: bytes, size: int) -> bytes:
    library = _zstd_library()
    out = ctypes.create_string_buffer(max(1, size))
    done = library.ZSTD_decompress(out, size, content, len(content))
    if library.ZSTD_isError(done):
        raise ValueError("zstd data")
    return out.raw[:done]
