"""Extension modules of Python packages, and libraries that ctypes loads, that ask for NVIDIA's libraries.

CuPy's are linked with cuBLAS and others, which must be there by name before the module is loaded, and have a
CUDA runtime within them, which must be led to ours after it. Belongs here: looking at each extension module
before it is loaded. It imports nothing heavy until one asks.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import os
import struct
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, TypeVar

# What a file with a static runtime has: the names of its functions, or kernels if it is stripped.
_RUNTIME = (b"libcudart_static_", b".nv_fatbin", b"libcudart.so.")
_LIBRARIES = (b"libcublas", b"libcurand.so", b"libcufft.so", b"libcusolver.so", b"libcusparse.so")
_KERNELS, _SHARED = b".nv_fatbin", b"libcudart.so."
_SECTION = struct.Struct("<IIQQQQ")  # name, kind, flags, address, offset and bytes
_plain: Any = ExtensionFileLoader.create_module
_plain_open: Any = ctypes._dlopen  # type: ignore[attr-defined]
T = TypeVar("T")


def watch(model_variable: str) -> None:
    """Look at each extension module from now on; the variable of the environment names the GPU's model.

    What ctypes loads by a path is looked at, too, if it has kernels or is linked with a CUDA runtime. PyTorch
    loads its libraries so, which would find NVIDIA's runtime beside them.
    """

    def create_module(self: ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
        return _loaded(Path(self.path), os.environ.get(model_variable), lambda: _plain(self, spec))

    def opened(name: Any, mode: int) -> int:
        if isinstance(name, str) and os.sep in name and _is_for_gpus(Path(name)):
            load = lambda: _plain_open(name, mode)  # noqa: E731
            return _loaded(Path(name), os.environ.get(model_variable), load, others=True)
        return _plain_open(name, mode)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]
    ctypes._dlopen = opened  # type: ignore[attr-defined]


def ignore() -> None:
    """Look no more."""
    ExtensionFileLoader.create_module = _plain  # type: ignore[method-assign]
    ctypes._dlopen = _plain_open  # type: ignore[attr-defined]


def _loaded(path: Path, model: str | None, load: Callable[[], T], *, others: bool = False) -> T:
    """Load a file with what it asks for, `others` that its dependencies may ask for, and its runtime led to ours."""
    runtime, libraries = _asks(path) if model else (False, False)
    if not runtime and not libraries:
        return load()
    device = importlib.import_module("warpglass.numba_device").activate(model)
    if libraries:
        package = importlib.import_module("warpglass.libraries")
        package.activate(device, None if others else package.wanted(path))
    if runtime:
        importlib.import_module("warpglass.cuda_runtime").activate(model)
    found = load()
    if runtime:
        importlib.import_module("warpglass.cuda_runtime.static_runtime").lead(path)
    return found


def _is_for_gpus(path: Path) -> bool:
    """Whether a file has a section of kernels, or is linked with a shared CUDA runtime.

    Only its list of sections and the strings of the dynamic linker are read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":
                return False
            (sections,) = struct.unpack_from("<Q", head, 0x28)
            size, count, names = struct.unpack_from("<HHH", head, 0x3A)
            file.seek(sections)
            rows = [_SECTION.unpack_from(file.read(size)) for _ in range(count)]
            texts = _part(file, rows[names])
            name_of = {row: texts[row[0] :].partition(b"\0")[0] for row in rows}
            linked = [row for row, name in name_of.items() if name == b".dynstr"]
            return _KERNELS in name_of.values() or any(_SHARED in _part(file, row) for row in linked)
    except (OSError, struct.error, IndexError):
        return False


def _part(file: BinaryIO, section: tuple[int, ...]) -> bytes:
    *_, offset, size = section
    file.seek(offset)
    return file.read(size)


def _asks(path: Path) -> tuple[bool, bool]:
    """Whether a file has a CUDA runtime, or asks for one, and whether it asks for libraries that we have."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            runtime, libraries = (
                any(content.find(name) >= 0 for name in names) for names in (_RUNTIME, _LIBRARIES)
            )
            return runtime, libraries
    except (OSError, ValueError):
        return False, False
