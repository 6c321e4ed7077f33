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
from typing import Any, TypeVar

# What a file with a static runtime has: the names of its functions, or kernels if it is stripped.
_RUNTIME = (b"libcudart_static_", b".nv_fatbin", b"libcudart.so.")
_LIBRARIES = (b"libcublas", b"libcurand.so", b"libcufft.so", b"libcusolver.so", b"libcusparse.so")
_KERNELS = b".nv_fatbin\0"
_plain: Any = ExtensionFileLoader.create_module
_plain_open: Any = ctypes._dlopen  # type: ignore[attr-defined]
T = TypeVar("T")


def watch(model_variable: str) -> None:
    """Look at each extension module from now on; the variable of the environment names the GPU's model.

    What ctypes loads by a path is looked at, too, if it has kernels.
    """

    def create_module(self: ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
        return _loaded(Path(self.path), os.environ.get(model_variable), lambda: _plain(self, spec))

    def opened(name: Any, mode: int) -> int:
        if isinstance(name, str) and os.sep in name and _has_kernels(Path(name)):
            return _loaded(Path(name), os.environ.get(model_variable), lambda: _plain_open(name, mode))
        return _plain_open(name, mode)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]
    ctypes._dlopen = opened  # type: ignore[attr-defined]


def ignore() -> None:
    """Look no more."""
    ExtensionFileLoader.create_module = _plain  # type: ignore[method-assign]
    ctypes._dlopen = _plain_open  # type: ignore[attr-defined]


def _loaded(path: Path, model: str | None, load: Callable[[], T]) -> T:
    """Load a file with what it asks for, and with its runtime led to ours."""
    runtime, libraries = _asks(path) if model else (False, False)
    if not runtime and not libraries:
        return load()
    device = importlib.import_module("warpglass.numba_device").activate(model)
    if libraries:
        package = importlib.import_module("warpglass.libraries")
        package.activate(device, package.wanted(path))
    if runtime:
        importlib.import_module("warpglass.cuda_runtime").activate(model)
    found = load()
    if runtime:
        importlib.import_module("warpglass.cuda_runtime.static_runtime").lead(path)
    return found


def _has_kernels(path: Path) -> bool:
    """Whether a file has a section of kernels for the CUDA runtime; only its list of sections is read."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":
                return False
            (sections,) = struct.unpack_from("<Q", head, 0x28)
            size, _, names = struct.unpack_from("<HHH", head, 0x3A)
            file.seek(sections + names * size + 0x18)
            offset, length = struct.unpack("<QQ", file.read(16))
            file.seek(offset)
            return _KERNELS in file.read(length)
    except (OSError, struct.error):
        return False


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
