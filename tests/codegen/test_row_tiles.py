"""Loops in which each lane walks along its own row: which have tiles; results are the reference's."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.machine import jit
from warpglass.codegen.memory.tile_loads import SIDE_BY_SIDE, fill_helper
from warpglass.codegen.memory.tiles import Tiles, find_tiles
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# Rows of K elements of type T; thread r has row r. U is the type of results.
SOURCE = """
#define ROW const int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= n) return;
extern "C" __global__ void dot(const T* a, const T* b, U* out, int n) {
  ROW
  U sum = 0;
  for (int k = 0; k < K; ++k) sum = sum * 3 + (U)a[r * K + k] * (U)b[k];
  out[r] = sum;
}
extern "C" __global__ void rolled(const T* a, const T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 1
  for (int k = 0; k < K; ++k) sum = sum * 3 + (U)a[r * K + k];
  out[r] = sum;
}
extern "C" __global__ void twice(T* a, const T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    #pragma unroll 4
    for (int k = 0; k < K; ++k) sum = sum * 5 + (U)a[r * K + k];
    a[(r ^ 1) * K + 1] = (T)sum;
  }
  out[r] = sum;
}
extern "C" __global__ void in_place(T* a, const T* b, U* out, int n) {
  ROW
  #pragma unroll 4
  for (int k = 0; k < K; ++k) a[r * K + k] += a[(r ^ 1) * K + (k ^ 1)];
  out[r] = (U)a[r * K];
}
extern "C" __global__ void scan(const T* a, T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 4
  for (int k = 0; k < K; ++k) { sum = sum * 3 + (U)a[r * K + k]; b[r * K + k] = (T)sum; }
  out[r] = sum;
}
extern "C" __global__ void neighbours(const T* a, T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 1
  for (int k = 0; k < K - 3; ++k) { sum = sum * 3 + (U)a[r * K + k]; b[(r ^ 1) * K + k + 3] = (T)(sum + 1); }
  out[r] = sum;
}
extern "C" __global__ void anywhere(const T* a, T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 1
  for (int k = 0; k < K - 3; ++k) {
    sum = sum * 3 + (U)a[r * K + k];
    b[(r ^ (r * 7 % 5)) % 96 * K + k + 3] = (T)(sum + r);
  }
  out[r] = sum;
}
extern "C" __global__ void until(const T* a, const T* b, U* out, int n) {
  ROW
  int k = 0;
  #pragma unroll 1
  while (k < K && a[r * K + k] != b[r & 3]) ++k;
  out[r] = (U)k;
}
extern "C" __global__ void window(const T* a, const T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 1
  for (int k = 1; k < K - 1; ++k) {
    const T* x = a + r * K + k;
    sum = sum * 3 + (U)x[-1] + (U)x[0] * 2 + (U)x[1] * 5;
  }
  out[r] = sum;
}
extern "C" __global__ void again(const T* a, const T* b, U* out, int n) {
  ROW
  U kept[8], sum = 0;
  #pragma unroll 1
  for (int round = 0; round < 6; ++round) {
    kept[(round + r) & 7] = sum;
    #pragma unroll 4
    for (int k = 0; k < K; ++k) sum = sum * 5 + (U)a[r * K + k];
    sum += kept[(round * r) % (round + 1) + r & 7];
  }
  out[r] = sum;
}
extern "C" __global__ void columns(const T* a, const T* b, U* out, int n) {
  ROW
  U sum = 0;
  #pragma unroll 4
  for (int k = 0; k < K; ++k) sum = sum * 3 + (U)a[k * 96 + r];
  out[r] = sum;
}
"""
TYPES = {
    "char": ("int", np.int8, np.int32),
    "unsigned short": ("unsigned", np.uint16, np.uint32),
    "int": ("int", np.int32, np.int32),
    "float": ("float", np.float32, np.float32),
    "long long": ("long long", np.int64, np.int64),
    "double": ("double", np.float64, np.float64),
}
ROWS, BLOCK = 96, 96


def _compiled(name: str, type_: str, length: int):
    defines = f"#define T {type_}\n#define U {TYPES[type_][0]}\n#define K {length}\n"
    return wg.compile(defines + SOURCE, name)


def _tiles(name: str, type_: str = "float", length: int = 100) -> Tiles:
    prepared = prepare(_compiled(name, type_, length).compile())
    version = with_kinds(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, Promises((1, 1, 1)))
    return find_tiles(version.program, version.inference.kinds, (), {})


def _run(
    name: str, type_: str, length: int, engine: str, rows: int = ROWS, missing: int = 0, block: int = BLOCK
):
    _, given, made = TYPES[type_]
    rng = np.random.default_rng(7)
    a = rng.integers(0, 100, ROWS * length).astype(given)[: ROWS * length - missing].copy()
    b, out = rng.integers(0, 100, length).astype(given), np.zeros(ROWS, made)
    with engine_mode(engine):
        prepare.cache_clear()
        args = a, b, out, np.int32(rows)
        wg.run(_compiled(name, type_, length), ROWS // block, block, args, device="cpu")
    return a, out


@pytest.mark.parametrize("length", [20, 64, 102])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("name", ["dot", "rolled", "twice", "in_place", "until", "window", "again"])
def test_results_are_the_references(name: str, type_: str, length: int) -> None:
    for rows in (ROWS, 70):
        want, found = (_run(name, type_, length, engine, rows) for engine in CPU_ENGINES)
        for expected, result in zip(want, found, strict=True):
            assert expected.tobytes() == result.tobytes()


@pytest.mark.parametrize("block", [6, 8, 16])
@pytest.mark.parametrize("type_", TYPES)
def test_blocks_of_few_threads(type_: str, block: int) -> None:
    """Fewer lanes run together than a row of a tile has elements."""
    want, found = (_run("dot", type_, 20, engine, block=block) for engine in CPU_ENGINES)
    assert want[1].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("name", ["scan", "neighbours", "anywhere"])
def test_stores_are_seen_where_both_parameters_are_one_array(name: str, type_: str, *, same: bool) -> None:
    results: list[bytes] = []
    for engine in CPU_ENGINES:
        _, given, made = TYPES[type_]
        a = np.random.default_rng(7).integers(0, 100, ROWS * 40).astype(given)
        b, out = a if same else np.zeros_like(a), np.zeros(ROWS, made)
        with engine_mode(engine):
            prepare.cache_clear()
            wg.run(_compiled(name, type_, 40), 1, BLOCK, (a, b, out, np.int32(ROWS)), device="cpu")
        results.append(b.tobytes() + out.tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("type_", ["char", "float"])
@pytest.mark.parametrize("missing", [1, 9])
def test_the_thread_whose_row_ends_too_soon(type_: str, missing: int) -> None:
    said: list[str] = []
    for engine in CPU_ENGINES:
        with pytest.raises(KernelFault) as caught:
            _run("dot", type_, 64, engine, missing=missing)
        said.append(str(caught.value))
        wg.reset("cpu")
    assert said[0] == said[1]


def test_which_loops_have_tiles() -> None:
    for name in ("dot", "rolled", "twice", "window", "scan", "neighbours", "anywhere"):
        assert len(_tiles(name).tiles) == 1, name
    assert not _tiles("in_place").tiles  # lanes may change what others load
    assert not _tiles("rolled", "float", 3).tiles  # rows are side by side
    assert {tile.unit for tile in _tiles("dot", "char").tiles} == {4}
    assert {tile.unit for tile in _tiles("dot", "double").tiles} == {8}


def test_memory_that_changes_empties_tiles() -> None:
    assert all(
        len(_tiles(name).stores) == count for name, count in (("dot", 0), ("scan", 4), ("anywhere", 1))
    )
    assert not _tiles("columns").tiles
    twice = _tiles("twice")
    prepared = prepare(_compiled("twice", "float", 100).compile())
    storing = {
        index
        for index, block in enumerate(prepared.program.blocks)
        for step in block.steps
        if step.match.row.access == "store"
    }
    assert storing <= twice.emptied


def test_local_memory_empties_none() -> None:
    again = _tiles("again")
    prepared = prepare(_compiled("again", "float", 100).compile())
    kept = {
        index
        for index, block in enumerate(prepared.program.blocks)
        if any(step.match.state_space == "local" for step in block.steps)
    }
    assert len(again.tiles) == 1
    assert kept
    assert kept.isdisjoint(again.emptied)


@pytest.mark.parametrize("unit", [4, 8])
@pytest.mark.parametrize("width", [8, 16, 32])
def test_filling_reaches_no_further_than_the_tile(width: int, unit: int) -> None:
    """Where fewer lanes run together than a row has elements, too."""
    size = 64 * width
    rows = np.random.default_rng(width).integers(0, 256, 2 * size).astype(np.uint8)
    places = np.arange(2 * width) * 64
    room = np.full(2 * size + 64, 7, np.uint8)
    tile = room[-room.ctypes.data % 64 :][: 2 * size]
    declared = set[str]()
    helper = "\n".join([fill_helper(unit, declared, width), *declared])
    table = f"@{SIDE_BY_SIDE} = internal constant [{width} x i64] zeroinitializer\n"
    loads = "\n".join(
        f"  %{name}.at = getelementptr ptr, ptr %words, i64 {k}\n  %{name} = load ptr, ptr %{name}.at"
        for k, name in enumerate(("host", "places", "tile"))
    )
    call = f"  call void @wg_fill_tile_{unit}(ptr %host, ptr %places, ptr %tile)"
    function = f"define i64 @run(ptr %words) #0 {{\n{loads}\n{call}\n  ret i64 0\n}}\n"
    words = np.array([array.ctypes.data for array in (rows, places, tile)])
    code = jit.load_object(jit.compile_ir(table + helper + function))
    code.run(words.ctypes.data)
    by_columns = rows[:size].reshape(width, 64 // unit, unit).transpose(1, 0, 2)
    assert tile[:size].tobytes() == by_columns.tobytes()
    assert (tile[size:] == 7).all()
