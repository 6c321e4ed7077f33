"""Undefined reads, marked arrays, and what the engine stops a kernel for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import warpglass as wg
from tests.engines import CPU_ENGINES
from warpglass.cli import app

from .twins import Twins, floats, integers

TWINS = {
    "halo_left_out": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[66];
  int t = threadIdx.x;
  s[t + 1] = x[t];
  @
  __syncthreads();
  x[t] = s[t] + s[t + 2];  // BUG: uninitialised-read
}""",
        floats(64),
        "if (t == 0) { s[0] = 0; s[65] = 0; }",
    ),
    "bins_not_cleared": Twins(
        """
extern "C" __global__ void k(int* bins) {
  __shared__ int h[8];
  @
  atomicAdd(&h[threadIdx.x % 8], 1);  // BUG: uninitialised-read
  __syncthreads();
  if (threadIdx.x < 8) bins[threadIdx.x] = h[threadIdx.x];
}""",
        integers(8),
        "if (threadIdx.x < 8) h[threadIdx.x] = 0; __syncthreads();",
    ),
    "local_array": Twins(
        """
extern "C" __global__ void k(int* x) {
  int a[8];
  for (int i = @; i < 8; i++) a[(x[i] + i) % 8] = i;
  x[threadIdx.x + 8] = a[x[threadIdx.x % 8] % 8];  // BUG: uninitialised-read
}""",
        integers(72),
        "0",
        hole="1",
    ),
    "output_read_first": Twins(
        """
extern "C" __global__ void k(const float* x, float* y) {
  y[threadIdx.x] @ x[threadIdx.x];  // BUG: uninitialised-read
}""",
        lambda: (np.ones(64, np.float32), wg.out(np.zeros(64, np.float32))),
        "=",
        hole="+=",
    ),
    "past_the_end": Twins(
        """
extern "C" __global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < @) x[i] = 1;  // BUG: out-of-bounds
}""",
        lambda: (np.zeros(100, np.float32), 100),
        "n",
        hole="128",
        grid=2,
    ),
    "shared_past_its_end": Twins(
        """
extern "C" __global__ void k(float* x) {
  extern __shared__ float s[];
  s[threadIdx.x@] = x[threadIdx.x];  // BUG: out-of-bounds
  x[threadIdx.x] = s[threadIdx.x@];
}""",
        floats(64),
        "",
        hole=" + 1",
        shared=256,
    ),
    "misaligned": Twins(
        """
extern "C" __global__ void k(float* x) {
  float2 v = *(float2*)(x + @);  // BUG: misaligned
  x[0] = v.x + v.y;
}""",
        floats(64),
        "2",
        hole="1",
        block=1,
    ),
    "trap": Twins(
        """
extern "C" __global__ void k(int* x) {
  if (x[0] == @) __trap();  // BUG: trap
}""",
        integers(4),
        "1",
        hole="0",
    ),
    "used_after_free": Twins(
        """
extern "C" __global__ void k(int* x) {
  int* p = (int*)malloc(16);
  p[1] = 3;
  @
  x[0] = p[1];  // BUG: use-after-free
  free(p);
}""",
        integers(4),
        "",
        hole="free(p); if (x[1]) p = x;",
        block=1,
    ),
}

CLEAN = {
    "struct_with_padding": """
struct S { char c; double d; };
extern "C" __global__ void k(float* x) {
  __shared__ S a[64], b[64];
  int t = threadIdx.x;
  a[t].c = t; a[t].d = t;
  __syncthreads();
  b[t] = a[63 - t];
  __syncthreads();
  x[t] = b[t].d + b[t].c;
}""",
    "part_of_a_vector": """
extern "C" __global__ void k(float* x) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  s[t].x = x[t]; s[t].y = 1;
  __syncthreads();
  float4 v = s[63 - t];
  x[t] = v.x + v.y;
}""",
}


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_bug_is_found_and_its_twin_is_clean(name: str, engine: str) -> None:
    TWINS[name].verify(engine)


