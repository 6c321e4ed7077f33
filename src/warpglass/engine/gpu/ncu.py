"""Measuring one launch on a GPU with NVIDIA's Nsight Compute (ncu), in a process of its own.

Belongs here: the file that carries a launch to that process, the command line of ncu, and reading what it
says. `ncu_runner.py` is what runs under ncu: it makes the launch once.

Arrays travel as the memory that they are views of, so that they overlap and lie as they do here. Results stay
in the other process: the launch has been made here already, or will be.
"""

from __future__ import annotations

import csv
import ctypes
import io
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentError, WarpglassError
from ...host.tied import run_tied
from ..launch.arrays import view_of
from ..launch.backend import Launch

SECONDS = "gpu__time_duration.sum"  # in nanoseconds; always measured
_PASSES = 50  # launches that ncu may make of one, at most: it replays the kernel for each group of counters

_PERMISSION = (
    "the driver lets only administrators read the GPU's counters (ERR_NVGPUCTRPERM): run as root, in a "
    "container with --cap-add=SYS_ADMIN, or have the administrator load the driver with "
    "`options nvidia NVreg_RestrictProfilingToAdminUsers=0`"
)
_ERRORS = re.compile(r"^==ERROR==.*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What ncu said of a launch: numbers by name, in base units, and the GPU's compute capability ("9.0")."""

    numbers: dict[str, float]
    capability: str


@dataclass(frozen=True, slots=True)
class _View:
    """An array as it travels: where it lies in which memory."""

    memory: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    readonly: bool


def find_ncu() -> str:
    """Where ncu is; raises WarpglassError that says how to get it."""
    usual = (
        *Path("/usr/local").glob("cuda*/bin/ncu"),
        *Path("/opt/nvidia").glob("nsight-compute/*/ncu"),
    )
    found = shutil.which("ncu") or next((str(path) for path in sorted(usual, reverse=True)), None)
    if found is None:
        raise WarpglassError(
            "Nsight Compute is not installed: there is no ncu on the path, in /usr/local/cuda*/bin or in "
            "/opt/nvidia/nsight-compute. It comes with the CUDA toolkit; without it, device='cpu' counts"
        )
    return found


# ---------------------------------------------------------------------------------------- the launch's file
def save_launch(launch: Launch, path: Path) -> None:
    """Write a launch to a file; its arrays must be in host memory."""
    memories: list[np.ndarray[Any, Any]] = []
    known: dict[tuple[int, int], int] = {}
    arguments = [_travel(value, memories, known) for value in launch.args]
    path.write_bytes(pickle.dumps((replace(launch, args=tuple(arguments), timeout=math.inf), memories)))


def _travel(value: object, memories: list[np.ndarray[Any, Any]], known: dict[tuple[int, int], int]) -> object:
    view = view_of(value)
    if view is None:
        return value
    if view.device is not None or view.dtype is None:
        raise ArgumentError("Nsight Compute runs in another process: pass NumPy arrays, not arrays of a GPU")
    owner = (view.owner_low, view.owner_high)
    if owner not in known:
        known[owner] = len(memories)
        content = ctypes.string_at(view.owner_low, view.owner_high - view.owner_low)
        memories.append(np.frombuffer(bytearray(content), np.uint8))
    offset = view.address - view.owner_low
    return _View(known[owner], offset, view.shape, view.strides, view.dtype, view.readonly)


def load_launch(path: Path) -> Launch:
    """Read back a launch that `save_launch` wrote."""
    launch, memories = pickle.loads(path.read_bytes())
    return replace(launch, args=tuple(_arrive(value, memories) for value in launch.args))


def _arrive(value: object, memories: Sequence[np.ndarray[Any, Any]]) -> object:
    if not isinstance(value, _View):
        return value
    array = np.ndarray(value.shape, value.dtype, memories[value.memory], value.offset, value.strides)
    array.flags.writeable = not value.readonly
    return array


# ---------------------------------------------------------------------------------------- ncu
def measure(job: Path, names: Sequence[str], device: str, timeout: float) -> Measurement:
    """Make a saved launch under ncu and return the counters of these names that it knows on this GPU.

    The launch stands alone in a folder, which is deleted if this process ends meanwhile.
    `timeout` is in seconds, for a launch. Raises WarpglassError if ncu is missing, may not read counters, or
    measures nothing.
    """
    program, log = find_ncu(), job.with_suffix(".csv")
    wanted = [SECONDS, *names]
    while True:
        said = _call(program, wanted, job, log, device, _PASSES * timeout)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        refused = {word for line in _ERRORS.findall(f"{text}\n{said}") for word in re.findall(r"\w+", line)}
        kept = [name for name in wanted if name.partition(".")[0] not in refused]
        if kept == wanted or SECONDS not in kept:
            return _read(text, said)
        wanted = kept  # without the names that ncu does not know on this GPU


def _call(program: str, names: Sequence[str], job: Path, log: Path, device: str, seconds: float) -> str:
    """Run ncu once; returns what it and the launch printed."""
    log.unlink(missing_ok=True)
    options = ("--target-processes", "all", "--launch-count", "1", "--cache-control", "all")
    output = ("--page", "raw", "--csv", "--print-units", "base", "--log-file", str(log))
    runner = (sys.executable, "-m", "warpglass.engine.gpu.ncu_runner", str(job), device)
    paths = (str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        ended = run_tied(
            [program, *options, "--clock-control", "none", "--metrics", ",".join(names), *output, *runner],
            env=environment,
            timeout=None if math.isinf(seconds) else seconds,
            scratch=job.parent,
        )
    except subprocess.TimeoutExpired:
        raise WarpglassError(f"Nsight Compute did not end within {seconds:.0f} s") from None
    except OSError as problem:
        raise WarpglassError(f"{program} does not run: {problem.strerror or problem}") from None
    return f"{ended.stdout}\n{ended.stderr}"


def _read(text: str, said: str) -> Measurement:
    """Take the numbers of the one launch: a row of names, a row of units, a row of values."""
    if "ERR_NVGPUCTRPERM" in text + said:
        raise WarpglassError(_PERMISSION)
    table = list(csv.reader(io.StringIO("\n".join(line for line in text.splitlines() if line[:1] == '"'))))
    if len(table) != 3 or SECONDS not in table[0]:
        lines = [line.strip() for line in (text + said).splitlines() if line.strip()]
        raise WarpglassError(
            f"Nsight Compute measured nothing: {' | '.join(lines[-4:]) or 'it said nothing'}"
        )
    cells = dict(zip(table[0], table[2], strict=False))
    numbers = {name: number for name, cell in cells.items() if (number := _number(cell)) is not None}
    return Measurement(numbers, cells.get("CC", ""))


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None
