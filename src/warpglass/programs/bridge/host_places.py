"""Where in a program's own source a CUDA call was made, told from the stack of the host.

glibc walks the stack, from Python through the bridge to the program; addr2line of the binutils, which come
with g++, tells functions and lines of its addresses. What nvcc puts between <<<>>> and the runtime is not
told.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...source.mangled import plain_name

_DEPTH = 100
_OURS = re.compile(
    r"libpython|_ctypes|libffi|libwarpglass|libcudart\.so|libcuda\.so|/lib-dynload/|llvmlite|/libc\.so|/ld-linux"
)
# Functions and files that nvcc writes around a launch.
_BETWEEN = re.compile(r"__device_stub__|^(?:_ZL?\d+)?(?:__)?cudaLaunch")
_FILES_BETWEEN = re.compile(r"\.stub\.c$|/crt/|cuda_runtime(?:_api)?\.h$|\.reg\.c$|/cub/|/thrust/|/cuda/std/")


class _Object(ctypes.Structure):
    """Dl_info."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("place", ctypes.c_void_p),
    ]


@dataclass(frozen=True, slots=True)
class _Frame:
    """One function on the stack: its name, and where it goes on."""

    function: str
    file: str
    line: int


def launch_place(kernel: str) -> str:
    """FILE:LINE of the program's code that launches `kernel` now; "" where nothing tells it."""
    addresses = (ctypes.c_void_p * _DEPTH)()
    count = _library().backtrace(addresses, _DEPTH)
    own: list[tuple[str, int]] = []
    for address in addresses[:count]:
        found = _Object()
        if not address or not _library().dladdr(ctypes.c_void_p(address - 1), ctypes.byref(found)):
            continue
        name = os.fsdecode(found.name or b"")
        if not Path(name).is_file():  # the program itself has the name that it was started by
            name = str(Path("/proc/self/exe").readlink())
        if not _is_ours(name):
            own.append((name, address - 1 - (found.base or 0)))
        if len(own) == 6:
            break
    return _place(tuple(own), kernel)


@lru_cache(maxsize=4096)
def _place(addresses: tuple[tuple[str, int], ...], kernel: str) -> str:
    for name, address in addresses:
        frames = _frames(name, address)
        for number, frame in enumerate(frames):
            inlined = number < len(frames) - 1
            if frame.line and not _is_between(frame, kernel) and not (inlined and _is_stub(frame, kernel)):
                return f"{frame.file}:{frame.line}"
    return ""


def _is_stub(frame: _Frame, kernel: str) -> bool:
    """Whether an inlined function, which has no mangled name, is the host function that nvcc makes of it."""
    return frame.function.partition("<")[0] == plain_name(kernel).partition("<")[0].rpartition("::")[2]


def _is_between(frame: _Frame, kernel: str) -> bool:
    return bool(
        _BETWEEN.search(frame.function)
        or _FILES_BETWEEN.search(frame.file)
        or frame.function in (kernel, kernel.partition("(")[0].partition("<")[0])
    )


@lru_cache(maxsize=4096)
def _frames(name: str, address: int) -> Sequence[_Frame]:
    """The functions at an address of a loaded file, the innermost of those that are inlined first."""
    program = shutil.which("addr2line")
    if program is None:
        return ()
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    done = subprocess.run(
        [program, "-f", "-i", "-e", name, hex(address)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment,
    )
    lines = done.stdout.splitlines()
    found = list[_Frame]()
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        file, _, line = place.partition(" ")[0].rpartition(":")
        number = int(line) if line.isdecimal() else 0
        found.append(_Frame(function, _shown(file), number if file != "??" else 0))
    return found


def _shown(file: str) -> str:
    """A file as the user would name it: from where the program was started if it lies below."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


@lru_cache(maxsize=256)
def _is_ours(name: str) -> bool:
    if _OURS.search(name):
        return True
    path = os.path.realpath(name) if name else ""
    return path.startswith(
        (os.path.realpath(sys.prefix) + os.sep, os.path.realpath(sys.base_prefix) + os.sep)
    )


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.dladdr.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library
