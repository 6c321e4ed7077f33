"""A shared library made on the spot: its functions jump to wherever a table of addresses says.

Libraries for GPUs find NVIDIA's by name (`libcuda.so.1`) and take function pointers from it, in C. So that
they find ours, a library of that name must be loaded in the process. This file writes one: an ELF image of a
few pages whose every exported function is a jump through a slot. Nothing of it touches the disk.

Belongs here: the format (System V ABI, chapters 4 and 5) and the few instructions. What the slots lead to is
the caller's business.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

_PAGE = 1 << 16  # the largest page size of the two architectures
_STUB = 16
_SLOTS = "warpglass_slots"
_MACHINES = {"x86_64": 62, "AMD64": 62, "aarch64": 183}  # e_machine
_LOAD, _DYNAMIC, _GNU_STACK = 1, 2, 0x6474E551
_READ, _WRITE, _EXECUTE = 4, 2, 1
_HASH, _STRTAB, _SYMTAB, _STRSZ, _SYMENT, _SONAME = 4, 5, 6, 10, 11, 14
_VERSYM, _VERDEF, _VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
_DEFINITIONS = 2 * 28  # bytes


class Unavailable(Exception):
    """This platform has no such libraries; the text says which have."""


class SharedLibrary:
    """A loaded library of a given name; `functions` by exported name, and what all do once it is closed.

    Functions may be None, to be given by `lead`: what stands before a library of the same name must be loaded
    before it, because who asks for the name gets the first.

    `slots` has the address of each function, in order.

    `closed` is the value that every function returns after `close`, without calling anything: a process that
    ends may still call in when Python no longer runs. All symbols have the name for their version where
    NVIDIA's are `versioned`: the dynamic linker ends a process that asks for a version where there is none.
    """

    loaded: ClassVar[set[str]] = set()  # names by which one is found in this process, in place of NVIDIA's

    def __init__(self, soname: str, functions: dict[str, Any], closed: int, *, versioned: bool = True):
        machine = _MACHINES.get(platform.machine())
        if machine is None or not sys.platform.startswith("linux"):
            raise Unavailable("Linux on x86-64 or aarch64 is needed")
        self.functions = functions  # their code lives as long as they do
        self._file = os.memfd_create(soname, os.MFD_CLOEXEC)
        # The file stays open: its path must not name another library later.
        names = [*functions, "warpglass_closed"]
        os.write(self._file, _image(soname, names, machine, closed, versioned))
        self._library = ctypes.CDLL(f"/proc/self/fd/{self._file}", mode=ctypes.RTLD_GLOBAL)
        self.loaded.add(soname)
        self.slots = (ctypes.c_void_p * len(functions)).in_dll(self._library, _SLOTS)
        self.lead(functions)

    def lead(self, functions: dict[str, Any]) -> None:
        """Let exported names lead to these functions; those that are None do as after `close`."""
        self.functions = self.functions | functions
        for position, function in enumerate(self.functions.values()):
            self.slots[position] = ctypes.cast(function, ctypes.c_void_p).value or self.closed

    @property
    def handle(self) -> int:
        """What dlopen returns for it."""
        return self._library._handle

    def address(self, name: str) -> int | None:
        """Where an exported function lies; None if there is none of this name."""
        if name not in self.functions:
            return None
        return ctypes.cast(self._library[name], ctypes.c_void_p).value

    @property
    def closed(self) -> int:
        """The address of the function that returns `closed`."""
        return ctypes.cast(self._library["warpglass_closed"], ctypes.c_void_p).value or 0

    def close(self) -> None:
        """Let every function return `closed` from now on."""
        for position in range(len(self.slots)):
            self.slots[position] = self.closed


def _image(soname: str, names: Sequence[str], machine: int, closed: int, versioned: bool) -> bytes:
    """The file: headers, tables and code in one segment, the dynamic section and the slots in a second.

    The last of the names is the function that returns `closed`.
    """
    exported = [*names, _SLOTS]
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in [*exported, soname])
    offsets = _offsets([*exported, soname])
    header_size = 64 + 4 * 56
    hash_at = _up(header_size, 8)
    hash_size = 4 * (2 + 1 + 1 + len(exported))
    symbols_at = _up(hash_at + hash_size, 8)
    strings_at = symbols_at + 24 * (1 + len(exported))
    versions_at = _up(strings_at + len(strings), 8)
    versions = _versions(soname, offsets[-1], len(exported)) if versioned else b""
    code_at = _up(versions_at + len(versions), 64)
    code_end = code_at + _STUB * len(names)
    dynamic_at = _up(code_end, _PAGE)
    slots_at = dynamic_at + 16 * 10
    end = slots_at + 8 * (len(names) - 1)

    # One bucket: the chain leads through all symbols.
    chain = [*range(2, len(exported) + 1), 0] if exported else []
    table = struct.pack(f"<{4 + len(exported)}I", 1, 1 + len(exported), 1, 0, *chain)
    values = [*range(code_at, code_end, _STUB), slots_at]
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", offset, 0x11 if name == _SLOTS else 0x12, 0, 1, value, _STUB)
        for name, offset, value in zip(exported, offsets, values, strict=False)
    )
    jump, constant = _CODE[machine]
    code = b"".join(
        jump(slots_at + 8 * index - (code_at + _STUB * index)).ljust(_STUB, b"\0")
        for index in range(len(names) - 1)
    )
    code += constant(closed).ljust(_STUB, b"\0")
    tables = ((_VERDEF, versions_at), (_VERDEFNUM, 2), (_VERSYM, versions_at + _DEFINITIONS))
    pairs = (
        (_SONAME, offsets[-1]),
        (_HASH, hash_at),
        (_STRTAB, strings_at),
        (_SYMTAB, symbols_at),
        (_STRSZ, len(strings)),
        (_SYMENT, 24),
        *(tables if versioned else ()),
        (0, 0),
    )
    dynamic = b"".join(struct.pack("<QQ", *pair) for pair in pairs)
    image = bytearray(end)
    for place, part in (
        (0, _headers(machine, code_end, dynamic_at, len(dynamic), end)),
        (hash_at, table),
        (symbols_at, symbols),
        (strings_at, strings),
        (versions_at, versions),
        (code_at, code),
        (dynamic_at, dynamic),
    ):
        image[place : place + len(part)] = part
    return bytes(image)


def _versions(soname: str, offset: int, symbols: int) -> bytes:
    """The definitions of the file's version and of the symbols', both its name, and one for each symbol."""
    found = b""
    for number, following in ((1, 28), (2, 0)):
        head = struct.pack("<HHHHIII", 1, int(number == 1), number, 1, _hash(soname), 20, following)
        found += head + struct.pack("<II", offset, 0)
    return found + struct.pack(f"<{1 + symbols}H", 0, *[2] * symbols)


def _hash(name: str) -> int:
    """The hash of a name in tables of symbols and versions."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def _headers(machine: int, code_end: int, dynamic_at: int, dynamic_size: int, end: int) -> bytes:
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = identity + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 4, 64, 0, 0)
    segments = (
        (_LOAD, _READ | _EXECUTE, 0, code_end, _PAGE),
        (_LOAD, _READ | _WRITE, dynamic_at, end - dynamic_at, _PAGE),
        (_DYNAMIC, _READ | _WRITE, dynamic_at, dynamic_size, 8),
        (_GNU_STACK, _READ | _WRITE, 0, 0, 16),
    )
    return head + b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align)
        for kind, flags, at, size, align in segments
    )


def _offsets(names: Sequence[str]) -> list[int]:
    """Where each name starts in a string table."""
    found, place = [], 1
    for name in names:
        found.append(place)
        place += len(name) + 1
    return found


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


# What a function is: a jump through the slot at a distance from its first byte, or the return of a constant.
_CODE: dict[int, tuple[Callable[[int], bytes], Callable[[int], bytes]]] = {
    62: (
        lambda distance: struct.pack("<BBi", 0xFF, 0x25, distance - 6),  # jmp *slot(%rip)
        lambda value: struct.pack("<BiB", 0xB8, value, 0xC3),  # mov $value, %eax; ret
    ),
    183: (
        # ldr x16, slot; br x16
        lambda distance: struct.pack("<II", 0x58000010 | (distance >> 2 & 0x7FFFF) << 5, 0xD61F0200),
        lambda value: struct.pack("<II", 0x52800000 | value << 5, 0xD65F03C0),  # mov w0, #value; ret
    ),
}
