"""Kernels that once went wrong, one file each, against the one-thread-at-a-time interpreter.

A file opens with why it is there, then `// launch GRID BLOCK` and an `// argument` per parameter: a type and
a number of elements for an array (0, 1, 2, ...), or an integer. Kernels that tests/fuzz/shrink.py made have
`// random SEED N REGIONS` instead of arguments; there the engines are compared with each other.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.fuzz.random_programs import outputs
from tests.generators.kernels import RandomKernel

from .interpreter import Interpreter

_FILES = sorted((Path(__file__).parent / "cases").glob("*.ptx"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_case(file: Path, engine: str):
    text = file.read_text(encoding="utf-8")
    if "\n// random " in text:
        _compare_engines(text, engine)
        return
    launch, *lines = [line[3:] for line in text.splitlines() if line.startswith(("// launch", "// argument"))]
    grid, block = _extents(launch)
    have, want = ([_argument(line) for line in lines] for _ in range(2))
    Interpreter(text).run(grid, block, want)
    run_ptx(text, grid, block, have, engine=engine)
    for ours, theirs in zip(have, want, strict=True):
        assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def _compare_engines(text: str, engine: str) -> None:
    launch, numbers = [line for line in text.splitlines() if line.startswith(("// launch", "// random"))]
    seed, n, regions = map(int, numbers.split()[2:])
    made = RandomKernel(seed, text, *_extents(launch[3:]), n, ("u64",) * regions)
    assert not made.differences(outputs(made, engine), outputs(made, "reference"), exact=engine != "gpu")


def _extents(launch: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    return ast.literal_eval(launch.removeprefix("launch ").replace(") (", "), ("))


def _argument(line: str) -> np.ndarray | int:
    words = line.split()[1:]
    if len(words) == 1:
        return int(words[0])
    return np.arange(int(words[1])).astype(f"{words[0][0]}{int(words[0][1:]) // 8}")
