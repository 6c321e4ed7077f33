"""Loading virtual libraries into the process, for what is loaded after them and asks for NVIDIA's."""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from pathlib import Path

from ..errors import ArgumentError
from ..numba_device.device import VirtualDevice
from ..numba_device.shared_library import SharedLibrary, Unavailable
from .cublas import CUBLAS
from .cublaslt import CUBLASLT
from .cufft import CUFFT
from .curand import CURAND
from .cusolver import CUSOLVER
from .cusparse import CUSPARSE
from .frame import Library

LIBRARIES: tuple[Library, ...] = (CUBLAS, CUBLASLT, CURAND, CUFFT, CUSOLVER, CUSPARSE)
_SUCCESS = 0  # of all of them; a process that ends destroys handles when Python no longer runs
_loaded: dict[str, SharedLibrary] = {}


def sonames() -> tuple[str, ...]:
    """The names that can be asked for."""
    return tuple(name for library in LIBRARIES for name in library.sonames)


def activate(device: VirtualDevice, names: Iterable[str] | None = None) -> dict[str, SharedLibrary]:
    """Load libraries by their sonames (None: all); returns those that are loaded, with earlier ones.

    Names that no library has are left out. Raises ArgumentError where there can be no such libraries.
    """
    wanted_names = set(sonames() if names is None else names)
    for library in LIBRARIES:
        new = wanted_names.intersection(library.sonames).difference(_loaded)
        if not new:
            continue
        functions = library.callbacks(device)
        for name in sorted(new):
            try:
                _loaded[name] = SharedLibrary(name, functions, _SUCCESS)
            except Unavailable as problem:
                raise ArgumentError(f"virtual {library.name} cannot be loaded here: {problem}") from None
            atexit.register(_loaded[name].close)
    return _loaded


def wanted(path: Path) -> tuple[str, ...]:
    """The sonames of ours that a program or shared library names; it may load them later, too."""
    try:
        content = path.read_bytes()
    except OSError:
        return ()
    return tuple(name for name in sonames() if name.encode() in content)
