"""What a program gives the driver to load: PTX, or machine code that carries the PTX it was made from.

The linker (linker.py) puts the PTX into every cubin that it hands out, before the section headers, where no
reader of ELF looks. So what a package keeps on disk can be loaded in another process, here and on a GPU.
NVIDIA's assembler itself keeps the PTX for debuggers where it is asked for line numbers.
"""

from __future__ import annotations

import ctypes
import json
import re
import struct
import zlib
from dataclasses import dataclass

from ..errors import WarpglassError
from ..host.source_lines import keep_lines
from ..ptx.parts import Parts
from ..source.elf import read_elf
from .fatbin import MAGIC, WRAPPER, fatbins, size_of
from .merging import merge
from .results import Refusal, Result

_MAGIC = b"warpglass-ptx-1\0"
_FOOTER = struct.Struct("<QI16s")  # size of the packed PTX, its checksum, magic
# Sections of a cubin made with -lineinfo or -G, one for each unit of separate compilation; zeros end lines.
_FILE = re.compile(r'^\s*\.file\s+\d+\s+"([^"]*)"', re.MULTILINE)
_FOR_DEBUGGERS = ".nv_debug_ptx_txt"
# What NVIDIA's linker adds of its device runtime, whose functions the engine has itself (device_runtime.py).
_OF_RUNTIME = re.compile(r"__cudaCDP2\w+|cudaCG\w+|\w+_cuda_device_runtime_cu_\w+|_Z\d+cnprt\w+")
_CODE = ".text."  # what the name of a function's section begins with
_SOURCE = "\n//warpglass-source "  # what comes before a comment with source text, by file, at the PTX's end
_ELF_HEADER = 64
_FATBIN_HEADER = 16


@dataclass(frozen=True, slots=True)
class Image:
    """PTX, and the ELF file made of it if there is one."""

    ptx: str
    cubin: bytes | None = None


def read_image(address: int, architecture: int) -> Image:
    """The image at an address of the host, for an architecture such as 90; Refusal if it has no PTX."""
    start = ctypes.string_at(address, 4)
    if start == WRAPPER:
        address = ctypes.c_uint64.from_address(address + 8).value
        start = ctypes.string_at(address, 4)
    if start == b"\x7fELF":
        size = _elf_size(ctypes.string_at(address, _ELF_HEADER))
    elif start == MAGIC:
        size = size_of(ctypes.string_at(address, _FATBIN_HEADER))
    else:
        size = -1  # text, up to its end
    return parse_image(ctypes.string_at(address, size), architecture)


def only_machine_code(what: str) -> Refusal:
    """What there is to say of what has no PTX."""
    return Refusal(
        Result.NO_BINARY_FOR_GPU,
        f"the {what} holds machine code, and warpglass runs PTX: link or load the PTX it was made from "
        "(nvcc -gencode arch=compute_80,code=compute_80 keeps it, and so does -lineinfo)",
    )


def only_newer(what: str, least: int, architecture: int) -> Refusal:
    """The refusal of what has PTX for other GPUs only."""
    return Refusal(
        Result.NO_BINARY_FOR_GPU,
        f"the {what} holds PTX for compute capability {least / 10} and newer, the device has "
        f"{architecture / 10}, and warpglass runs PTX: choose a newer --model, or compile it for this one "
        f"(nvcc -gencode arch=compute_{architecture},code=compute_{architecture})",
    )


def parse_image(content: bytes, architecture: int) -> Image:
    """Likewise, for bytes."""
    if content[:4] == b"\x7fELF":
        text = ptx_within(content)
        if text is None:
            raise only_machine_code("cubin")
        return Image(_without_source(text), content)
    if content[:4] == MAGIC:
        return Image(ptx_for(content, "fatbin", architecture))
    text = content.partition(b"\0")[0].decode(errors="replace")
    if ".version" not in text:
        raise Refusal(Result.INVALID_IMAGE, "the image is neither PTX nor a cubin")
    return Image(text)


