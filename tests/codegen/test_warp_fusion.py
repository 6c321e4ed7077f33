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
from warpglass.codegen.warp_fusion import fused_shapes
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
extern "C" __global__ void squares(const float* x, float* y) {
  __shared__ float part[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  part[ty][tx] = x[8 * ty + tx];
  __syncthreads();
  float sum = 0;
  #pragma unroll
  for (int k = 0; k < 8; k++) sum += part[ty][k] * part[tx][k];
  y[8 * ty + tx] = sum;
}
extern "C" __global__ void pairs(const float* x, float* y) {
  __shared__ float sum[128], square[128];
  int t = threadIdx.x;
  sum[t] = x[t];
  square[t] = x[t] * x[t];
  __syncthreads();
  #pragma unroll 1
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) { sum[t] += sum[t + s]; OTHER[t] += OTHER[t + s]; }
    __syncthreads();
  }
  y[t] = sum[t] + square[t];
}
extern "C" __global__ void butterflies(const float* x, float* y) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[2 * t] = x[2 * t];
  part[2 * t + 1] = x[2 * t + 1];
  #pragma unroll
  for (int s = 64; s > 0; s /= 2) {
    int i = 2 * t - (t & (s - 1));
    __syncthreads();
    float a = part[i], b = part[i + s];
    part[i] = a + b;
    part[i + s] = a - b;
  }
  __syncthreads();
  y[t] = part[t];
}
extern "C" __global__ void unrolled(const float* a, const float* b, float* c) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  as[ty][tx] = a[16 * ty + tx];
  bs[ty][tx] = b[16 * ty + tx];
  __syncthreads();
  float sum = 0;
  #pragma unroll
  for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
  c[16 * ty + tx] = sum;
}
"""


def _code(n: int = 256, barrier: str = "", other: str = "square") -> str:
    return SOURCE.replace("N", str(n)).replace("BARRIER", barrier).replace("OTHER", other)


CODE = _code()


def _width(name: str, block: tuple[int, int, int], code: str = CODE) -> int:
    return _shape(name, block, code).width


def _shape(name: str, block: tuple[int, int, int], code: str) -> BlockShape:
    prepared = prepare(wg.compile(code, name).compile())
    program, shape = prepared.program, BlockShape(block, prepared.program.shared.static)
    return generate(program, shape, prepared.symbols, (), Promises(grid_class((4, 1, 1)))).shape


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
        ("counts", (128, 1, 1), 128),
        ("sorted", (256, 1, 1), 128),
        ("busy", (256, 1, 1), 32),
        ("squares", (8, 8, 1), 64),
        ("unrolled", (16, 16, 1), 64),
        ("pairs", (128, 1, 1), 128),
        ("butterflies", (128, 1, 1), 64),
    ],
)
def test_lanes_run_together_where_it_pays(
    name: str, block: tuple[int, int, int], lanes: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    assert _width(name, block) == lanes


def test_what_reads_an_array_that_it_has_written_runs_warp_by_warp(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    assert _width("pairs", (128, 1, 1), _code(other="sum")) == 32


@pytest.mark.parametrize(("rows", "together"), [(20, True), (400, False)])
def test_long_kernels_run_warp_by_warp(rows: int, together: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    lines = [f"y[threadIdx.x + {128 * k}] = x[threadIdx.x + {128 * k}] * {k}.f;" for k in range(rows)]
    text = 'extern "C" __global__ void k(const float* x, float* y) {' + "\n".join(lines) + "}"
    program = prepare(wg.compile(text, "k").compile()).program
    assert bool(fused_shapes(program, BlockShape((128, 1, 1)))) == together


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
        def wide(program: Program, shape: BlockShape) -> tuple[BlockShape, ...]:
            possible = fused_shapes(program, replace(shape, block=(256, 1, 1)))
            return (replace(shape, width=lanes),) if possible else ()

        monkeypatch.setattr(warp_fusion, "fused_shapes", wide)
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


# A tile with its border: as many threads as it has elements, those inside write.
HALO = """
extern "C" __global__ void halo(const float* x, float* y, int w, int h) {
  __shared__ float tile[Y][X];
  int tx = threadIdx.x, ty = threadIdx.y;
  int column = blockIdx.x * (X - 2) + tx - 1, row = blockIdx.y * (Y - 2) + ty - 1;
  bool inside = column >= 0 && column < w && row >= 0 && row < h;
  tile[ty][tx] = inside ? x[row * w + column] : 0;
  BARRIER
  if (inside && tx > 0 && tx < X - 1 && ty > 0 && ty < Y - 1)
    y[row * w + column] = tile[ty - 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty + 1][tx];
}
extern "C" __global__ void steps(int* x, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum = sum * sum + threadIdx.x * k + threadIdx.y;
  x[threadIdx.y * X + threadIdx.x] = sum;
}
extern "C" __global__ void plane(const float* x, float* y, int n) {
  int i = (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
"""


def _halo(x: int, y: int, barrier: str = "__syncthreads();") -> str:
    return HALO.replace("X", str(x)).replace("Y", str(y)).replace("BARRIER", barrier)


@pytest.mark.parametrize(
    ("name", "block", "shape"),
    [
        ("halo", (18, 18, 1), (32, 1)),
        ("halo", (10, 10, 1), (16, 1)),
        ("halo", (34, 5, 1), (64, 1)),
        ("halo", (16, 18, 1), (32, 0)),
        ("halo", (64, 3, 1), (64, 0)),
        ("halo", (6, 5, 1), (32, 0)),
        ("steps", (17, 17, 1), (32, 0)),
    ],
)
def test_rows_that_are_no_part_of_a_warp_run_together(
    name: str, block: tuple[int, int, int], shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    found = _shape(name, block, _halo(*block[:2]))
    assert (found.width, found.rows) == shape


def test_a_forgotten_barrier_stays_to_be_seen_in_rows() -> None:
    assert _shape("halo", (18, 18, 1), _halo(18, 18, barrier="")).rows == 0


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("block", [(18, 18), (10, 7), (34, 5), (20, 20), (48, 3)])
def test_tiles_with_a_border(engine: str, block: tuple[int, int]) -> None:
    x, y = block
    given = np.random.default_rng(x).random((53, 61)).astype(np.float32)
    found = np.zeros_like(given)
    grid = (-(-61 // (x - 2)), -(-53 // (y - 2)))
    with engine_mode(engine):
        kernel = wg.compile(_halo(x, y), "halo")
        lab.run(kernel, grid, block, (given, found, np.int32(61), np.int32(53)), device="cpu")
    whole = np.pad(given, 1)
    want = whole[:-2, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:] + whole[2:, 1:-1]
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("block", [(18, 3, 2), (10, 6, 3), (33, 2, 2), (12, 5, 3)])
@pytest.mark.parametrize("missing", [1, 7, 40])
def test_the_fault_in_a_row_is_the_first_threads(block: tuple[int, int, int], missing: int) -> None:
    x, y, z = block
    n = x * y * z
    first = n - missing
    for engine in CPU_ENGINES:
        result = np.zeros(n, np.float32)
        with engine_mode(engine):
            kernel = wg.compile(_halo(x, y), "plane")
            with pytest.raises(KernelFault) as caught:
                lab.run(kernel, 1, block, (np.ones(first, np.float32), result, np.int32(n)), device="cpu")
            lab.reset("cpu")
        place = caught.value.place
        assert (place.array, place.index) == ("x", first), engine
        assert place.thread == (first % x, first // x % y, first // (x * y)), engine


@pytest.mark.parametrize("seed", range(300, 308))
def test_rows_agree_with_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One row or several, of all kernels whose threads cannot tell."""
    shapes = [(7, 5, 1), (10, 10, 1), (12, 3, 3), (18, 4, 1), (20, 2, 3), (33, 3, 3), (5, 8, 2), (48, 2, 1)]
    monkeypatch.setattr(kernels, "SHAPES", shapes)
    made = random_kernel(seed, size=14)
    want = _output(made, "reference")
    rows = int(seed % 2 == 0)
    monkeypatch.setattr(
        warp_fusion, "_cost", lambda _, shape, __: -shape.rows if rows else -(shape.rows == 1)
    )
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path))
    prepare.cache_clear()
    found = made.differences(_output(made, "kinds"), want)
    prepare.cache_clear()
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
