"""Other people's programs, built and run without a GPU: which end well, and how long they take.

    python bench/programs/fetch.py REPOSITORY.git FOLDER
    python bench/programs/run.py samples FOLDER [NAMES] [--timeout 60] [--to results.jsonl]
    python bench/programs/run.py hecbench FOLDER [NAMES] [--check]
    python bench/programs/run.py table results.jsonl
    python bench/programs/run.py page results.jsonl > docs/hecbench.md

What a program is made of and gets is read from its own build files. Nothing of them is kept here. Results are
added to a file, and what has one is not run again. The time is processor time of each process that is
started, so a busy machine changes no verdict.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from cuda_samples import samples
from hecbench import hecbench
from outcome import newest, outcome, page, table
from program import Program

from warpglass.source import nvcc

# What says that a program checked its own results and was content, or not.
_PASSED = re.compile(r"\b(?:PASS(?:ED)?|SUCCESS(?:FUL(?:LY)?)?|Result = PASS|Test passed|correct|OK)\b", re.I)
_FAILED = re.compile(r"\bFAIL(?:ED|URE)?\b|mismatch|incorrect|\bERROR\b", re.I)
_NO_FAILURE = re.compile(
    r"failed as expected|error message|square error|error statistics|indicates? (?:an|no) error|"
    r"errors?\b[^\n:=]*(?:[:=]|\bis)\s*[0-9.e+-]+|(?:incorrect|mismatch)[^\n:=]*[:=]\s*0\b",
    re.IGNORECASE,
)
_OURS = re.compile(r"^warpglass: (.*)", re.M)
# Warnings of the compilers, which quote the program up to an empty line.
_WARNED = re.compile(r"^.*\b(?:warning #\d+|warning:|note:)(?:.*\n)(?:.+\n)*", re.M)
_GENCODE = "-gencode=arch=compute_75,code=compute_75"
_PATIENCE = 30  # how many times the processor time a program may take by the clock
_INTRO = """[HeCBench](https://github.com/zjin-lcf/HeCBench)'s CUDA programs, unmodified, with small arguments
(bench/programs/hecbench.toml), under `warpglass run` or `check`. `bench/programs/run.py` makes this page of
what it has run; programs that it has not come to are not on it."""


def run(program: Program, seconds: int, command: str = "run") -> dict[str, object]:
    """Build and run (or check) one program; what became of it. No process gets more processor time."""
    for made, source in program.prepared:
        _compile(program.folder, source, made)
    for name in program.headers:
        _copy_header(name, program.folder)
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "warpglass", command, "--timeout", str(_PATIENCE * seconds), *program.words],
        cwd=program.folder,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
    )
    printed, complained = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    said, ours = printed + complained, _OURS.search(complained)
    own = printed + _WARNED.sub("", _OURS.sub("", complained))
    verdict = "passed" if _PASSED.search(own) else "no check"
    if _FAILED.search(_NO_FAILURE.sub("", own)):
        verdict = "failed" if verdict != "passed" else "passed?"
    return {
        "name": program.name,
        "status": done.returncode,
        "check": verdict,
        "seconds": round(time.perf_counter() - started, 1),
        "said": ours[1] if ours else "",
        "tail": said[-600:] if command == "run" else said[-10000:],
        "command": shlex.join(["warpglass", command, *program.words]),
    }


def _compile(folder: Path, source: str, made: str) -> None:
    """Compile kernels of a program's own build into a file of PTX, or one that contains it."""
    compiler = nvcc.program()
    assert compiler is not None, "warpglass brings it along"
    kind = ("-ptx", "-arch=compute_75") if made.endswith(".ptx") else ("-fatbin", _GENCODE)
    subprocess.run([str(compiler), *kind, *nvcc.LENIENT, "-o", made, source], cwd=folder, check=True)


def _copy_header(name: str, folder: Path) -> None:
    """Copy a header, or a folder of them, of CUDA's to where a program looks for it."""
    compiler = nvcc.program()
    assert compiler is not None, "warpglass brings it along"
    source, target = compiler.parent.parent / "include" / name, folder / Path(name).name
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=(*_COLLECTIONS, "table", "page"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--to", type=Path, default=Path("programs.jsonl"))
    given = parser.parse_args()
    if given.what in ("table", "page"):
        rows = newest(given.folder)
        for line in table(rows) if given.what == "table" else page(rows, "HeCBench", _INTRO):
            print(line)
        return
    done = newest(given.to) if given.to.exists() and not given.names else {}
    for program in _COLLECTIONS[given.what](given.folder, given.names):
        if program.name in done:
            continue
        if program.needs and not given.names:
            row: dict[str, object] = {"name": program.name, "status": None, "needs": program.needs}
        else:
            row = run(program, given.timeout, "check" if given.check else "run")
            print(program.name, row["seconds"], *outcome(row), flush=True)
        with given.to.open("a") as file:
            file.write(json.dumps(row) + "\n")


def _samples(root: Path, names: Collection[str]) -> Iterator[Program]:
    return (one for one in samples(root) if not names or one.name in names)


_COLLECTIONS: dict[str, Callable[[Path, Collection[str]], Iterator[Program]]] = {
    "samples": _samples,
    "hecbench": hecbench,
}


if __name__ == "__main__":
    main()
