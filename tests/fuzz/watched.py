"""Tries inputs by number in processes of their own, so that a crash or a hang is a result like any other.

A module to be tried has `attempt(number)`: it returns a word for how the input ended, and raises if it ended
badly. `python -m tests.fuzz.watched MODULE` is such a process: numbers come in, outcomes go out, a line each.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MEMORY = 8 << 30  # bytes of address space; more is an input that asks for too much


@dataclass
class Outcomes:
    """How inputs ended: a count of each good end, and a text for each bad one."""

    good: Counter[str] = field(default_factory=Counter)
    bad: dict[int, str] = field(default_factory=dict)


def try_all(module: str, numbers: Iterable[int], seconds: float = 60.0) -> Outcomes:
    """Try inputs one by one; one that takes longer than `seconds` hangs."""
    found = Outcomes()
    process = None
    for number in numbers:
        process = process or _Process(module)
        ended, text = process.attempt(number, seconds)
        if ended:
            found.good[text] += 1
        else:
            found.bad[number] = text
        if process.gone:
            process = None
    if process is not None:
        process.end()
    return found


class _Process:
    """A process that tries inputs."""

    def __init__(self, module: str):
        self.gone = False
        places = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), str(_ROOT), str(_ROOT / "src")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.watched", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
        )

    def attempt(self, number: int, seconds: float) -> tuple[bool, str]:
        """Whether an input ended well, and the word or the text for it."""
        assert self.process.stdin and self.process.stdout  # noqa: PT018
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        if line:
            ended, text = json.loads(line)
            return ended, text
        if not ready:
            self.process.kill()
        self.gone = True
        _, said = self.process.communicate()
        return (
            False,
            f"hangs for {seconds:.0f} s" if not ready else f"dies: {self.process.returncode}\n{said[-2000:]}",
        )

    def end(self) -> None:
        """No more inputs."""
        self.process.communicate()


def _serve(module: str, lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    tried = importlib.import_module(module)
    for line in lines:
        try:
            yield True, tried.attempt(int(line))
        except BaseException:
            yield False, traceback.format_exc()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what kernels print is no outcome
    for outcome in _serve(sys.argv[1], iter(sys.stdin.readline, "")):
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()
