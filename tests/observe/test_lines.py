"""Counters by source line: they are the author's lines, and add up to the whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.records.profile import Profile

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
SHARED_LOADS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
SHARED_STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
PARTED = "smsp__sass_branch_targets_threads_divergent.sum"

SOURCE = """\
#include <cooperative_groups.h>
__device__ float doubled(const float *p) {
  return 2 * *p;  // inlined
}
extern "C" __global__ void k(const float *x, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = x[i];  // load, store
  cooperative_groups::this_thread_block().sync();
  float v = 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    v += s[4 * (t % 16) + k];  // merged
  if (t % 3 == 0)  // parts
    for (int k = 0; k < n; k++) out[i] = v += 1;  // loop
  v += doubled(x + i);
  out[i] = v;  // last
}
"""


def line_of(mark: str, text: str = SOURCE) -> int:
    return next(
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith(f"# {mark}") or line.endswith(f"// {mark}")
    )


def by_line(profile: Profile, name: str) -> dict[int, float]:
    return {one.line: one.counters[name] for one in profile.lines if name in one.counters}


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    file = tmp_path_factory.mktemp("lines") / "lines.cu"
    file.write_text(SOURCE)
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    found = wg.profile(wg.load(file, "k"), 4, 64, (x, out, np.int32(3)), caches=False)
    assert {Path(one.file).name for one in found.lines} == {"lines.cu"}  # nothing in headers
    return found


def test_accesses_land_on_the_authors_lines(profile: Profile):
    assert by_line(profile, LOADS) == {line_of("load, store"): 8, line_of("inlined"): 8}
    assert by_line(profile, STORES) == {line_of("loop"): 8, line_of("last"): 8}
    assert by_line(profile, SHARED_STORES) == {line_of("load, store"): 8}


def test_merged_accesses_stay_on_their_line(profile: Profile):
    (line,) = by_line(profile, SHARED_LOADS)
    assert line == line_of("merged")
    assert by_line(profile, SHARED_LOADS)[line] == profile.counters[SHARED_LOADS] == 32
    assert any("merged" in note and f"line {line}" in note for note in profile.notes)


def test_lines_add_up(profile: Profile):
    for name in (LOADS, STORES, SHARED_LOADS, SHARED_STORES):
        assert sum(by_line(profile, name).values()) == profile.counters[name]
    assert by_line(profile, PARTED).get(line_of("parts"), 0) == 8


def halved(x, out) -> None:
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]  # first
    cuda.syncthreads()
    if t < 16:
        out[cuda.blockIdx.x * 16 + t] = s[t] + s[t + 16]  # second


def test_python_lines_are_the_authors():
    first = halved.__code__.co_firstlineno
    x, out = np.ones(256, np.float32), np.zeros(64, np.float32)
    found = wg.profile(wg.from_numba(halved), 4, 64, (x, out), caches=False)
    assert {one.file for one in found.lines} == {__file__}
    assert by_line(found, LOADS) == {first + 4: 8}
    assert by_line(found, SHARED_STORES) == {first + 4: 8}
    assert by_line(found, STORES) == {first + 7: 4}
    assert by_line(found, SHARED_LOADS) == {first + 7: 8}
