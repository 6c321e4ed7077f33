"""Blocks side by side whose rows run together: the same results and faults, where no thread can tell."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, generate, grid_class
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

SOURCE = """
#define PLACE const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y
extern "C" __global__ void smooth(float* out, const float* in, int width, int height) {
  PLACE;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const float here = in[i], west = x > 0 ? in[i - 1] : here, south = y < height - 1 ? in[i + width] : here;
  out[i] = here + 0.25f * (west + south + threadIdx.x + 100 * blockIdx.x);
}
extern "C" __global__ void picked(float* out, const float* in, const int* rows,
                                  const int* columns, int width) {
  PLACE;
  out[y * width + x] = in[rows[y] * width + x] + in[y * width + columns[x]];
}
extern "C" __global__ void two(float* out, int* more, const float* in, const int* next, int width) {
  PLACE;
  const float first = in[next[x]];
  out[y * width + x] = first;
  more[y * width + x] = in[width - 1 - x] > 0;
}
extern "C" __global__ void in_place(float* out, const float* in, int width, int height) {
  PLACE;
  if (x < width && y < height) out[y * width + x] += in[y * width + x] * in[x];
}
extern "C" __global__ void sums(float* out, const float* in, int width, int height) {
  PLACE;
  float sum = 0;
  #pragma unroll 1
  for (int k = 0; k < height; k++) sum += in[k * width + x];
  out[y * width + x] = sum;
}
extern "C" __global__ void shared(float* out, const float* in, int width, int height) {
  PLACE;
  __shared__ float part[16][16];
  part[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  out[y * width + x] = part[threadIdx.x][threadIdx.y] + in[x];
}
"""


@pytest.mark.parametrize(
    ("name", "block", "grid", "blocks"),
    [
        ("smooth", (16, 16, 1), (8, 8, 1), 4),
        ("smooth", (32, 8, 1), (8, 8, 1), 2),
        ("smooth", (8, 4, 2), (8, 8, 1), 8),
        ("smooth", (64, 4, 1), (8, 8, 1), 1),
        ("smooth", (12, 16, 1), (8, 8, 1), 1),
        ("smooth", (16, 16, 1), (1, 8, 1), 1),
        ("picked", (16, 16, 1), (8, 8, 1), 2),
        ("two", (16, 16, 1), (8, 8, 1), 2),
        ("in_place", (16, 16, 1), (8, 8, 1), 1),
        ("sums", (16, 16, 1), (8, 8, 1), 1),
        ("shared", (16, 16, 1), (8, 8, 1), 1),
    ],
)
def test_blocks_run_together_where_nobody_can_tell(
    name: str,
    block: tuple[int, int, int],
    grid: tuple[int, int, int],
    blocks: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    prepared = prepare(wg.compile(SOURCE, name).compile())
    program, shape = prepared.program, BlockShape(block, prepared.program.shared.static)
    code = generate(program, shape, prepared.symbols, (), Promises(grid_class(grid)))
    assert code.shape.blocks == blocks


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("block", [(16, 16), (32, 4), (8, 8)])
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 9])
def test_whatever_the_grid(engine: str, block: tuple[int, int], columns: int) -> None:
    width, height = columns * block[0] - 5, 3 * block[1] - 2
    inputs = np.random.default_rng(3).integers(0, 100, (height, width)).astype(np.float32)
    out = np.zeros_like(inputs)
    args = (out, inputs, np.int32(width), np.int32(height))
    for _ in range(4):  # the last ones know the integers
        out.fill(-1)
        with engine_mode(engine):
            wg.run(wg.compile(SOURCE, "smooth"), (columns, 3), block, args, device="cpu")
        west = np.hstack([inputs[:, :1], inputs[:, :-1]])
        south = np.vstack([inputs[1:], inputs[-1:]])
        numbers = np.arange(width, dtype=np.float32)
        own = numbers % block[0] + 100 * (numbers // block[0])
        np.testing.assert_array_equal(out, inputs + (west + south + own) / 4)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_rows_and_columns_from_tables(engine: str) -> None:
    random = np.random.default_rng(3)
    inputs = random.random((48, 80), np.float32)
    rows, columns = (random.permutation(size).astype(np.int32) for size in inputs.shape)
    out = np.zeros_like(inputs)
    with engine_mode(engine):
        wg.run(
            wg.compile(SOURCE, "picked"),
            (5, 3),
            (16, 16),
            (out, inputs, rows, columns, np.int32(80)),
            device="cpu",
        )
    np.testing.assert_array_equal(out, inputs[rows] + inputs[:, columns])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("first", [{3: 37}, {3: 37, 5: 50}, {1: 79, 2: 20}, {0: 40}, {4: 15}])
@pytest.mark.parametrize("later", [0, 20, 70])
def test_the_first_block_that_faults(engine: str, first: dict[int, int], later: int) -> None:
    """Some lanes load behind the array at once, and others, by a later load, in front of it."""
    width, height = 80, 32
    inputs = np.ones(width - later, np.float32)
    next_ = np.zeros(width, np.int32)
    for column in first.values():
        next_[column] = 1 << 20
    out, more = np.zeros((height, width), np.float32), np.full((height, width), -1, np.int32)
    with engine_mode(engine), pytest.raises(KernelFault) as caught:
        lab.run(
            wg.compile(SOURCE, "two"),
            (5, 2),
            (16, 16),
            (out, more, inputs, next_, np.int32(width)),
            device="cpu",
        )
    wg.reset("cpu")
    wrong = [*first.values(), *range(later)]  # columns of which a thread faults
    block = min(column // 16 for column in wrong)
    assert caught.value.place.block == (block, 0, 0)
    thread = caught.value.place.thread
    assert thread is not None
    assert thread[0] + 16 * block in wrong
    np.testing.assert_array_equal(out[:16, : 16 * block], 1)  # of the blocks before it
    np.testing.assert_array_equal(more[:16, : 16 * block], 1)
