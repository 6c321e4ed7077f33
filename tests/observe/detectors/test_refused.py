"""Accesses that a GPU refuses do not stop a check: all places are found, and races behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode

SOURCE = """
extern "C" __global__ void all_places(const float *x, float *y, float *z)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[127 - t];
    z[t] = 1;
}

extern "C" __global__ void by_atomics(float *x, float *y, float *z)
{
    atomicAdd(&x[threadIdx.x], 1.0f);
    y[threadIdx.x] = 1;
}

extern "C" __global__ void by_vectors(float4 *x, float4 *y, float *z)
{
    y[threadIdx.x] = x[threadIdx.x];
}

extern "C" __global__ void astray(const int *x, int *y, float *z)
{
    int to = x[threadIdx.x + 100];  // nobody knows where those go whose index was refused
    y[to] = threadIdx.x;
}

extern "C" __global__ void endless(const int *x, int *y, float *z)
{
    int i = 0;
    while (x[i] == 0) i++;
    y[threadIdx.x] = i;
}

extern "C" __global__ void unrolled(const float *x, float *y, float *z)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += x[threadIdx.x + 8 * i];
    y[threadIdx.x] = sum;
}

extern "C" __global__ void in_shared(const float *x, float *y, float *z)
{
    __shared__ float s[96];
    s[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = s[95 - threadIdx.x % 96];
}

extern "C" __global__ void freed(const float *x, float *y, float *z)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    char *own = static_cast<char *>(malloc(64));
    own[t % 64] = x[t];
    free(own + 4);
    free(own);
    if (x[t] == 0) free(own);
    free(z);
    s[t] = t;
    y[t] = s[127 - t];
}

extern "C" __global__ void freed_early(const float *x, float *y, float *z)
{
    char *own = static_cast<char *>(malloc(64));
    if (x[threadIdx.x] == 0) free(own);
    own[3] = 5;
    free(own);
}

extern "C" __global__ void in_local(const int *at, int *y, float *z)
{
    int words[8];
    double wide[2];
    char bytes[16];
    for (int i = 0; i < 16; i++) words[i % 8] = wide[i % 2] = bytes[i] = i;
    int own = at[threadIdx.x], same = at[128];
    words[same] = 3;
    int sum = words[same + 1] + bytes[own + 100];
    wide[own] += 1;
    y[threadIdx.x] = sum + words[own % 8] + wide[1];
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refused") / "refused.cu"
    path.write_text(SOURCE, "utf-8")
    return path


def told(source: Path, name: str, *args: np.ndarray, blocks: int = 1) -> list[tuple[object, ...]]:
    found = wg.check(wg.load(source, name), blocks, 128, args, timeout=20)
    return [
        (one.kind, one.array, one.index, one.thread and one.thread[0], one.count) for one in found.findings
    ]


def floats(size: int) -> np.ndarray:
    return np.zeros(size, np.float32)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_all_places_are_found_and_the_race_behind(source: Path, engine: str) -> None:
    with engine_mode(engine):
        found = told(source, "all_places", floats(100), floats(128), floats(90))
    assert sorted(found[:2], key=str) == [
        ("out-of-bounds", "x", 100, 100, 28),
        ("out-of-bounds", "z", 90, 90, 38),
    ]
    assert [one[:2] for one in found[2:]] == [("shared-race", "s")]


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_others_go_on(source: Path, engine: str) -> None:
    x, y = floats(100), floats(128)
    with engine_mode(engine):
        assert told(source, "by_atomics", x, y, floats(1)) == [("out-of-bounds", "x", 100, 100, 28)]
        assert (x == 1).all()
        assert (y == 1).all()
        assert told(source, "by_vectors", floats(400), floats(512), floats(1)) == [
            ("out-of-bounds", "x", 400, 100, 28)
        ]
        assert told(source, "in_shared", x, y, floats(1)) == [("out-of-bounds", "s", 96, 96, 32)]


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_local_arrays(source: Path, engine: str) -> None:
    """Lanes that stay inside go on, and all lines are told."""
    at, y = np.zeros(129, np.int32), np.zeros(128, np.int32)
    at[100:128], at[128] = 1000, 4000
    with engine_mode(engine):
        found = wg.check(wg.load(source, "in_local"), 1, 128, (at, y, floats(1)), timeout=20).findings
    lines = SOURCE.splitlines()
    assert {one.kind for one in found} == {"out-of-bounds"}
    assert sorted((lines[one.source.line - 1].strip(), one.count) for one in found if one.source) == [
        ("int sum = words[same + 1] + bytes[own + 100];", 256),
        ("wide[own] += 1;", 56),
        ("words[same] = 3;", 128),
    ]
    assert (y[:100] == 8 + 15).all()  # what was refused counts nothing


def test_what_frees_nothing(source: Path) -> None:
    """A check goes on behind it; memory that is freed too early is one defect."""
    check = wg.check(wg.load(source, "freed"), 1, 128, (floats(128), floats(128), floats(1)), timeout=20)
    kinds = [
        (one.kind, one.source and one.source.line - _line_of_kernel("freed"), one.count)
        for one in check.findings
    ]
    assert kinds == [
        ("out-of-bounds", 6, 128),
        ("use-after-free", 8, 128),
        ("out-of-bounds", 9, 128),
        ("shared-race", 10, 512),
    ]
    early = told(source, "freed_early", floats(128), floats(128), floats(1))
    assert [one[:2] + one[4:] for one in early] == [("use-after-free", "malloc", 128)]


def _line_of_kernel(name: str) -> int:
    return next(k for k, line in enumerate(SOURCE.splitlines(), 1) if f" {name}(" in line)


def test_what_a_thread_does_with_a_refused_value_is_no_race(source: Path) -> None:
    x, y = np.zeros(110, np.int32), np.arange(1, dtype=np.int32)
    x[100:] = 0
    ten = told(source, "astray", x, np.zeros(1, np.int32), floats(1))
    assert ten[0] == ("out-of-bounds", "x", 110, 10, 118)
    assert {one[0] for one in ten[1:]} <= {"warp-race"}  # of the ten that had an index
    x = np.arange(-100, 1, dtype=np.int32)
    assert told(source, "astray", x, y, floats(1)) == [("out-of-bounds", "x", 101, 1, 127)]


def test_unrolled_copies_are_one_place(source: Path) -> None:
    assert told(source, "unrolled", floats(128), floats(128), floats(1)) == [
        ("out-of-bounds", "x", 128, 88, 8 + 16 + 24 + 32 + 40 + 48 + 56)
    ]


def test_a_loop_that_leaves_its_array_ends(source: Path) -> None:
    (found,) = told(source, "endless", np.zeros(64, np.int32), np.zeros(128, np.int32), floats(1))
    assert found[:4] == ("out-of-bounds", "x", 64, 0)
