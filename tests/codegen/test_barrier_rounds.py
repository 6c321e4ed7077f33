"""Loops with barriers that are written out: which are, what is known then, and that nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.fuzz import block_programs
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.version import Version
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault, KernelTimeout
from warpglass.program.blocks import loops_of

BLOCK = 128
TREE = "for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }"
TRIPS = "for (int d = 0; d < n; d++) { s[t] += 1; __syncthreads(); }"
NESTED = """for (int k = 2; k <= 32; k *= 2)
  #pragma unroll 1
  for (int j = k / 2; j > 0; j /= 2) {
    float v = s[t ^ j]; __syncthreads(); s[t] = v + k; __syncthreads();
  }"""
BUSY = """for (int d = 1; d < 8; d *= 2) {
  #pragma unroll 1
  for (int j = 0; j < d; j++) x += s[(t + j) % 128];
  __syncthreads(); s[t] = x; __syncthreads(); }"""
STRIDED = """for (int d = 64; d > 0; d /= 2) {
  for (int j = t; j < d; j += 128) s[j] += s[j + d];
  __syncthreads(); }"""
LOADED = "for (int d = a[0]; d < 4; d++) { s[t] += d; __syncthreads(); }"
PARTED = "for (int d = t & 1; d < 4; d++) { s[t] += d; __syncthreads(); }"
LAST = "for (d = 1; d < 100; d *= 3) { s[t] += d; __syncthreads(); } x = d;"


def _text(loop: str) -> str:
    return f"""extern "C" __global__ void k(float *a, int n) {{
      __shared__ float s[{BLOCK}];
      int t = threadIdx.x, d = 0;
      float x = 0;
      s[t] = a[t];
      __syncthreads();
      #pragma unroll 1
      {loop}
      a[t] = s[t] + x + d;
    }}"""


def _version(loop: str, n: int = 5) -> Version:
    prepared = prepare(wg.compile(_text(loop), "k").compile())
    promises = Promises((1, 1, 1), {8: n}, exact=True)
    return with_kinds(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, promises)


def _run(text: str, engine: str, array: np.ndarray, n: int) -> str:
    """Run a kernel twice, so that it has code for its integers; returns what its fault says."""
    with engine_mode(engine), tiers.only(tiers.OPTIMISED):
        prepare.cache_clear()
        kernel = wg.compile(text, "k")
        try:
            for _ in range(2):
                wg.run(kernel, 1, BLOCK, (array, np.int32(n)), device="cpu")
        except KernelFault as fault:
            wg.reset("cpu")
            return str(fault)
    return ""


@pytest.mark.parametrize(
    ("loop", "n", "known"),
    [
        (TREE, 0, True),
        (NESTED, 0, True),
        (LAST, 0, True),
        (STRIDED, 0, True),  # no thread goes round the loop inside
        (TRIPS, 5, True),
        (TRIPS, 100, False),  # rounds are too many
        (BUSY, 0, False),  # most of a round's work is in a loop of its own
        (LOADED, 0, False),
        (PARTED, 0, False),
    ],
)
def test_known_rounds_are_written_out(loop: str, n: int, known: bool) -> None:
    program = _version(loop, n).program
    assert bool(program.copied) == known
    assert (not loops_of(program.blocks)) == known


def test_strides_are_constants() -> None:
    version = _version(TREE)
    steps = [step for block in version.program.blocks for step in block.steps]
    strides = [step.writes[0] for step in steps if step.instruction.opcode in ("shr", "shr.u32")]
    constants = [version.inference.kinds[name].constant for name in strides]
    assert len(constants) >= 6
    assert None not in constants


@pytest.mark.parametrize("loop", [TREE, TRIPS, NESTED, LAST, STRIDED])
def test_results_stay(loop: str) -> None:
    found: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        array = np.arange(BLOCK, dtype=np.float32)
        assert _run(_text(loop), engine, array, 5) == ""
        found.append(array)
    assert np.array_equal(found[0], found[1])


def test_faults_are_those_of_the_program() -> None:
    """A copy's fault is told with the line of what it was copied from."""
    text = _text("for (int d = 64; d > 0; d /= 2) {\n s[t] += a[t + (d == 4) * 7];\n __syncthreads(); }")
    found = [_run(text, engine, np.zeros(BLOCK, np.float32), 0) for engine in CPU_ENGINES]
    assert found[0] == found[1]
    assert "read of a[128]" in found[0]


@pytest.mark.parametrize("number", range(20))
def test_random_blocks_agree(number: int) -> None:
    assert block_programs.attempt(number) in ("agree", "fault")


def test_a_loop_behind_written_out_rounds_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of code that has other blocks than the program."""
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")
    source = """
    extern "C" __global__ void stuck(int *x, int n) {
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = x[t];
      for (int d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
      }
      __syncthreads();
      while (((volatile int *)x)[64] != n) {}
      x[t] = s[0];
    }
    """
    stuck = wg.compile(source, "stuck", language="cuda")
    x = np.ones(65, np.int32)
    for _ in range(3):
        wg.run(stuck, 1, 64, (x, np.int32(1)), device="cpu")
    x[64] = 2
    with pytest.raises(KernelTimeout) as caught:
        wg.run(stuck, 1, 64, (x, np.int32(1)), device="cpu", timeout=0.5)
    wg.reset("cpu")
    assert caught.value.place is not None
    assert caught.value.place.line == 11
