"""Other people's programs, built and run without a GPU: which end well, and how long they take.

    python bench/programs/fetch.py REPOSITORY.git FOLDER
    python bench/programs/run.py samples FOLDER [NAMES] [--timeout 60] [--to results.jsonl]
    python bench/programs/run.py hecbench FOLDER [NAMES]
    python bench/programs/run.py table results.jsonl

What a program is made of and gets is read from its own build files. Nothing of them is kept here.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuda_samples import samples
from program import Program

from warpglass.source import nvcc

# What says that a program checked its own results and was content, or not.
_PASSED = re.compile(r"\b(?:PASS(?:ED)?|SUCCESS(?:FUL(?:LY)?)?|Result = PASS|Test passed|correct)\b", re.I)
_FAILED = re.compile(r"\bFAIL(?:ED|URE)?\b|mismatch|incorrect|\bERROR\b", re.I)
_OURS = re.compile(r"^warpglass: (.*)", re.M)
_GENCODE = "-gencode=arch=compute_75,code=compute_75"
_WAIVED = 2  # the status by which cuda-samples waive


def hecbench(root: Path) -> Iterator[Program]:
    """The CUDA programs of HeCBench, by what `make` would do."""
    for file in sorted(root.glob("src/*-cuda/Makefile")):
        folder = file.parent
        built = _make(folder, "-B")
        sources, flags, needs = list[str](), list[str](), list[str]()
        for line in built:
            words = _words(line)
            if words[:1] == ["nvcc"] or "nvcc" in words[:1]:
                _collect(words[1:], sources, flags, needs)
        run = [line for line in _make(folder, "run") if line.lstrip().startswith("./")]
        arguments = _words(run[0])[1:] if run else []
        yield Program(folder.name, folder, (*sources, *flags, "--", *arguments), tuple(needs))


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
        elif Path(word).suffix in (".cu", ".cpp", ".c", ".cc") and not word.startswith("-"):
            if word not in sources:
                sources.append(word)
        elif word.startswith("-l") and re.match(r"-l(?:cu|npp|nv|mpi)", word) and word not in needs:
            needs.append(word)
        elif word in ("-Xcompiler", "-I", "-D", "-L", "-gencode", "-Xptxas"):
            flags += [word, rest.pop(0)]
        elif word.startswith("-") and word not in ("-c", "-arch=sm_60", "-g", "-G") and word not in flags:
            flags.append(word)


def run(program: Program, timeout: float) -> dict[str, object]:
    """Build and run one program; what became of it."""
    for made, source in program.prepared:
        _compile(program.folder, source, made)
    started = time.perf_counter()
    command = [sys.executable, "-m", "warpglass", "run", "--timeout", str(timeout), *program.words]
    done = subprocess.run(
        command, cwd=program.folder, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )
    said = (done.stdout + done.stderr).decode(errors="replace")
    ours = _OURS.search(done.stderr.decode(errors="replace"))
    verdict = "passed" if _PASSED.search(said) else "no check"
    if _FAILED.search(re.sub(r"[Ee]rror[s]?(?: rate)?\s*[:=]\s*[0-9.e+-]+", "", said)):
        verdict = "failed" if verdict != "passed" else "passed?"
    return {
        "name": program.name,
        "status": done.returncode,
        "check": verdict,
        "seconds": round(time.perf_counter() - started, 1),
        "said": ours[1] if ours else "",
        "tail": said[-600:],
        "command": shlex.join(["warpglass", "run", *program.words]),
    }


def _compile(folder: Path, source: str, made: str) -> None:
    """Compile kernels of a program's own build into a file of PTX, or one that contains it."""
    compiler = nvcc.program()
    assert compiler is not None, "warpglass brings it along"
    kind = ("-ptx", "-arch=compute_75") if made.endswith(".ptx") else ("-fatbin", _GENCODE)
    subprocess.run([str(compiler), *kind, *nvcc.LENIENT, "-o", made, source], cwd=folder, check=True)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("samples", "hecbench", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--to", type=Path, default=Path("programs.jsonl"))
    given = parser.parse_args()
    if given.what == "table":
        table(given.folder)
        return
    done = set()
    if given.to.exists() and not given.names:
        done = {json.loads(line)["name"] for line in given.to.read_text().splitlines()}
    for program in {"samples": samples, "hecbench": hecbench}[given.what](given.folder):
        if program.name in done or (given.names and program.name not in given.names):
            continue
        if program.needs and not given.names:
            row: dict[str, object] = {"name": program.name, "status": None, "needs": program.needs}
        else:
            row = run(program, given.timeout)
            print(program.name, row["status"], row["check"], row["seconds"], row["said"], flush=True)
        with given.to.open("a") as file:
            file.write(json.dumps(row) + "\n")


def table(results: Path) -> None:
    """Print the newest result of each program, and how many there are of each kind."""
    rows = {row["name"]: row for row in map(json.loads, results.read_text().splitlines())}
    kinds: Counter[str] = Counter()
    for name, row in sorted(rows.items()):
        if row["status"] is None:
            kind = f"needs {', '.join(row['needs'])}"
        elif row["status"] == 0:
            kind = f"ended well, {row['check']}"
        else:
            kind = "waived" if row["status"] == _WAIVED and not row["said"] else f"status {row['status']}"
        kinds["needs other libraries" if row["status"] is None else kind] += 1
        print(f"{name:40} {kind:30} {row.get('seconds', ''):>6} {row.get('said', '')[:100]}")
    for kind, count in kinds.most_common():
        print(f"{count:4} {kind}")


if __name__ == "__main__":
    main()
