"""The CUDA runtime that a loaded library carries in itself (libcudart_static.a), led to ours.

Python's extension modules, CuPy's among them, are linked so. Each function of such a runtime that the
library's symbol table names becomes a jump to ours; then the library registers its kernels again, because its
constructors have told its own runtime. Programs that are started natively are led before their constructors
run.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..numba_device.shared_library import SharedLibrary
from ..source.elf import read_elf, symbols
from .activation import active_runtime, addresses

_REGISTER, _REGISTER_ALL = "__cudaRegisterFatBinary", "__sti____cudaRegisterAll"
_KERNELS = b".nv_fatbin"
_TEXT = b"CUDA driver version is insufficient for CUDA runtime version"  # of any static runtime
_FUNCTION = 2  # STT_FUNC
_ROOM = 16  # bytes that any function has: they are aligned to as many
# A jump to the address behind it: jmp *0(%rip); ldr x16, 8 and br x16.
_JUMPS = {"x86_64": b"\xff\x25\0\0\0\0", "aarch64": struct.pack("<II", 0x58000050, 0xD61F0200)}
# What the functions begin with that are led already, natively or here.
_LED = (b"\xff\x25", b"\x49\xbb", b"\x50\0\0\x58", b"\x70\0\0\x58")
_READ, _WRITE, _EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    offset: int  # from where the library is loaded


def lead(path: Path) -> bool:
    """Lead the runtime within a library that is loaded to ours; False if it has none, or is led already."""
    image = path.read_bytes()
    functions = list(_functions(image))
    own = {one.name: one for one in functions}
    register = own.get(_REGISTER)
    if register is None:
        if _KERNELS in image and _TEXT in image and path.name not in SharedLibrary.loaded:
            sys.stderr.write(
                f"warpglass: {path} carries a CUDA runtime without symbols: none of its kernels can run\n"
            )
        return False
    base = _base(path)
    if ctypes.string_at(base + register.offset, 4).startswith(_LED):
        return False
    targets = {name: place for name, place in addresses().items() if name in own and place}
    _write_jumps(base, {own[name].offset: place for name, place in targets.items()})
    runtime = active_runtime()
    assert runtime is not None, "it is active where functions have addresses"
    for one in functions:
        if _REGISTER_ALL in one.name:
            ctypes.CFUNCTYPE(None)(base + one.offset)()
    return True


def _functions(image: bytes) -> Iterator[_Function]:
    """The functions in the symbol table of a file, whose code lies at the same distance in memory."""
    for one in symbols(read_elf(image)):
        if one.kind == _FUNCTION and one.section and one.value and "cuda" in one.name:
            yield _Function(one.name, one.value)


def _base(path: Path) -> int:
    """Where a file is loaded; raises LookupError if it is not."""
    real = os.path.realpath(path)
    for line in Path("/proc/self/maps").read_text("utf-8", errors="surrogateescape").splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == real and int(words[2], 16) == 0:
            return int(words[0].partition("-")[0], 16)
    raise LookupError(f"{path} is not loaded")


def _write_jumps(base: int, places: dict[int, int]) -> None:
    page = mmap.PAGESIZE
    start = (base + min(places)) // page * page
    size = -(-(base + max(places) + _ROOM - start) // page) * page
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(start, size, _READ | _WRITE | _EXECUTE):
        raise OSError(ctypes.get_errno(), "the runtime within a library cannot be changed")
    for offset, target in places.items():
        code = _JUMPS[platform.machine()] + struct.pack("<Q", target)
        ctypes.memmove(base + offset, code, len(code))
    protect(start, size, _READ | _EXECUTE)