@pytest.mark.parametrize("name", CLEAN)
def test_padding_is_no_undefined_read(name: str) -> None:
    assert wg.check(wg.compile(CLEAN[name], "k"), 1, 64, floats(64)()).findings == ()


COPY = """
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""


def test_elements_that_no_thread_touches() -> None:
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel = wg.compile(COPY, "k")
    args = (wg.all_of(x), wg.out(y), 100)
    assert wg.check(kernel, 4, 32, args).findings == ()
    found = wg.check(kernel, 3, 32, args).findings
    told = [(one.kind, one.array, one.index, one.count) for one in found]
    assert told == [("unwritten-output", "y", 96, 4)]  # and x, which is not told: the cause is one
    found = wg.check(kernel, 3, 32, (wg.all_of(x), y, 100)).findings
    told = [(one.kind, one.array, one.index, one.count) for one in found]
    assert told == [("unread-input", "x", 96, 4)]


def test_a_marked_view_counts_its_own_elements() -> None:
    memory = np.zeros((8, 10), np.float32)
    view = memory[2:4]
    kernel = wg.compile('extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1; }', "k")
    (found,) = wg.check(kernel, 1, 12, (wg.out(view),)).findings
    assert (found.kind, found.index, found.count) == ("unwritten-output", 12, 8)


def test_markers_are_the_arrays_elsewhere() -> None:
    y = np.zeros(4, np.float32)
    kernel = wg.compile(COPY, "k")
    wg.run(kernel, 1, 4, (wg.all_of(np.ones(4, np.float32)), wg.out(y), 4), device="cpu")
    assert y.tolist() == [1, 1, 1, 1]


def test_results_are_left_and_the_device_stays_usable_after_a_fault() -> None:
    kernel = wg.compile('extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }', "k")
    assert [one.kind for one in wg.check(kernel, 1, 64, (np.zeros(8, np.float32),)).findings] == [
        "out-of-bounds"
    ]
    x = np.zeros(64, np.float32)
    assert wg.check(kernel, 1, 64, (x,)).findings == ()
    assert x.sum() == 64


def test_a_kernel_that_never_ends_is_a_timeout() -> None:
    text = 'extern "C" __global__ void k(volatile int* x) { while (x[0] == 0); }'
    (found,) = wg.check(wg.compile(text, "k"), 1, 1, (np.zeros(1, np.int32),), timeout=0.5).findings
    assert found.kind == "timeout"


def test_waiting_for_each_other_is_a_deadlock() -> None:
    text = """
extern "C" __global__ void k(int* x) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;");
}"""
    (found,) = wg.check(wg.compile(text, "k"), 1, 64, (np.zeros(1, np.int32),)).findings
    assert found.kind == "deadlock"


def test_bad_arguments_raise() -> None:
    kernel = wg.compile(COPY, "k")
    with pytest.raises(wg.ArgumentError):
        wg.check(kernel, 1, 32, (np.ones(4, np.float32),))
    with pytest.raises(wg.ArgumentError, match="device"):
        wg.check(kernel, 1, 32, (np.ones(4, np.float32),) * 2 + (4,), device="gpu")


def test_command_line(tmp_path: Path) -> None:
    file = tmp_path / "copy.cu"
    file.write_text(COPY, encoding="utf-8")
    command = ["check", f"{file}:k", "--block", "32", "--arg", "f4[100]:rand", "--arg", "out:f4[100]"]
    command += ["--arg", "i4=100", "--grid"]
    clean = CliRunner().invoke(app, [*command, "4"])
    assert clean.exit_code == 0, clean.output
    assert "Nothing found" in clean.output
    found = CliRunner().invoke(app, [*command, "3"])
    assert found.exit_code == 1
    assert "unwritten-output" in found.output
    data = json.loads(CliRunner().invoke(app, [*command, "3", "--json"]).output)
    assert [one["kind"] for one in data["findings"]] == ["unwritten-output"]
    assert data["findings"][0]["index"] == 96
