"""Lanes that share a row of blocks go through it as a team: which loops have such, and their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import BlockShape, warp_fusion
from warpglass.codegen.lane_loops.choose import choose_lane_loops
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# R threads share a row of blocks of R by R.
SOURCE = """
#define EACH(name, row, ...) \\
extern "C" __global__ void name(const int* from, const int* to, const int* columns, const T* values, \\
                                const T* x, T* y, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  if (i >= n) return; \\
  int r = i % R; (void)r; \\
  T sum = 0; \\
  for (int k = from[row]; k < to[row]; k++) __VA_ARGS__ \\
  y[i] = sum; \\
}
EACH(blocks, i / R, {
  const T *v = values + (k * R + r) * R, *part = x + R * columns[k];
  for (int c = 0; c < R; c++) sum += v[c] * part[c];
})
EACH(parts, i / R, { int c = columns[k]; sum += x[c] + values[R * k + r] * x[c + 1]; })
EACH(rows, i, { sum += values[k] * x[columns[k]]; })
EACH(walks, i / R, { sum = sum * 3 + values[R * k + r]; })
"""
TYPES = {np.float32: "float", np.float64: "double", np.int32: "int"}
BLOCK, N, ELEMENTS = 96, 250, 900  # the last block is partial, and so is its last warp


@pytest.fixture(autouse=True)
def warp_by_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave lanes of a warp to themselves."""
    monkeypatch.setattr(warp_fusion, "pays", lambda *_, **__: False)


def _kernel(name: str, kind: type, rows: int) -> wg.Kernel:
    return wg.compile(f"typedef {TYPES[kind]} T;\n#define R {rows}\n{SOURCE}", name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("blocks", True),
        ("parts", True),
        ("rows", False),  # lanes whose columns were the same would do the same
        ("walks", False),  # nothing is loaded by what was loaded
    ],
)
def test_which_loops_have_teams(name: str, expected: bool) -> None:
    prepared = prepare(_kernel(name, np.float32, 3).compile())
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    chosen = choose_lane_loops(version.program, shape, promises, prepared.symbols, version.inference)
    assert any(loop.shared for loop in chosen.values()) == expected


def _arguments(kind: type, rows: int, longest: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(longest)
    count = -(-N // rows)
    starts = rng.integers(0, ELEMENTS - longest, count)
    starts[5:9] = starts[5]  # also from row to row
    starts[20:] = np.arange(20, count)
    lengths = rng.integers(-1, longest, count)
    lengths[5:8] = longest
    columns = rng.integers(0, ELEMENTS // 3, ELEMENTS).astype(np.int32)
    values, x = (rng.random((2, ELEMENTS * rows * rows)) * 9).astype(kind)
    if kind is not np.int32:
        values[rng.random(values.size) < 0.002] = -np.nan
    from_, to = starts.astype(np.int32), (starts + lengths).astype(np.int32)
    return from_, to, columns, values, x, np.full(N, -7, kind), np.int32(N)


def _run(kernel: wg.Kernel, args: tuple[Any, ...], engine: str) -> Any:
    with engine_mode(engine):
        for _ in range(2):  # launches that repeat their integers have code of their own
            wg.run(kernel, -(-N // BLOCK), BLOCK, args, device="cpu")
    return args[5]


@pytest.mark.parametrize("longest", [6, 40])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("kind", list(TYPES))
@pytest.mark.parametrize("name", ["blocks", "parts"])
def test_results_are_those_of_the_reference(name: str, kind: type, rows: int, longest: int) -> None:
    kernel = _kernel(name, kind, rows)
    reference, fast = (_run(kernel, _arguments(kind, rows, longest), engine) for engine in CPU_ENGINES)
    assert reference.tobytes() == fast.tobytes()
    assert (reference != -7).any()


def test_the_first_fault_is_that_of_the_reference() -> None:
    """A column that is outside stops the first thread of its row, whatever thread comes to it."""
    messages: list[str] = []
    for engine in CPU_ENGINES:
        args = _arguments(np.float32, 3, 40)
        starts, ends, columns = args[:3]
        starts[:], ends[:] = np.arange(len(starts)) * 10, np.arange(len(starts)) * 10 + 9
        columns[starts[15] + 4] = columns[starts[12] + 7] = 1 << 20
        with pytest.raises(KernelFault) as caught:
            _run(_kernel("blocks", np.float32, 3), args, engine)
        messages.append(str(caught.value))
        lab.backend("cpu").reset()
    assert messages[0] == messages[1]