def ptx_for(content: bytes, what: str, architecture: int) -> str:
    """The PTX of all fatbins of a fatbin, object or library, linked; Refusal where one has none that fits."""
    try:
        found = [one for one in fatbins(content) if one.entries]
        texts = [one.ptx(architecture) for one in found]
        if not texts or None in texts:
            newer = [least for one in found if (least := one.least_architecture) is not None]
            raise only_newer(what, max(newer), architecture) if newer else only_machine_code(what)
        return merge([text for text in texts if text is not None])
    except WarpglassError as problem:
        raise Refusal(Result.INVALID_IMAGE, f"the {what}: {problem}") from None


def with_source(ptx: str, name: str, source: str) -> str:
    """PTX with the text that it was compiled from, if it has line numbers: the file may soon be gone."""
    files = (file for file in _FILE.findall(ptx) if file == name or file.endswith(f"/{name}"))
    found = next(files, None)
    return ptx if found is None else f"{ptx}{_SOURCE}{json.dumps({found: source})}\n"


def _without_source(ptx: str) -> str:
    """PTX without that text, whose lines reports can show from now on."""
    ptx, _, comment = ptx.partition(_SOURCE)
    for file, text in json.loads(comment).items() if comment else ():
        keep_lines(file, text)
    return ptx


def with_ptx(cubin: bytes, ptx: str) -> bytes:
    """A cubin that carries PTX."""
    (sections,) = struct.unpack_from("<Q", cubin, 0x28)
    packed = zlib.compress(ptx.encode())
    payload = packed + _FOOTER.pack(len(packed), zlib.crc32(packed), _MAGIC)
    payload = payload.rjust(-(-len(payload) // 8) * 8, b"\0")
    moved = bytearray(cubin[:sections] + payload + cubin[sections:])
    struct.pack_into("<Q", moved, 0x28, sections + len(payload))
    (segments,) = struct.unpack_from("<Q", cubin, 0x20)
    if segments >= sections:
        struct.pack_into("<Q", moved, 0x20, segments + len(payload))
        _shift_segments(moved, sections, len(payload))
    return bytes(moved)


def _shift_segments(image: bytearray, boundary: int, distance: int) -> None:
    """Move the file offsets of program headers (one of them describes the table itself)."""
    (start,) = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<HH", image, 0x36)
    for index in range(count):
        place = start + index * size + 8
        (offset,) = struct.unpack_from("<Q", image, place)
        if offset >= boundary:
            struct.pack_into("<Q", image, place, offset + distance)


def ptx_within(cubin: bytes) -> str | None:
    """The PTX that a cubin carries; None if it carries none."""
    (end,) = struct.unpack_from("<Q", cubin, 0x28)
    if end >= _ELF_HEADER + _FOOTER.size:
        size, checksum, magic = _FOOTER.unpack_from(cubin, end - _FOOTER.size)
        packed = cubin[end - _FOOTER.size - size : end - _FOOTER.size] if magic == _MAGIC else b""
        if packed and zlib.crc32(packed) == checksum:
            return zlib.decompress(packed).decode()
    return _ptx_for_debuggers(cubin)


def _ptx_for_debuggers(cubin: bytes) -> str | None:
    """What the assembler has kept; None if that is not all: not every unit may have had line numbers."""
    try:
        sections = read_elf(cubin).sections
        kept = [one.content for one in sections if one.name.startswith(_FOR_DEBUGGERS)]
        text = merge([one.replace(b"\0", b"\n").decode(errors="replace") for one in kept]) if kept else ""
    except (WarpglassError, ValueError, IndexError, struct.error):  # cut off, or no cubin at all
        return None
    functions = {one.name.removeprefix(_CODE) for one in sections if one.name.startswith(_CODE)}
    others = functions - Parts(text).defined if text else functions
    return text if text and all(map(_OF_RUNTIME.fullmatch, others)) else None


def _elf_size(header: bytes) -> int:
    """The size of a file whose last part is a table that its header describes."""
    segments, sections = struct.unpack_from("<QQ", header, 0x20)
    segment_size, segment_count, section_size, section_count = struct.unpack_from("<HHHH", header, 0x36)
    return max(segments + segment_size * segment_count, sections + section_size * section_count)
