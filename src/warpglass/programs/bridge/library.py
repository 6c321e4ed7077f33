"""The libraries by which programs find the virtual GPU: what is in their folder, and who is told of it.

Belongs here: making the folder (once for a version of warpglass, a Python and a compiler, in the cache), and
the environment that processes are started with. Its members: the preloaded library (bridge.c), and a
`libcuda.so.1` and a `libcudart.so.N` of each release, which programs are linked with or ask for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ... import __version__
from ...errors import ArgumentError, WarpglassError
from ...host.locks import locked
from ...source.cache import digest, directory
from ..host_compiler import HostCompiler, host_compiler
from .stubs import MACHINES, PRELOADED, Library, entries, machine, stubs, tables, versions

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parent.parent
# What the libraries are made of: another version of any of these files makes other libraries.
_SOURCES = ("programs/bridge/*", "cuda_runtime/*", "numba_device/*calls.py")
_PATH, _PRELOAD = "LD_LIBRARY_PATH", "LD_PRELOAD"
_ENTRANCE = "from warpglass.programs.bridge import inside; inside.fill(%llu, {digest!r}, %d)"
_EXIT = "from warpglass.programs.bridge import inside; inside.leave()"
_DF_1_PIE, _DT_FLAGS_1, _PT_DYNAMIC = 0x08000000, 0x6FFFFFFB, 2


def libraries() -> tuple[Library, ...]:
    """The libraries with the functions that they export, in the order of their slots."""
    from ...cuda_runtime.exports import RELEASES, exported
    from ...numba_device import activation  # noqa: F401  # which fills CALLS
    from .driver_names import exported as of_driver

    runtimes = (Library(f"libcudart.so.{release}", exported(release)) for release in RELEASES)
    return Library("libcuda.so.1", of_driver()), *runtimes


def digest_of(found: Sequence[Library]) -> str:
    """What tells these libraries from those of another version."""
    return digest(*(word for one in found for word in (one.soname, *one.names)))[:16]


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
                _make(place, compiler, python)
    return place


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


def _make(place: Path, compiler: HostCompiler, python: Path) -> None:
    found = libraries()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as name:
        work = Path(name)
        target = work / "whole"
        target.mkdir()
        texts = {
            "PYTHON_LIBRARY": _loadable(python, place, target),
            "PYTHON_PROGRAM": sys.executable,
            "ENTRANCE": _ENTRANCE.format(digest=digest_of(found)),
            "EXIT": _EXIT,
        }
        (work / "tables.h").write_text(tables(found, texts))
        (work / "entries.S").write_text(entries(sum(len(one.names) for one in found)))
        _compile(
            compiler,
            [
                "-xc",
                str(_HERE / "bridge.c"),
                f"-I{work}",
                "-xassembler",
                "entries.S",
                "-Wl,-z,initfirst",
                f"-Wl,-soname,{PRELOADED}",
            ],
            target / PRELOADED,
            work,
        )
        first = 0
        for one in found:
            (work / "stubs.S").write_text(stubs(one, first))
            (work / "versions").write_text(versions(one))
            words = [
                "-xassembler",
                "stubs.S",
                "-xnone",
                f"-Wl,-soname,{one.soname}",
                "-Wl,--version-script=versions",
            ]
            _compile(compiler, [*words, str(target / PRELOADED)], target / one.soname, work)
            (target / one.soname.rpartition(".")[0]).unlink(missing_ok=True)
            (target / one.soname.rpartition(".")[0]).symlink_to(one.soname)  # what is linked with -lcuda
            first += len(one.names)
        shutil.rmtree(place, ignore_errors=True)
        target.rename(place)


def _compile(compiler: HostCompiler, words: Sequence[str], target: Path, work: Path) -> None:
    command = [*compiler.command, "-shared", "-fPIC", "-O2", "-o", str(target), *words]
    command += ["-xnone", "-nodefaultlibs", "-lpthread", "-ldl", "-lc"]  # nothing of C++
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WarpglassError(f"{compiler.command[0]} cannot build {target.name}: {done.stderr.strip()}")


# ---------------------------------------------------------------------------------------- Python
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


def _loadable(python: Path, place: Path, target: Path) -> str:
    """The library to load: Python's own, or a copy of its program that says it is no program.

    glibc does not load what is marked as a position-independent executable; nothing else tells one from a
    library. Raises ArgumentError for a program that has fixed addresses.
    """
    if ".so" in python.name:
        return str(python)
    image = bytearray(python.read_bytes())
    if int.from_bytes(image[16:18], "little") != 3:  # ET_DYN
        raise ArgumentError(
            f"{python} is a Python without a shared library and with fixed addresses, which cannot be "
            "brought into another program; use one built with --enable-shared, such as uv's"
        )
    _clear_pie(image)
    (target / "libpython.so").write_bytes(image)
    return str(place / "libpython.so")


def _clear_pie(image: bytearray) -> None:
    """Clear DF_1_PIE in the dynamic section of an executable's image."""
    word = lambda at, size: int.from_bytes(image[at : at + size], "little")  # noqa: E731
    for header in range(word(32, 8), word(32, 8) + 56 * word(56, 2), 56):
        if word(header, 4) == _PT_DYNAMIC:
            for entry in range(word(header + 8, 8), word(header + 8, 8) + word(header + 32, 8), 16):
                if word(entry, 8) == _DT_FLAGS_1:
                    image[entry + 8 : entry + 16] = (word(entry + 8, 8) & ~_DF_1_PIE).to_bytes(8, "little")
