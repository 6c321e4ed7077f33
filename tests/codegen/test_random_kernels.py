"""Random kernels on both engines and one thread at a time: three opinions that must be one.

WARPGLASS_FUZZ=FIRST:COUNT runs seeds of a campaign of one's own instead of the fixed ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.fuzz import random_programs
from tests.generators.kernels import RandomKernel, random_kernel
from tests.levels import numbers
from warpglass.codegen import registers

from .interpreter import Interpreter

_SEEDS = numbers(24)
_LARGE = _SEEDS[: max(1, len(_SEEDS) // 6)]
_FEATURES = _SEEDS[: max(1, len(_SEEDS) // 3)]


@pytest.mark.parametrize("seed", _SEEDS)
def test_engines_agree_with_the_interpreter(seed: int):
    made = random_kernel(seed, size=8 + seed % 5 * 6)
    args = made.arguments()
    Interpreter(made.text).run(made.grid, made.block, args)
    want = _output(args)
    for engine in CPU_ENGINES:
        found = made.differences(_run(made, engine), want)
        assert not found, f"{engine}: {found}\n{made.text}"


@pytest.mark.parametrize("seed", _LARGE)
def test_engines_agree_on_large_blocks(seed: int):
    made = random_kernel(seed, large=True, size=25)
    reference, kinds = (_run(made, engine) for engine in CPU_ENGINES)
    found = made.differences(kinds, reference)
    assert not found, f"{found}\n{made.text}"


@pytest.mark.parametrize("seed", _LARGE)
def test_registers_may_stay_in_memory(seed: int, monkeypatch: pytest.MonkeyPatch):
    made = random_kernel(seed, size=25)
    reference = _run(made, "reference")
    monkeypatch.setattr(registers, "_MOST_PHIS", 0)
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")
    found = made.differences(_run(made, "kinds", "// with registers in memory\n"), reference)
    assert not found, f"{found}\n{made.text}"


@pytest.mark.parametrize("seed", _FEATURES)
def test_engines_agree_on_calls_warps_and_atomics(seed: int):
    assert random_programs.attempt(seed) == "agree"


@pytest.mark.gpu
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_gpu_agrees_on_calls_warps_and_atomics(seed: int):
    made = random_programs.program(seed)
    found = made.differences(_run(made, "reference"), _run(made, "gpu"))
    assert not found, f"{found}\n{made.text}"


@pytest.mark.gpu
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_gpu_agrees_with_the_reference_engine(seed: int):
    made = random_kernel(seed, large=seed % 2 == 0, size=8 + seed % 5 * 6)
    found = made.differences(_run(made, "reference"), _run(made, "gpu"))
    assert not found, f"{found}\n{made.text}"


def _run(made: RandomKernel, engine: str, remark: str = "") -> np.ndarray:
    args = made.arguments()
    run_ptx(made.text + remark, made.grid, made.block, args, engine=engine)
    return _output(args)


def _output(args: list[object]) -> np.ndarray:
    output = args[-1]
    assert isinstance(output, np.ndarray)
    return output
