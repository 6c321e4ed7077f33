"""The libraries by which programs find the virtual GPU: what is in their folder, and who is told of it.

Belongs here: where the folder is (made once for a version of warpglass, a Python and a compiler, in the
cache), and the environment that processes are started with. Its members: the preloaded library (bridge.c),
a `libcuda.so.1` and a `libcudart.so.N` of each release, which programs are linked with or ask for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from ... import __version__
from ...errors import ArgumentError, WarpglassError
from ...host.locks import locked
from ...source.cache import digest, directory
from ..host_compiler import host_compiler
from .stubs import INCLUDE, MACHINES, PRELOADED, machine

_PACKAGE = Path(__file__).parent.parent.parent
# What the libraries are made of: another version of any of these files makes other libraries.
_SOURCES = ("programs/bridge/*", "cuda_runtime/*", "numba_device/*.py", "libraries/**/*.py")
_PATH, _PRELOAD = "LD_LIBRARY_PATH", "LD_PRELOAD"


def folder() -> Path:
    """The folder of the libraries, made if need be.

    Raises ArgumentError where there is no such system, no Python that can be loaded or no C compiler.
    """
    if not sys.platform.startswith("linux") or machine() not in MACHINES:
        raise ArgumentError("programs run on Linux on x86-64 and aarch64 only; kernels run anywhere")
    root = directory()
    if root is None:
        raise ArgumentError("programs need a place for their files: let WARPGLASS_CACHE name a directory")
    compiler = host_compiler()
    python = _python()
    sources = [path for pattern in _SOURCES for path in sorted(_PACKAGE.glob(pattern)) if path.is_file()]
    stamps = [f"{path}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in sources]
    words = (__version__, sys.executable, str(python), *compiler.command, *stamps)
    place = root / "bridge" / digest(*words)[:32]
    if not (place / PRELOADED).exists():
        with locked(root / "bridge.lock"):
            if not (place / PRELOADED).exists():
                _make(place)
    return place


def headers() -> Path:
    """The folder of the headers that declare the virtual libraries' functions."""
    return folder() / INCLUDE


def environment(before: Mapping[str, str]) -> dict[str, str]:
    """The variables under which a process, and all that it starts, finds the virtual GPU.

    Beside those of numba_device/hook.py, which are in `before`.
    """
    place = folder()
    return {
        **before,
        _PRELOAD: _with(str(place / PRELOADED), before.get(_PRELOAD, "")),
        _PATH: _with(str(place), before.get(_PATH, "")),
    }


def _with(first: str, others: str) -> str:
    return ":".join([first, *(one for one in others.split(":") if one and one != first)])


def _make(place: Path) -> None:
    """Have another process make the folder, which has to look at all functions."""
    command = [sys.executable, "-m", "warpglass.programs.bridge.make", str(place), str(_python())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WarpglassError(f"the libraries of the virtual GPU cannot be made: {done.stderr.strip()}")


def _python() -> Path:
    """The file to load into a process to have this Python in it: its library, or its program."""
    of = sysconfig.get_config_var
    for folder in (of("LIBDIR"), Path(sys.base_prefix, "lib")):
        name = of("INSTSONAME")
        if folder and name and ".so" in name and Path(folder, name).is_file():
            return Path(folder, name)
    names = (f"libpython{of('VERSION')}.so.1.0", f"libpython{of('VERSION')}.so")
    for name in names:
        if (path := Path(sys.base_prefix, "lib", name)).is_file():
            return path
    return Path(os.path.realpath(sys.executable))
