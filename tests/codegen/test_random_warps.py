"""Random code of lanes that wait for each other and exchange values, against its oracle on every engine.

WARPGLASS_FUZZ=FIRST:COUNT runs seeds of a campaign of one's own instead of the fixed ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.generators.warps import VALUES, RandomWarp
from tests.levels import numbers
from warpglass.codegen import registers
from warpglass.codegen.control import dispatch
from warpglass.engine.cpu import tiers
from warpglass.program import pending


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", numbers(12))
def test_engines_agree_with_the_oracle(seed: int, engine: str):
    _compare(seed, engine)


@pytest.mark.parametrize("engine", ["kinds", "reference"])
@pytest.mark.parametrize("seed", numbers(12))
def test_the_forms_of_long_programs(seed: int, engine: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pending, "_MOST_FOLLOWED", 0)
    monkeypatch.setattr(pending, "_MOST_STEPS", 0)
    monkeypatch.setattr(dispatch, "MOST_MASKS", 0)
    monkeypatch.setattr(registers, "_MOST_PHIS", 0)
    _compare(seed, engine, "// as a long program\n")


@pytest.mark.parametrize("seed", numbers(12))
def test_small_code_looks_for_the_next_block_in_a_loop(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.SMALL)
    monkeypatch.setattr(pending, "_MOST_FOLLOWED", 0)
    _compare(seed, "kinds", "// in small code\n")


def _compare(seed: int, engine: str, remark: str = "") -> None:
    made = RandomWarp(seed, size=2 + seed % 5 * 2)
    block = (32, 64, 48, 7)[seed % 4]
    given = np.random.default_rng(seed).integers(0, 1 << 32, (block, VALUES), np.uint32)
    want = given.copy()
    for first in range(0, block, 32):
        warp = want[first : first + 32]
        state = [[int(value) for value in column] for column in warp.T]
        made.act(state, tuple(range(len(warp))))
        warp[:] = np.array(state, np.uint32).T
    run_ptx(made.text + remark, 1, block, [given], engine=engine)
    wrong = np.argwhere(given != want)
    assert not wrong.size, f"thread {wrong[0][0]}, %r{wrong[0][1]}\n{made.text}"
