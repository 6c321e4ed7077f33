"""A number put into low bits that are zero in all lanes is added to them: such addresses keep their form."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import BlockShape, Promises, generate, grid_class
from warpglass.engine.cpu.prepared import prepare

BLOCK, GRID = 64, 3
THREADS = BLOCK * GRID
# Red and black points; one of four neighbours; and a number that may reach beyond the zeros.
BODIES = {
    "(i << 1 | shift & 1)": True,
    "(i * 4 ^ shift & 3)": True,
    "(i * 8 | shift & 7) & ~1": True,
    "(i * 4 | shift & 7)": False,
}


def _kernel(index: str) -> wg.Kernel:
    return wg.compile(
        f"""extern "C" __global__ void k(const int* x, int* y, int shift) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          y[i] = x[{index}];
        }}""",
        "k",
    )


@pytest.mark.parametrize("index", BODIES)
@pytest.mark.parametrize("shift", [0, 3, -1])
def test_values(index: str, shift: int) -> None:
    x = np.random.default_rng(2).integers(0, 1 << 30, 9 * THREADS).astype(np.int32)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        y = np.zeros(THREADS, np.int32)
        with engine_mode(engine):
            wg.run(_kernel(index), GRID, BLOCK, (x, y, np.int32(shift)), device="cpu")
        results.append(y)
    assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize(("index", "keeps"), BODIES.items())
def test_forms(index: str, keeps: bool) -> None:
    prepared = prepare(_kernel(index).compile())
    promises = Promises(grid_class((GRID, 1, 1)))
    code = generate(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, (), promises)
    apart = any(name in code.ir for name in ("gather", "wg_fetch", "wg_pick"))
    assert apart != keeps
