"""Asks compute-sanitizer about every C++ case: its four tools, both twins, one process each.

Needs nvcc, compute-sanitizer and a GPU. In the repository's root,
`PYTHONPATH=src python -m tests.cases.kernels.sanitize FOLDER` writes FOLDER/sanitizer.json. Stored beside the
cases it goes into docs/reference/checker.md, and the next run asks only about cases that are new or changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tests.observe.corpus import CASES, TWINS, Case, read_cases
from warpglass.records.argument_text import ScalarSpec, make_arguments, parse_argument

TOOLS = {
    "memcheck": ("--check-device-heap", "yes"),
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "synccheck": (),
}
_WORKERS = 16
_LIMIT = 25.0  # seconds for a process: some kernels never end
_BUDGET = 430.0  # seconds for all: what is not asked by then is left out, and said so
_STORED = CASES / "sanitizer.json"
_PREFIX = "========= "
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)s?[^(]*(?:\((\d+) errors?)?")
_QUIET = ("COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "Target application", "LEAK SUMMARY")


def compile_case(case: Case, twin: str, folder: Path) -> Path:
    """Compile a twin to machine code for the GPU at hand, with line numbers."""
    cubin = folder / f"{case.name}.{twin}.cubin"
    define = f"-DBUGGY={int(twin == 'buggy')}"
    command = ["nvcc", "-std=c++17", "-cubin", "-arch=native", "-lineinfo", define, "-o", str(cubin)]
    subprocess.run([*command, str(case.file)], check=True)
    return cubin


def write_arguments(case: Case, twin: str, folder: Path) -> Path:
    """Write a twin's arguments as sanitize_launch.cu reads them."""
    path = folder / f"{case.name}.{twin}.arguments"
    texts = case.launches[twin].args
    specs = [parse_argument(re.sub(r"^(out|all|ro):", "", text)) for text in texts]
    with path.open("wb") as file:
        for text, spec, value in zip(texts, specs, make_arguments(specs), strict=True):
            scalar = isinstance(spec, ScalarSpec)
            kind = b"scalar" if scalar else b"output" if text.startswith("out:") else b"input"
            data = np.asarray(value).tobytes()
            file.write(struct.pack("<8sQ", kind, len(data)) + data)
    return path


def ask(case: Case, twin: str, tool: str, folder: Path) -> dict[str, Any]:
    """Run a twin under a tool and return how many errors of which kinds it reports, and at which lines."""
    shape = case.launches[twin]
    extents = [str(n) for dim in (shape.grid, shape.block) for n in (*dim, 1, 1)[:3]]
    cooperative = "this_grid" in case.file.read_text("utf-8")
    command = ["compute-sanitizer", "--tool", tool, *TOOLS[tool], str(folder / "launch")]
    command += [
        str(folder / f"{case.name}.{twin}.cubin"),
        case.name,
        str(folder / f"{case.name}.{twin}.arguments"),
    ]
    command += [*extents, str(shape.shared), str(int(cooperative))]
    # A group of its own: what the tool starts must end with it.
    tool_run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    timed_out = False
    try:
        text, _ = tool_run.communicate(timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(tool_run.pid, signal.SIGKILL)
        text, _ = tool_run.communicate()
    return {**read_report(text, case.file.name), "timed_out": timed_out}


def read_report(text: str, file: str) -> dict[str, Any]:
    """What a tool printed: the number of errors, of warnings, their kinds and the lines that they name."""
    messages = Counter[str]()
    lines = set[int]()
    for line in text.splitlines():
        if not line.startswith(_PREFIX):
            continue
        said = line.removeprefix(_PREFIX)
        lines.update(int(number) for number in re.findall(rf"{re.escape(file)}:(\d+)", said))
        if said.strip() and not said.startswith((" ", *_QUIET)):
            messages[re.sub(r"0x[0-9a-f]+|\d+", "#", said).split(" in ")[0].strip()] += 1
    summary = _SUMMARY.search(text)
    reported = int(summary[1]) if summary else sum(messages.values())
    errors = int(summary[2]) if summary and summary[2] else reported
    return {
        "errors": errors,
        "warnings": max(0, reported - errors),
        "messages": dict(messages.most_common(4)),
        "lines": sorted(lines),
        "finished": summary is not None,
    }


def main(folder: str) -> None:
    """Compile all cases, ask every tool about both twins, write one file."""
    began = time.monotonic()
    stored = json.loads(_STORED.read_text("utf-8"))["cases"] if _STORED.exists() else {}
    known = [case for case in read_cases().values() if case.file.suffix == ".cu"]
    kept = {case.name: stored[case.name] for case in known if _current(case, stored)}
    cases = [case for case in known if case.name not in kept]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(_WORKERS) as pool:
        work = Path(name)
        program = [
            "nvcc",
            "-std=c++17",
            "-o",
            str(work / "launch"),
            str(CASES / "sanitize_launch.cu"),
            "-lcuda",
        ]
        subprocess.run(program, check=True)
        for case, twin in product(cases, TWINS):
            write_arguments(case, twin, work)
        list(pool.map(lambda pair: compile_case(pair[0], pair[1], work), product(cases, TWINS)))
        sys.stdout.write(f"compiled after {time.monotonic() - began:.0f} s\n")

        def answer(what: tuple[Case, str, str]) -> dict[str, Any] | None:
            if time.monotonic() - began > _BUDGET:
                return None
            case, twin, tool = what
            return ask(case, twin, tool, work)

        # The endless ones last, so that they keep no other from being asked.
        endless = ("deadlock", "timeout")
        asked = sorted(product(cases, TWINS, TOOLS), key=lambda what: what[0].kind in endless)
        answers = list(pool.map(answer, asked))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for (case, twin, tool), said in zip(asked, answers, strict=True):
        found.setdefault(case.name, {}).setdefault(twin, {})[tool] = said
    asked_whole = {
        case.name: {**found[case.name], "digest": digest(case)}
        for case in cases
        if all(said for tools in found[case.name].values() for said in tools.values())
    }
    seconds = round(time.monotonic() - began)
    record = {"about": _about(), "cases": kept | asked_whole}
    Path(folder, "sanitizer.json").write_text(json.dumps(record, indent=None, sort_keys=True) + "\n", "utf-8")
    sys.stdout.write(
        f"asked about {len(asked_whole)} of {len(cases)} cases in {seconds} s, {len(kept)} were known\n"
    )


def digest(case: Case) -> str:
    """What tells whether a case is still the one that was asked about."""
    return hashlib.sha256(case.file.read_bytes()).hexdigest()[:16]


def _current(case: Case, stored: Mapping[str, Any]) -> bool:
    return case.name in stored and stored[case.name]["digest"] == digest(case)


def _about() -> str:
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    device = _first_line(subprocess.run(query, capture_output=True, text=True).stdout)
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout
    number = re.search(r"[Vv]ersion (\S+)", version)
    return f"{device}, compute-sanitizer {number[1] if number else 'of unknown version'}"


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "unknown GPU")


if __name__ == "__main__":
    arguments: Sequence[str] = sys.argv[1:]
    main(arguments[0] if arguments else ".")
