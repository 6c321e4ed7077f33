"""The list of passes: rows need what is there, and those that only gain something can be left out."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import engine_mode
from warpglass.codegen import BlockShape, Promises, kernel
from warpglass.codegen.passes import PASSES
from warpglass.codegen.version import Version
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import prepare
from warpglass.program.passes import Pass

BLOCK, N = 64, 7
SOURCE = """
// Rows of an array weighted by a part of shared memory that ends within the loop; then a sum by halves.
extern "C" __global__ void weighted(const float* x, float* out, int n, int width) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = x[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; k++) {
    int at = t + k - 1;
    if (at >= 0 && at < 64) sum += part[at] * x[k * width + i];
  }
  __syncthreads();
  part[t] = sum;
  __syncthreads();
  for (int step = 32; step > 0; step >>= 1) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  out[i] = part[t];
}
"""
_OPTIMISED_ONLY = ("sinking", "path-sensitive bounds", "barrier regions")


def _results() -> np.ndarray:
    """What three launches leave, of which the last runs a version with integers as constants."""
    prepare.cache_clear()
    weighted = wg.compile(SOURCE, "weighted")
    x = np.random.default_rng(1).random((N + 1) * 4 * BLOCK).astype(np.float32)
    out = np.zeros((3, 4 * BLOCK), np.float32)
    for row in out:
        wg.run(weighted, 4, BLOCK, (x, row, N, 4 * BLOCK), device="cpu")
    return out


@pytest.fixture(scope="module")
def want() -> np.ndarray:
    """What the reference implementation leaves."""
    with engine_mode("reference"):
        return _results()


@pytest.mark.parametrize("left_out", [one.name for one in PASSES if one.gain])
def test_results_are_the_same_without(
    left_out: str, want: np.ndarray, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tier = tiers.OPTIMISED if left_out in _OPTIMISED_ONLY else tiers.QUICK
    monkeypatch.setenv(tiers.VARIABLE, tier)
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path))
    promised: list[Promises] = []
    witness = Pass("witness", promised.append, "promises", "")
    monkeypatch.setattr(kernel, "PASSES", [witness, *(one for one in PASSES if one.name != left_out)])
    assert np.array_equal(_results(), want)
    assert any(one.exact for one in promised) == (tier == tiers.OPTIMISED)
    prepare.cache_clear()


@pytest.mark.parametrize("exact", [None, False, True])
def test_rows_need_what_is_there(exact: bool | None) -> None:
    prepared = prepare(wg.compile(SOURCE, "weighted").compile())
    promises = None if exact is None else Promises((4, 1, 1), {16: N, 20: 4 * BLOCK}, exact)
    version = Version(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, (), promises)
    known = {"program", "shape", "symbols", "promises"}
    ran = [one for one in PASSES if one.when(version)]
    for one in ran:
        assert known.issuperset(name.partition(".")[0] for name in one.needs.split()), one.name
        known.update(one.gives.split())
    assert known <= {one.name for one in fields(Version)}
    names = {one.name for one in ran}
    assert ("sinking" in names) == bool(exact)
    assert ("kinds of registers" in names) == (exact is not None) != ("all registers vectors" in names)
    assert len({one.name for one in PASSES}) == len(PASSES)
