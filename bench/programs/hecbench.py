"""The CUDA programs of HeCBench, by what `make` would do, with small arguments.

What a program is made of is read from its Makefile; what it gets, and what it cannot be built or run without,
is in hecbench.toml. A program that is not named there gets what `make run` gives it, but one repetition.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from program import Program

_GIVEN = Path(__file__).with_name("hecbench.toml")
_SOURCES = (".cu", ".cpp", ".c", ".cc")
_VALUED = ("-Xcompiler", "-x", "-I", "-D", "-L", "-gencode", "-Xptxas", "--default-stream")
_IGNORED = ("-c", "-arch=sm_60", "-g", "-G")
_ABSENT = re.compile(r"-l(npp|nccl|mpi)")  # libraries that there is no virtual one of
_SLOW = ("thrust/", "cub/", "curand_kernel")  # headers that take long to compile


def hecbench(root: Path, names: Collection[str] = ()) -> Iterator[Program]:
    """The programs of these names (none: all of them); what is quickly compiled comes first."""
    given = tomllib.loads(_GIVEN.read_text())
    folders = [file.parent for file in sorted(root.glob("src/*-cuda/Makefile"))]
    programs = [_program(folder, given) for folder in folders if not names or folder.name in names]
    yield from sorted(programs, key=_cost)


def _program(folder: Path, given: Mapping[str, Mapping[str, str]]) -> Program:
    name = folder.name.removesuffix("-cuda")
    sources, flags, needs = list[str](), list[str](), list[str]()
    for line in _make(folder, "-B"):
        words = _words(line)
        if words[:1] == ["nvcc"]:
            _collect(words[1:], sources, flags, needs)
    if name in given["needs"]:
        needs.append(given["needs"][name])
    elif not sources or not all((folder / source).is_file() for source in sources):
        needs.append("a build that `make` does not show")
    small = given["arguments"].get(name)
    arguments = _once(folder) if small is None else shlex.split(small)
    return Program(folder.name, folder, (*sources, *flags, "--", *arguments), tuple(needs))


def _once(folder: Path) -> list[str]:
    """The arguments of `make run`, with one repetition: a number at their end says how many."""
    run = [line for line in _make(folder, "run") if line.lstrip().startswith("./")]
    arguments = _words(run[0])[1:] if run else []
    return [*arguments[:-1], "1"] if arguments and arguments[-1].isdigit() else arguments


def _cost(program: Program) -> int:
    files = (program.folder / word for word in program.words if Path(word).suffix in _SOURCES)
    text = "".join(path.read_text(errors="replace") for path in files if path.is_file())
    return len(text) + sum(100_000 for header in _SLOW if header in text)


def _make(folder: Path, *goal: str) -> list[str]:
    done = subprocess.run(
        ["make", "-n", "CC=nvcc", "LAUNCHER=", *goal], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.replace("\\\n", " ").splitlines()


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _collect(words: Sequence[str], sources: list[str], flags: list[str], needs: list[str]) -> None:
    """Add the sources and flags of one call of nvcc."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-o":
            rest.pop(0)
        elif Path(word).suffix in _SOURCES and not word.startswith("-"):
            if word not in sources:
                sources.append(word)
        elif absent := _ABSENT.match(word):
            needs += [] if absent[1] in needs else [absent[1]]
        elif word in _VALUED:
            flags += [word, rest.pop(0)]
        elif word.startswith("-") and word not in _IGNORED and word not in flags:
            flags.append(word)
