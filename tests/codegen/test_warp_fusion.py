"""Kernels whose warps run together, 64 lanes and more: the same results and faults, where it pays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from tests.generators import kernels
from tests.generators.kernels import RandomKernel, random_kernel
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, generate, grid_class, warp_fusion
from warpglass.codegen.warp_fusion import fused_shape
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault, KernelTimeout
from warpglass.program import Program

SOURCE = """
extern "C" __global__ void dot(const float* x, const float* y, float* sums, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int m = 0; m < n; m += 16) {
    as[ty][tx] = a[row * 48 + m + tx];
    bs[ty][tx] = b[(m + ty) * 48 + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * 48 + column] = sum;
}
extern "C" __global__ void forever(const float* x, float* y) {
  float sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x; i >= 0; i = (i + 128) & 1023) sum += x[i];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void doubles(const double* x, double* y, int n) {
  double sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 128) sum += x[i];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void votes(const float* x, float* y, int n) {
  float sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 128) sum += __any_sync(0xffffffff, x[i] > 0);
  y[threadIdx.x] = sum;
}
extern "C" __global__ void lengths(const float* x, float* y, int n) {
  float sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x; x[i] > 0; i += 128) sum += x[i];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void strides(const float* x, float* y, int n) {
  float sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 128) sum += x[i * n];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void smooth(const float* x, float* y, int n) {
  __shared__ float part[130];
  for (int i = threadIdx.x; i < n; i += gridDim.x * 128) {
    part[threadIdx.x + 1] = x[i];
    BARRIER
    y[i] = part[threadIdx.x] + part[threadIdx.x + 1] + part[threadIdx.x + 2];
    __syncthreads();
  }
}
extern "C" __global__ void counts(const float* x, int* y, int n) {
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 128) atomicAdd(y, x[i] > 0);
}
extern "C" __global__ void sorted(int* x) {
  __shared__ int part[N];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  #pragma unroll 1
  for (int phase = 0; phase < N; phase++) {
    if (t % 2 == phase % 2 && t + 1 < N) {
      int a = part[t], b = part[t + 1];
      if (a > b) { part[t] = b; part[t + 1] = a; }
    }
    __syncthreads();
  }
  x[t] = part[t];
}
extern "C" __global__ void busy(float* x, int n) {
  float sum = x[threadIdx.x];
  #pragma unroll 1
  for (int s = n; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      #pragma unroll
      for (int k = 0; k < 20; k++) sum = sum * sum + k;
    }
    __syncthreads();
  }
  x[threadIdx.x] = sum;
}
"""


def _code(n: int = 256, barrier: str = "") -> str:
    return SOURCE.replace("N", str(n)).replace("BARRIER", barrier)


CODE = _code()


def _width(name: str, block: tuple[int, int, int], code: str = CODE) -> int:
    prepared = prepare(wg.compile(code, name).compile())
    program, shape = prepared.program, BlockShape(block, prepared.program.shared.static)
    return generate(program, shape, prepared.symbols, (), Promises(grid_class((4, 1, 1)))).shape.width


@pytest.mark.parametrize(
    ("name", "block", "lanes"),
    [
        ("dot", (256, 1, 1), 128),
        ("dot", (192, 1, 1), 64),
        ("dot", (96, 1, 1), 32),
        ("dot", (100, 1, 1), 32),
        ("dot", (9, 1, 1), 16),
        ("dot", (1, 1, 1), 8),
        ("votes", (8, 1, 1), 32),
        ("product", (16, 16, 1), 128),
        ("doubles", (128, 1, 1), 64),
        ("votes", (128, 1, 1), 32),
        ("lengths", (128, 1, 1), 32),
        ("strides", (128, 1, 1), 32),
        ("counts", (128, 1, 1), 32),
        ("sorted", (256, 1, 1), 128),
        ("busy", (256, 1, 1), 32),
    ],
)
def test_lanes_run_together_where_it_pays(
    name: str, block: tuple[int, int, int], lanes: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    assert _width(name, block) == lanes


@pytest.mark.parametrize(("rows", "together"), [(20, True), (400, False)])
def test_long_kernels_run_warp_by_warp(rows: int, together: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    lines = [f"y[threadIdx.x + {128 * k}] = x[threadIdx.x + {128 * k}] * {k}.f;" for k in range(rows)]
    text = 'extern "C" __global__ void k(const float* x, float* y) {' + "\n".join(lines) + "}"
    program = prepare(wg.compile(text, "k").compile()).program
    assert (fused_shape(program, BlockShape((128, 1, 1))) is not None) == together


@pytest.mark.parametrize("loop", ["", "for (int i = 0; i < n; i++)"])
@pytest.mark.parametrize(("steps", "lanes"), [(20, 128), (600, 32)])
def test_long_work_between_accesses_runs_warp_by_warp(
    steps: int, lanes: int, loop: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    loads = " + ".join(f"x[threadIdx.x + {128 * k}]" for k in range(6))
    work = " ".join(f"sum = sum * sum + {k}.f;" for k in range(steps))
    body = f"float sum = {loads};\n#pragma unroll 1\n{loop} {{ {work} }} y[threadIdx.x] = sum;"
    body = body if loop else body.replace("#pragma unroll 1", "")
    text = f'extern "C" __global__ void k(const float* x, float* y, int n) {{ {body} }}'
    assert _width("k", (128, 1, 1), text) == lanes


@pytest.mark.parametrize(("barrier", "lanes"), [("__syncthreads();", 128), ("", 32)])
def test_a_forgotten_barrier_stays_to_be_seen(
    barrier: str, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warp by warp, the second warp's neighbours are missing from the sums of the first."""
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    assert _width("smooth", (128, 1, 1), _code(barrier=barrier)) == lanes


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_product_of_matrices(engine: str):
    a, b = np.random.default_rng(3).random((2, 48, 48), np.float32)
    c = np.zeros_like(a)
    with engine_mode(engine):
        lab.run(wg.compile(CODE, "product"), (3, 3), (16, 16), (a, b, c, np.int32(48)), device="cpu")
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("n", [256, 192, 130])
def test_lanes_that_act_in_turns(engine: str, n: int):
    x = np.random.default_rng(n).integers(-99, 99, n).astype(np.int32)
    expected = np.sort(x)
    with engine_mode(engine):
        lab.run(wg.compile(_code(n), "sorted"), 1, n, (x,), device="cpu")
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("short", [0, 1, 31, 65, 127])
def test_the_fault_is_the_first_lanes_that_leaves(short: int):
    """Threads read x[i] in order, so the lowest one beyond the end of x is the one to blame."""
    n = 4 * 256
    x, y, sums = np.ones(n - short, np.float32), np.ones(n, np.float32), np.zeros(256, np.float32)
    for engine in CPU_ENGINES:
        with engine_mode(engine):
            kernel = wg.compile(CODE, "dot")
            if not short:
                lab.run(kernel, 1, 256, (x, y, sums, np.int32(n)), device="cpu")
                assert (sums == 4).all()
                continue
            with pytest.raises(KernelFault) as caught:
                lab.run(kernel, 1, 256, (x, y, sums, np.int32(n)), device="cpu")
            lab.reset("cpu")
        place = caught.value.place
        assert (place.array, place.index) == ("x", n - short), engine
        assert place.thread == (256 - short, 0, 0), engine


