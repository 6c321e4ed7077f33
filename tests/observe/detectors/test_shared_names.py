"""Arrays in shared memory have the names that Python gives them, where these can be told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg

_HEAD = """import numpy as np
from numba_cuda_mlir import cuda


@cuda.jit(device=True)
def reversed_(x, t):
    w = cuda.shared.array(64, np.float64)
    w[t] = x[t]
    cuda.syncthreads()
    return w[63 - t]


"""
_TWO = """def k(x, y):
    first = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    second = cuda.shared.array(shape=(4, 16), dtype=np.int32)
    first[t] = x[t]
    second[t // 16, t % 16] = t
    RACE
"""


@pytest.mark.parametrize(
    ("race", "name"),
    [
        ("y[t] = first[63 - t] + second[t // 16, t % 16]", "first"),
        ("y[t] = second[3 - t // 16, t % 16] + first[t]", "second"),
        ("y[t] = second[3 - t // 16, t % 16]", "shared memory"),  # the compiler has left one out
        ("y[t] = second[3 - t // 16, t % 16] + first[t] + reversed_(x, t)", "shared memory"),
    ],
)
def test_races(race: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(_HEAD + _TWO.replace("RACE", race), "utf-8")
    x = np.zeros(64, np.float32)
    found = wg.check(wg.load(path, "k"), 1, 64, (x, x.copy())).findings[0]
    assert found.array == name
    assert f"{name}[{found.index}]" in found.message


def test_faults(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(_HEAD + _TWO.replace("RACE", "y[t] = second[t, 5] + first[t]"), "utf-8")
    x = np.zeros(64, np.float32)
    with pytest.raises(wg.KernelFault, match=r"of second in shared memory"):
        wg.run(wg.load(path, "k"), 1, 64, (x, x.copy()))
    wg.reset()
