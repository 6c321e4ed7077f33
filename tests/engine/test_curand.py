"""cuRAND's device functions: whoever includes their header installs its wheel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpglass import lab
from warpglass.errors import CompileError
from warpglass.source import nvrtc

UNIFORM = r"""
#include <curand_kernel.h>
template <typename State> __global__ void uniform(float *out, unsigned long long seed) {
    State state;
    curand_init(seed, threadIdx.x, 0, &state);
    out[threadIdx.x] = curand_uniform(&state);
}
"""
INSTALLED = any(Path(folder, "curand_kernel.h").exists() for folder in nvrtc.header_folders())


@pytest.mark.skipif(INSTALLED, reason="nvidia-curand is installed")
def test_without_the_wheel() -> None:
    with pytest.raises(CompileError, match="pip install nvidia-curand"):
        lab.compile(UNIFORM, "uniform<curandState>")


@pytest.mark.skipif(not INSTALLED, reason="nvidia-curand is not installed")
@pytest.mark.parametrize(
    ("state", "first"),
    [("curandState", [0.14546764, 0.8201809]), ("curandStatePhilox4_32_10_t", [0.12720795, 0.8167363])],
)
def test_uniform_numbers_of_an_h200(state: str, first: list[float]) -> None:
    out = np.zeros(2, np.float32)
    lab.run(lab.compile(UNIFORM, f"uniform<{state}>"), 1, 2, (out, 1234), device="cpu")
    np.testing.assert_array_equal(out, np.array(first, np.float32))
