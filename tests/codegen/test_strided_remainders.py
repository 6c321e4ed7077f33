"""Unrolled loops by which threads stride along a row, joined with those of what that leaves over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import BlockShape
from warpglass.codegen.lane_loops.remainders import join_remainders
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# Each block has a row of its own; sums show the order of what is added.
SOURCE = """
#pragma nv_diag_suppress 177
#define EACH(name, ...) \\
extern "C" __global__ void name(const int* starts, const int* lengths, const T* x, const T* y, \\
                                T* z, T* sums) { \\
  int t = threadIdx.x, n = lengths[blockIdx.x]; \\
  const T *a = x + starts[blockIdx.x], *b = y + starts[blockIdx.x]; \\
  T *out = z + starts[blockIdx.x], sum = 1; \\
  __VA_ARGS__ \\
  sums[blockIdx.x * blockDim.x + t] = sum; \\
}
#define STRIDE for (int c = t; c < n; c += BLOCK)

EACH(loads, STRIDE sum = sum * 3 + a[c];)
EACH(several, STRIDE { sum += a[c] * b[c]; sum -= b[c] * 2; })
EACH(stores, STRIDE out[c] = a[c] * 2 - b[c];)
EACH(both, STRIDE { sum = sum * 3 + a[c]; out[c] = sum; })
EACH(in_place, STRIDE out[c] = out[c] * 3 + 1;)
EACH(lanes, for (int c = t & 31; c < n; c += 32) sum = sum * 3 + a[c];)
EACH(vectors, STRIDE {
  struct alignas(2 * sizeof(T)) Two { T one, other; };
  Two two = ((const Two*)x)[c];
  sum = sum * 3 + two.one * two.other;
})
EACH(by_the_block, _Pragma("unroll 4") for (int c = t; c < n; c += blockDim.x) sum = sum * 3 + a[c];)
EACH(by_the_grid, for (int c = blockIdx.x * BLOCK + t; c < n; c += gridDim.x * BLOCK) sum = sum * 3 + x[c];)
EACH(gathers, STRIDE sum = sum * 3 + a[(int)b[c] & 31];)
EACH(last, int at = -1; STRIDE { sum = sum * 3 + a[c]; at = c; } sum += at;)
EACH(one_place, STRIDE out[c & 3] = a[c];)
EACH(shifts, STRIDE out[c] = out[c + 1] + 1;)
"""
STRIDES = (32, 64, 96, 128)
JOINED = ("loads", "several", "stores", "both", "in_place", "lanes", "vectors")
# Compilers do not unroll by a stride that is no number; the others' lanes find what others have stored, or
# lie anywhere, or something else than sums comes out.
OTHERS = ("by_the_block", "by_the_grid", "gathers", "last", "one_place", "shifts")


def _compiled(name: str, stride: int, type_: str = "float") -> wg.Kernel:
    return wg.compile(f"typedef {type_} T;\n#define BLOCK {stride}\n{SOURCE}", name)


def _joined(kernel: wg.Kernel, block: int, promises: Promises) -> int:
    """How many pairs of loops are joined."""
    prepared, shape = prepare(kernel.compile()), BlockShape((block, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    found = join_remainders(version.program, shape, promises, prepared.symbols, version.inference)
    return len(found[3])


def _arguments(kind: type, stride: int, seed: int = 1) -> tuple[Any, ...]:
    """Rows of none to five rounds and a rest, in any order, from anywhere."""
    rng = np.random.default_rng(seed)
    rests = (0, 1, 5, stride // 2, stride - 1)
    lengths = rng.permutation([k * stride + rest for k in range(6) for rest in rests]).astype(np.int32)
    starts = (np.cumsum(lengths + 3) - lengths).astype(np.int32)
    elements = int(starts[-1] + lengths[-1]) + 9
    x, y, z = rng.integers(-3, 4, (3, elements)).astype(kind) / kind(3)
    return starts, lengths, x, y, z, np.full(len(lengths) * 160, -7, kind)


def _run(kernel: wg.Kernel, block: int, args: tuple[Any, ...], engine: str) -> tuple[bytes, bytes]:
    with engine_mode(engine):
        wg.run(kernel, len(args[0]), block, args, device="cpu")
    return args[4].tobytes(), args[5].tobytes()


@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("name", JOINED)
def test_strided_loops_are_joined(name: str, stride: int) -> None:
    assert _joined(_compiled(name, stride), stride, Promises((1024, 1, 1))) == 1


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_are_not(name: str) -> None:
    assert _joined(_compiled(name, 64), 64, Promises((1024, 1, 1))) == 0


def test_threads_that_all_go_round_as_often_keep_the_unrolled_loop() -> None:
    """What they access lies side by side in that one, too."""
    kernel = wg.compile(
        """
        extern "C" __global__ void rounds(const float* x, float* y, int n) {
          float sum = 0;
          for (int c = 0; c < n; c++) sum = sum * 3 + x[32 * c + threadIdx.x];
          y[threadIdx.x] = sum;
        }
        """,
        "rounds",
    )
    assert _joined(kernel, 32, Promises((1024, 1, 1))) == 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("name", [*JOINED, *OTHERS])
def test_results_are_those_of_the_reference(name: str, stride: int, kind: type) -> None:
    kernel = _compiled(name, stride, {np.float32: "float", np.float64: "double"}[kind])
    for block in (stride, stride - 7, stride + 32):  # the last warp may be partial, threads may share places
        if block > stride and name in ("in_place", "shifts"):
            continue
        found = [_run(kernel, block, _arguments(kind, stride), engine) for engine in CPU_ENGINES]
        assert found[0] == found[1]


@pytest.mark.parametrize("past", [1, 40])
@pytest.mark.parametrize("name", JOINED)
def test_faults_past_the_end_are_those_of_the_reference(name: str, past: int) -> None:
    kernel, stride = _compiled(name, 64), 64
    for length in (1, 63, 64, 200, 257, 320, 389):
        messages: list[str] = []
        for engine in CPU_ENGINES:
            row = np.ones(length, np.float32)
            args = (
                np.zeros(1, np.int32),
                np.array([length + past], np.int32),
                row,
                row,
                row,
                np.zeros(64, np.float32),
            )
            with pytest.raises(KernelFault) as caught:
                _run(kernel, stride, args, engine)
            messages.append(str(caught.value))
            lab.backend("cpu").reset()
        assert messages[0] == messages[1]
