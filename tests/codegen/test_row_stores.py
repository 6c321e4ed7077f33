"""Loops in which each lane stores along its own row: which are kept; results are the reference's."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.fuzz import row_programs
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.machine.target import masks_bytes
from warpglass.codegen.memory.row_stores import RowStores, find_row_stores
from warpglass.codegen.memory.tiles import find_tiles
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.version import Version
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# Rows of W elements; thread r has row r.
SOURCE = """
#define ROW const int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= n) return;
extern "C" __global__ void scan(const T* a, T* o, int n) {
  ROW
  T sum = 0;
  for (int k = 0; k < W; ++k) { sum = sum * 3 + a[r * W + k]; o[r * W + k] = sum; }
}
extern "C" __global__ void window(const T* a, T* o, int n) {
  ROW
  T sum = 0;
  for (int k = 0; k < W; ++k) {
    o[r * W + k] = sum;
    sum += a[r * W + min(k + 5, W - 1)] - a[r * W + max(k - 4, 0)];
  }
}
extern "C" __global__ void in_place(const T* a, T* o, int n) {
  ROW
  for (int k = 1; k < W; ++k) o[r * W + k] += o[r * W + k - 1];
}
extern "C" __global__ void two(const T* a, T* o, int n) {
  ROW
  for (int k = 0; k < W / 2; ++k) { o[r * W + k] = a[k]; o[r * W + W / 2 + k] = a[k + 1]; }
}
extern "C" __global__ void until(const T* a, T* o, int n) {
  ROW
  for (int k = 0; k < W && a[r * W + k] < 90; ++k) o[r * W + k] = k;
}
extern "C" __global__ void columns(const T* a, T* o, int n) {
  ROW
  for (int k = 0; k < W; ++k) o[k * n + r] = a[k];
}
"""
ROWS, BLOCK = 128, 64


def _compiled(name: str, type_: str = "float", width: int = 100) -> wg.Kernel:
    return wg.compile(f"typedef {type_} T;\n#define W {width}\n{SOURCE}", name)


def _version(name: str, type_: str = "float", width: int = 100, block: int = BLOCK) -> Version:
    prepared = prepare(_compiled(name, type_, width).compile())
    return with_kinds(prepared.program, BlockShape((block, 1, 1)), prepared.symbols, Promises((1, 1, 1)))


def _rows(name: str, type_: str = "float", width: int = 100) -> RowStores:
    version = _version(name, type_, width)
    return find_row_stores(version.program, version.shape, version.inference, (), ())


def test_which_stores_are_kept() -> None:
    assert (_rows("scan").unit, len(_rows("scan").steps)) == (4, 4)
    assert _rows("scan", "double").unit == 8
    assert _rows("window").loads
    assert _rows("scan", "unsigned char").narrow == masks_bytes()
    assert not _rows("scan", "float", 8).unit  # rows that 64 bytes would reach beyond
    for name in ("in_place", "two", "until", "columns"):
        assert not _rows(name).unit, name


def test_loads_of_an_unrolled_window_share_tiles() -> None:
    version = _version("window")
    tiles = find_tiles(version.program, version.inference.kinds, (), {}).tiles
    assert sorted(len(tile.steps) for tile in tiles)[-2:] == [4, 4]


def _run(name: str, type_: str, width: int, engine: str, *, shift: int | None = None, missing: int = 0):
    """What is left of both arrays, which may be parts of one, and what was said of a fault."""
    made = {"float": np.float32, "double": np.float64, "int": np.int32, "short": np.int16}[type_]
    pool = np.random.default_rng(7).integers(0, 100, 2 * ROWS * width).astype(made)
    a = pool[: ROWS * width]
    o = np.zeros(ROWS * width - missing, made) if shift is None else pool[shift : shift + ROWS * width]
    said = ""
    with engine_mode(engine):
        prepare.cache_clear()
        try:
            wg.run(_compiled(name, type_, width), 2, BLOCK, (a, o, np.int32(ROWS - 3)), device="cpu")
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return pool.tobytes(), o.tobytes(), said


@pytest.mark.parametrize("width", [17, 64, 103])
@pytest.mark.parametrize("type_", ["float", "double", "int", "short"])
@pytest.mark.parametrize("name", ["scan", "window", "until"])
def test_results_are_the_references(name: str, type_: str, width: int) -> None:
    reference, fast = (_run(name, type_, width, engine) for engine in CPU_ENGINES)
    assert reference == fast


@pytest.mark.parametrize("shift", [0, 1, 64, 100])
@pytest.mark.parametrize("name", ["scan", "window"])
def test_what_is_kept_is_seen_where_arrays_overlap(name: str, shift: int) -> None:
    reference, fast = (_run(name, "int", 100, engine, shift=shift) for engine in CPU_ENGINES)
    assert reference == fast


@pytest.mark.parametrize("missing", [301, 350, 401])
def test_what_was_stored_before_a_fault(missing: int) -> None:
    reference, fast = (_run("scan", "int", 100, engine, missing=missing) for engine in CPU_ENGINES)
    assert reference[2]
    assert reference == fast


# In two of these, registers of a loop are computed from each other in turns.
@pytest.mark.parametrize("number", [*range(16), 11400259, 12400449])
def test_random_rows(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", "optimised" if number % 3 == 0 else "quick")
    monkeypatch.setenv("WARPGLASS_THREADS", "1")  # blocks may store along each other's rows
    assert row_programs.attempt(number) in ("agree", "fault")
