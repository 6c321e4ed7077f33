"""A submission's time on a GPU: the parent's side of gpu_child.py.

Each submission has a process and so a context of its own: one that hangs, faults or spoils its context harms
no other. The process knows neither the reference nor its results. It makes the launches, each with another
draw of the data, and hands over the arrays; only where all are right do the times count.
"""

from __future__ import annotations

import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..host.tied import run_bounded
from ..source import Compiled
from .cases import arguments, compare
from .task import GPU_TIME, Task
from .verdicts import COMPILE_ERROR, CRASH, FAULT, FLOOD, LAUNCH, SIGNATURE, TIMEOUT, Verdict, of_case

REQUEST, ANSWERS = "request.pickle", "answers"  # files of the folder that both sides share
TIMED = 5  # launches of a case, of which the median counts; one more goes before
_STARTING = 60.0  # seconds that the process has for its start and for assembling the kernel
_MOVING = 30.0  # seconds of a launch's data, and of waiting for the GPU
# By the kind of failure that a launch may have on the GPU.
CODES = {"timeout": TIMEOUT, "fault": FAULT, "launch": LAUNCH, "compile": COMPILE_ERROR, "other": SIGNATURE}


def longest(task: Task) -> float:
    """Seconds after which the process is ended."""
    return _STARTING + len(task.cases) * (1 + TIMED) * (task.limits.run + _MOVING)


def device() -> str:
    """The GPU in words; raises ArgumentError if there is none, and says why."""
    with tempfile.TemporaryDirectory(prefix="warpglass-judge-") as folder:
        Path(folder, REQUEST).write_bytes(pickle.dumps(None))
        done = _child(Path(folder), _STARTING, 1 << 16)
        found = _answers(Path(folder))
    if not found or "device" not in found[0]:
        lines = done.stderr.strip().splitlines() if done is not None else []
        said = found[0].get("text") if found else lines[-1] if lines else "it does not answer"
        raise ArgumentError(
            f'score = "{GPU_TIME}" needs a GPU: {said}; score = "time" is the modelled time, without a GPU'
        )
    return str(found[0]["device"])


def seconds(compiled: Compiled, task: Task) -> float:
    """The sum of all cases' times; raises Verdict for whatever else comes of a launch."""
    with tempfile.TemporaryDirectory(prefix="warpglass-judge-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        asked = replace(task, reference="", content="")
        (folder / REQUEST).write_bytes(pickle.dumps((compiled, asked)))
        done = _child(folder, longest(task), task.limits.output + 1)
        found = _answers(folder)
        if done is not None and len(done.stdout.encode()) > task.limits.output:
            raise Verdict(FLOOD, f"on the GPU: it printed more than {task.limits.output} bytes")
        for answer in found:
            if answer.get("kind") in CODES:
                raise _failure(task, answer)
        times: dict[int, list[float]] = {index: [] for index in range(len(task.cases))}
        for answer in found:
            if "seconds" in answer:
                index, draw = int(answer["case"]), int(answer["draw"])
                _verify(task, index, draw, folder)
                times[index].append(float(answer["seconds"]))
    if done is None:
        raise Verdict(TIMEOUT, f"on the GPU: it did not end within {longest(task):g} s")
    if any(len(own) != TIMED for own in times.values()):
        raise Verdict(CRASH, f"on the GPU: the process ended with status {done.returncode}")
    return sum(statistics.median(own) for own in times.values())


def array_file(index: int, draw: int, position: int) -> str:
    """The name of the file that holds an array after a launch, if it is not as it was before."""
    return f"{index}-{draw}-{position}.npy"


def _verify(task: Task, index: int, draw: int, folder: Path) -> None:
    args = arguments(task, index, draw)
    for position, before in enumerate(args):
        file = folder / array_file(index, draw, position)
        if isinstance(before, np.ndarray) and file.exists():
            after = np.load(file, allow_pickle=False)
            args[position] = after.view(before.dtype).reshape(before.shape)
            file.unlink()
    if (wrong := compare(task, index, draw, args)) is not None:
        code, text, detail = wrong
        raise of_case(task.cases[index], code, f"on the GPU: {text}", detail)


def _failure(task: Task, answer: dict[str, Any]) -> Verdict:
    code, text = CODES[answer["kind"]], str(answer.get("text", ""))
    if code == TIMEOUT:
        text = f"a launch did not end within {task.limits.run:g} s"
    index = answer.get("case")
    if isinstance(index, int) and 0 <= index < len(task.cases):
        return of_case(task.cases[index], code, f"on the GPU: {text}")
    return Verdict(code, f"on the GPU: {text}")


def _child(folder: Path, timeout: float, keep: int) -> subprocess.CompletedProcess[str] | None:
    """The process that works in a folder, when it has ended; None if it was ended for its time."""
    command = [sys.executable, "-m", "warpglass.judging.gpu_child", str(folder)]
    try:
        return run_bounded(
            command, keep=keep, timeout=timeout, env=dict(os.environ), cwd=folder, scratch=folder
        )
    except subprocess.TimeoutExpired:
        return None


def _answers(folder: Path) -> list[dict[str, Any]]:
    """What the process has said, line by line; the last line may have been cut off."""
    try:
        lines = (folder / ANSWERS).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict):
            found.append(said)  # pyright: ignore[reportUnknownArgumentType]
    return found