def test_a_loop_without_end_is_stopped_and_named():
    with pytest.raises(KernelTimeout, match=r"thread \(0, 0, 0\) was in this loop"):
        lab.run(
            wg.compile(CODE, "forever"),
            1,
            128,
            (np.ones(1024, np.float32), np.zeros(128, np.float32)),
            device="cpu",
            timeout=0.3,
        )
    lab.reset("cpu")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run lanes together wherever that may be, whether or not it pays, with nothing from the disk."""

    def choose(lanes: int) -> None:
        def wide(program: Program, shape: BlockShape) -> BlockShape | None:
            possible = fused_shape(program, replace(shape, block=(256, 1, 1)))
            return None if possible is None else replace(shape, width=lanes)

        monkeypatch.setattr(warp_fusion, "fused_shape", wide)
        monkeypatch.setattr(warp_fusion, "pays", lambda *_: True)
        monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path))
        prepare.cache_clear()

    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    yield choose
    prepare.cache_clear()


@pytest.mark.parametrize(("seed", "lanes"), [(seed, (64, 128, 256)[seed % 3]) for seed in range(100, 106)])
def test_random_kernels_agree_with_the_reference(seed: int, lanes: int, always: Callable[[int], None]):
    """Divergent branches, partial groups of lanes and every pattern of access, at any width."""
    made = random_kernel(seed, large=seed % 2 == 0, size=14)
    want = _output(made, "reference")
    always(lanes)
    found = made.differences(_output(made, "kinds"), want)
    assert not found, f"{found}\n{made.text}"


@pytest.mark.parametrize("seed", range(200, 208))
def test_blocks_of_few_threads_agree_with_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch):
    """They have no more lanes than they need, all or some of which act."""
    monkeypatch.setattr(
        kernels, "SHAPES", [(1, 1, 1), (5, 1, 1), (8, 1, 1), (4, 4, 1), (3, 1, 5), (16, 1, 1)]
    )
    made = random_kernel(seed, size=14)
    found = made.differences(_output(made, "kinds"), _output(made, "reference"))
    assert not found, f"{found}\n{made.text}"


# Rows and diagonals of a triangle: what lanes that do not act would reach lies outside of the tile.
TRIANGLE = """
extern "C" __global__ void triangle(int* x) {
  __shared__ int tile[N][N];
  int t = threadIdx.x;
  for (int row = 0; row < N; row++) tile[row][t] = x[row * N + t];
  __syncthreads();
  #pragma unroll 1
  for (int k = 1; k < N; k++) {
    if (t > 0 && t <= k) tile[k - t + 1][t] += tile[k - t + 1][t - 1] + tile[t][k - t];
    __syncthreads();
  }
  for (int row = 0; row < N; row++) x[row * N + t] = tile[row][t];
}
"""


@pytest.mark.parametrize(("n", "lanes"), [(5, 8), (16, 16), (20, 32), (32, 32), (48, 32)])
def test_triangles(n: int, lanes: int) -> None:
    code = TRIANGLE.replace("N", str(n))
    assert _width("triangle", (n, 1, 1), code) == lanes
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        x = np.random.default_rng(n).integers(-99, 99, (n, n)).astype(np.int32)
        with engine_mode(engine):
            lab.run(wg.compile(code, "triangle"), 1, n, (x,), device="cpu")
        results.append(x)
    assert np.array_equal(results[0], results[1])


def _output(made: RandomKernel, engine: str) -> np.ndarray:
    args = made.arguments()
    run_ptx(made.text, made.grid, made.block, args, engine=engine)
    output = args[-1]
    assert isinstance(output, np.ndarray)
    return output
