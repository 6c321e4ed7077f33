"""Making the folder of the bridge's libraries: `python -m warpglass.programs.bridge.make FOLDER PYTHON`.

Belongs here: the calls of the compiler, and what makes a Python without a library of its own loadable.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...errors import ArgumentError, WarpglassError
from ..host_compiler import HostCompiler, host_compiler
from .declarations import write_headers
from .exports import digest_of, libraries
from .stubs import INCLUDE, PRELOADED, entries, stubs, tables, versions

_HERE = Path(__file__).parent
# The module `signal` takes Ctrl-C by being imported: it is let do what it does in the program.
_SIGNALS = (
    "import _signal; "
    "_signal.getsignal(_signal.SIGINT) is _signal.default_int_handler and "
    "_signal.signal(_signal.SIGINT, _signal.SIG_DFL)"
)
_ENTRANCE = "from warpglass.programs.bridge import inside; inside.fill(%llu, {digest!r}, %d, %llu)"
_LIBRARY = "from warpglass.programs.bridge import inside; inside.fill_library(%llu)"
_EXIT = "from warpglass.programs.bridge import inside; inside.leave()"
_DF_1_INITFIRST, _DF_1_PIE, _DT_FLAGS_1, _PT_DYNAMIC = 0x20, 0x08000000, 0x6FFFFFFB, 2


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
            "SIGNALS": _SIGNALS,
            "ENTRANCE": _ENTRANCE.format(digest=digest_of(found)),
            "LIBRARY": _LIBRARY,
            "EXIT": _EXIT,
        }
        (target / INCLUDE).mkdir()
        write_headers(target / INCLUDE)
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
                "-Wl,-z,now",
                f"-Wl,-soname,{PRELOADED}",
            ],
            target / PRELOADED,
            work,
        )
        image = bytearray((target / PRELOADED).read_bytes())
        _change_flags(image, put=_DF_1_INITFIRST)  # not every linker knows -z initfirst
        (target / PRELOADED).write_bytes(image)
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
                "-Wl,-rpath,$ORIGIN",  # where who links with it finds the preloaded one
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
    _change_flags(image, take=_DF_1_PIE)
    (target / "libpython.so").write_bytes(image)
    return str(place / "libpython.so")


def _change_flags(image: bytearray, put: int = 0, take: int = 0) -> None:
    """Put and take bits of DT_FLAGS_1 in the dynamic section of a file's image."""
    word = lambda at, size: int.from_bytes(image[at : at + size], "little")  # noqa: E731
    for header in range(word(32, 8), word(32, 8) + 56 * word(56, 2), 56):
        if word(header, 4) == _PT_DYNAMIC:
            for entry in range(word(header + 8, 8), word(header + 8, 8) + word(header + 32, 8), 16):
                if word(entry, 8) == _DT_FLAGS_1:
                    flags = word(entry + 8, 8) & ~take | put
                    image[entry + 8 : entry + 16] = flags.to_bytes(8, "little")


if __name__ == "__main__":
    try:
        _make(Path(sys.argv[1]), host_compiler(), Path(sys.argv[2]))
    except WarpglassError as problem:
        sys.exit(str(problem))
    except OSError as problem:
        sys.exit(f"{Path(sys.argv[1]).parent} cannot be written: {problem.strerror}")
