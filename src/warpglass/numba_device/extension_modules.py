"""Extension modules of Python packages that ask for NVIDIA's libraries when they are loaded.

CuPy's are linked with cuBLAS and others, which must be there by name before the module is loaded, and have a
CUDA runtime within them, which must be led to ours after it. Belongs here: looking at each extension module
before it is loaded. It imports nothing heavy until one asks.
"""

from __future__ import annotations

import importlib
import mmap
import os
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

# What a file with a static runtime has: the names of its functions, or kernels if it is stripped.
_RUNTIME = (b"libcudart_static_", b".nv_fatbin", b"libcudart.so.")
_LIBRARIES = (b"libcublas", b"libcurand.so", b"libcufft.so", b"libcusolver.so", b"libcusparse.so")
_plain: Any = ExtensionFileLoader.create_module


def watch(model_variable: str) -> None:
    """Look at each extension module from now on; the variable of the environment names the GPU's model."""

    def create_module(self: ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
        model = os.environ.get(model_variable)
        path = Path(self.path)
        runtime, libraries = _asks(path) if model else (False, False)
        if not runtime and not libraries:
            return _plain(self, spec)
        device = importlib.import_module("warpglass.numba_device").activate(model)
        if libraries:
            package = importlib.import_module("warpglass.libraries")
            package.activate(device, package.wanted(path))
        if runtime:
            importlib.import_module("warpglass.cuda_runtime").activate(model)
        module = _plain(self, spec)
        if runtime:
            importlib.import_module("warpglass.cuda_runtime.static_runtime").lead(path)
        return module

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]


def ignore() -> None:
    """Look no more."""
    ExtensionFileLoader.create_module = _plain  # type: ignore[method-assign]


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
