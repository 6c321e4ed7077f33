"""Loops over Python's ranges that NVVM has unrolled, rolled up where lanes share rounds unevenly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault
from warpglass.program import Program, roll_ranges

cuda: Any = pytest.importorskip("numba_cuda_mlir.cuda")  # installed wherever CUDA C++ compiles, too
SIZES = (0, 1, 31, 33, 64, 97, 131, 256, 300)


def loads(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    total = np.float32(1)
    for c in range(t, len(x), 32):
        total = total * np.float32(3) + x[c]
    sums[t] = total


def rows(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    total = np.float32(1)
    for c in range(t, len(x), cuda.blockDim.x):
        total = total * np.float32(3) + x[c] * y[c]
    sums[t] = total
    for c in range(t, len(x), cuda.blockDim.x):
        z[c] = x[c] - total


def in_place(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    for c in range(t, len(x), 64):
        z[c] = z[c] * np.float32(3) + x[c]


def least(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    best = np.float32(1e30)
    place = -1
    for c in range(t, len(x), 32):
        if x[c] < best:
            best = x[c]
            place = c
    sums[t] = place


def backwards(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    total = np.float32(1)
    for c in range(len(x) - 1 - t, -1, -32):
        total = total * np.float32(3) + x[c]
    sums[t] = total


def gathers(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    total = np.float32(1)
    for c in range(t, len(x), 32):
        total = total * np.float32(3) + y[int(abs(x[c])) % 5]
    sums[t] = total


def shifts(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    for c in range(t, len(z) - 1, 32):
        z[c] = z[c + 1] + np.float32(1)


def one_place(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    for c in range(t, len(x), 32):
        z[c & 3] = x[c]


def scatters(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    for c in range(t, len(x), 32):
        z[int(abs(x[c]))] = y[c]


def evenly(x: Any, y: Any, z: Any, sums: Any) -> None:
    t = cuda.threadIdx.x
    total = np.float32(1)
    for c in range(len(x)):
        total = total * np.float32(3) + x[c]
    sums[t] = total


ROLLED = (loads, rows, in_place, least, backwards)
OTHERS = (
    gathers,
    shifts,
    one_place,
    scatters,
    evenly,
)  # rounds with branches, or whose order is seen, or alike in all lanes


def _arguments(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(size)
    x, y, z = rng.integers(-9, 10, (3, size + 9)).astype(np.float32)
    return x[:size].copy(), y[: max(size, 5)].copy(), z, np.full(64, -7, np.float32)


def _program(function: Callable[..., None]) -> Program:
    return prepare(wg.from_numba(function).compile(_arguments(100))).program


def _rolled(function: Callable[..., None]) -> bool:
    """Whether blocks are left out."""
    program = _program(function)
    made = roll_ranges(program, lambda one: one)
    return sum(len(block.steps) for block in made.blocks) < sum(len(block.steps) for block in program.blocks)


@pytest.mark.parametrize("function", ROLLED)
def test_strided_loops_are_rolled_up(function: Callable[..., None]) -> None:
    assert _rolled(function)


@pytest.mark.parametrize("function", OTHERS)
def test_other_loops_stay(function: Callable[..., None]) -> None:
    assert not _rolled(function)


@pytest.mark.parametrize("tier", ["quick", "optimised"])
@pytest.mark.parametrize("threads", [1, 31, 32, 64])
@pytest.mark.parametrize("function", [*ROLLED, *OTHERS])
def test_results_are_those_of_the_reference(
    function: Callable[..., None], threads: int, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", tier)
    kernel = wg.from_numba(function)
    for size in SIZES:
        found: list[bytes] = []
        for engine in CPU_ENGINES:
            with engine_mode(engine):
                for _ in range(3):  # the last one may run a version with integers as constants
                    args = _arguments(size)
                    wg.run(kernel, 1, threads, args, device="cpu")
                    found.append(b"".join(one.tobytes() for one in args))
        assert set(found) == {found[0]}, size


@pytest.mark.parametrize("short", [1, 35])
@pytest.mark.parametrize("function", [rows, in_place])
def test_faults_past_the_end_are_those_of_the_reference(function: Callable[..., None], short: int) -> None:
    kernel = wg.from_numba(function)
    for size in (40, 97, 130, 200, 257):
        messages: list[str] = []
        for engine in CPU_ENGINES:
            x, y, z, sums = _arguments(size)
            args = x, y[: len(x) - short].copy(), z[: len(x) - short].copy(), sums
            with engine_mode(engine), pytest.raises(KernelFault) as caught:
                wg.run(kernel, 1, 64, args, device="cpu")
            messages.append(str(caught.value))
            lab.backend("cpu").reset()
        assert messages[0] == messages[1]
