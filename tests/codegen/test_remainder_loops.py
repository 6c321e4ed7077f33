"""Loops that were unrolled, joined with those of what that leaves over: which they are, and their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from warpglass import lab
from warpglass.codegen import BlockShape
from warpglass.codegen.lane_loops import remainders
from warpglass.codegen.lane_loops.remainders import join_remainders
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.errors import KernelFault
from warpglass.source.compiled import Compiled

# Thread i goes through from[i] to to[i], so lanes' loops are of all lengths, none included.
SOURCE = """
#define EACH(name, ...) \\
extern "C" __global__ void name(const int* from, const int* to, const int* columns, const T* values, \\
                                const T* x, T* y, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  if (i >= n) return; \\
  T sum = 0; \\
  __VA_ARGS__ \\
  y[i] = sum; \\
}
#define ROUNDS for (int k = from[i]; k < to[i]; k++)

EACH(row, ROUNDS sum += values[k] * x[columns[k]];)
EACH(block_row, ROUNDS {
  const T *v = values + 3 * k + i % 3, *part = x + 2 * columns[k];
  sum += v[0] * part[0] + v[1] * part[1];
})
EACH(long_row, ROUNDS {
  const T *v = values + 3 * k + i % 3, *part = x + 2 * columns[k];
  sum += v[0] * part[0] + v[1] * part[1] + v[1] * part[0] + v[0] * v[1] * part[1] * part[0];
})
EACH(by_twos, _Pragma("unroll 2") ROUNDS sum += values[k] * x[columns[k]];)
EACH(by_eights, _Pragma("unroll 8") ROUNDS sum += x[columns[k]];)
EACH(unsigned_row, for (unsigned k = from[i]; k < (unsigned)to[i]; k++) sum += values[k] * x[columns[k]];)
EACH(rolled, _Pragma("unroll 1") ROUNDS sum += values[k] * x[columns[k]];)
EACH(strided, for (int k = from[i] + i % 32; k < to[i]; k += 32) sum += values[k] * x[columns[k]];)
EACH(counted, int last = 0; ROUNDS { sum += x[columns[k]]; last = k; } sum += last;)
"""
BLOCK, N, ELEMENTS = 96, 250, 4000  # the last block is partial, and so is its last warp


@pytest.fixture(autouse=True)
def short_rounds_too(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Join loops of which unrolling saves much, too."""
    if "as_they_are" not in request.node.name:
        monkeypatch.setattr(remainders, "_KEPT", (0, 1))


@pytest.mark.parametrize(("name", "joined"), [("row", False), ("long_row", True)])
def test_which_loops_stay_as_they_are(name: str, joined: bool) -> None:
    """Those of a product with a sparse matrix do: unrolled, they count a fourth as often."""
    assert _joined(prepare(_compiled(name).compile())) == joined


def _joined(prepared: Prepared) -> int:
    """How many pairs of loops are joined."""
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    found = join_remainders(version.program, shape, promises, prepared.symbols, version.inference)
    assert found[1].regrouped == bool(found[3])
    return len(found[3])


def _compiled(name: str, type_: str = "float") -> wg.Kernel:
    return wg.compile(f"typedef {type_} T;\n{SOURCE}", name)


def _arguments(kind: type, longest: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(longest)
    starts = rng.integers(0, ELEMENTS // 4 - longest, N)
    ends = starts + rng.integers(-1, longest, N)
    columns = rng.integers(0, ELEMENTS // 3, ELEMENTS).astype(np.int32)
    values, x = (rng.random((2, ELEMENTS)) * 9).astype(kind)
    if kind is not np.int32:
        values[rng.random(ELEMENTS) < 0.01] = np.nan
    return (
        starts.astype(np.int32),
        ends.astype(np.int32),
        columns,
        values,
        x,
        np.full(N, -7, kind),
        np.int32(N),
    )


def _run(kernel: wg.Kernel, args: tuple[Any, ...], engine: str) -> Any:
    with engine_mode(engine):
        wg.run(kernel, -(-N // BLOCK), BLOCK, args, device="cpu")
    return args[5]


@pytest.mark.parametrize(
    ("name", "joined"),
    [
        ("row", True),
        ("block_row", True),
        ("by_twos", False),  # what is left over is no loop
        ("by_eights", True),
        ("unsigned_row", True),
        ("rolled", False),
        ("strided", False),  # lanes of a warp side by side go together, which is quicker by fours
        ("counted", False),  # something else than a sum comes out
    ],
)
def test_which_loops_are_joined(name: str, joined: bool) -> None:
    assert _joined(prepare(_compiled(name).compile())) == joined


@pytest.mark.parametrize("longest", [6, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", ["row", "block_row", "by_twos", "by_eights", "unsigned_row", "counted"])
def test_results_are_those_of_the_reference(name: str, kind: type, longest: int) -> None:
    type_ = {np.float32: "float", np.float64: "double", np.int32: "int"}[kind]
    reference, kinds = (_run(_compiled(name, type_), _arguments(kind, longest), one) for one in CPU_ENGINES)
    assert reference.tobytes() == kinds.tobytes()
    assert (reference != -7).any()


def test_the_first_fault_is_that_of_loops_one_by_one() -> None:
    """What is left over comes first: an early element of a longer row is in a later round."""
    messages: list[str] = []
    for engine in CPU_ENGINES:
        args = _arguments(np.float32, 40)
        starts, ends, columns = args[:3]
        starts[:], ends[:] = np.arange(N) * 10, np.arange(N) * 10 + 8  # nothing is left over
        ends[40] += 1
        columns[starts[35] + 1] = ELEMENTS  # a lower lane, sooner if lanes went element by element
        columns[starts[40]] = ELEMENTS + 1
        with pytest.raises(KernelFault) as caught:
            _run(_compiled("row"), args, engine)
        messages.append(str(caught.value))
        lab.backend("cpu").reset()
    assert messages[0] == messages[1]
    assert "thread (40, 0, 0)" in messages[0]


# What is left over, whether the second loop is entered and where it begins is not computed but loaded.
PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 left, .param .u64 more, .param .u64 shift,
                  .param .u64 values, .param .u64 out)
{
  .reg .pred %p<6>;
  .reg .b32 %r<20>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd3, [left];
  ld.param.u64 %rd4, [more];
  ld.param.u64 %rd5, [shift];
  ld.param.u64 %rd6, [values];
  ld.param.u64 %rd7, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd8, %r1, 4;
  add.s64 %rd1, %rd1, %rd8;
  add.s64 %rd2, %rd2, %rd8;
  add.s64 %rd3, %rd3, %rd8;
  add.s64 %rd4, %rd4, %rd8;
  add.s64 %rd5, %rd5, %rd8;
  add.s64 %rd7, %rd7, %rd8;
  ld.global.u32 %r2, [%rd1];
  ld.global.u32 %r3, [%rd2];
  ld.global.u32 %r4, [%rd3];
  ld.global.u32 %r5, [%rd4];
  ld.global.s32 %rd9, [%rd5];
  mov.f32 %f1, 0f00000000;
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra $between;
  mul.wide.s32 %rd10, %r2, 4;
  add.s64 %rd11, %rd6, %rd10;
$one:
  ld.global.f32 %f2, [%rd11];
  fma.rn.f32 %f1, %f1, %f2, %f2;
  add.s64 %rd11, %rd11, 4;
  add.s32 %r2, %r2, 1;
  add.s32 %r4, %r4, -1;
  setp.ne.s32 %p2, %r4, 0;
  @%p2 bra $one;
$between:
  setp.eq.s32 %p3, %r5, 0;
  @%p3 bra $end;
  mul.wide.s32 %rd12, %r2, 4;
  add.s64 %rd13, %rd6, %rd12;
  add.s64 %rd14, %rd13, %rd9;
$two:
  ld.global.f32 %f3, [%rd14];
  fma.rn.f32 %f4, %f1, %f3, %f3;
  ld.global.f32 %f5, [%rd14+4];
  fma.rn.f32 %f1, %f4, %f5, %f5;
  add.s64 %rd14, %rd14, 8;
  add.s32 %r2, %r2, 2;
  setp.lt.s32 %p4, %r2, %r3;
  @%p4 bra $two;
$end:
  st.global.f32 [%rd7], %f1;
  ret;
}
"""


def _strided(ptx: str) -> str:
    """The same with threads side by side, each of which goes on by 32 elements."""
    for old, new in (
        ("ld.global.u32 %r2, [%rd1];", "mov.u32 %r2, %r1;"),
        ("add.s64 %rd11, %rd11, 4;", "add.s64 %rd11, %rd11, 128;"),
        ("add.s32 %r2, %r2, 1;", "add.s32 %r2, %r2, 32;"),
        ("[%rd14+4]", "[%rd14+128]"),
        ("add.s64 %rd14, %rd14, 8;", "add.s64 %rd14, %rd14, 256;"),
        ("add.s32 %r2, %r2, 2;", "add.s32 %r2, %r2, 64;"),
    ):
        assert ptx.count(old) == 1
        ptx = ptx.replace(old, new)
    return ptx


@pytest.mark.parametrize("stride", [1, 32])
@pytest.mark.parametrize("odd", [0, 0.2, 1])
def test_lanes_for_which_both_loops_do_something_else(odd: float, stride: int) -> None:
    """They find their way as before, whatever is left over and wherever the second loop begins."""
    ptx = PTX if stride == 1 else _strided(PTX)
    assert _joined(Prepared(Compiled(ptx, "k", "k", "cuda"))) == 1
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        rng = np.random.default_rng(7)
        starts = rng.integers(100, 200, BLOCK) if stride == 1 else np.arange(BLOCK)
        rounds = rng.integers(1, 20, BLOCK)
        ends = starts + stride * rounds - rng.integers(0, stride, BLOCK)
        left, more, shift = rounds % 2, rounds > 1, np.zeros(BLOCK, int)
        kinds = np.where(rng.random(BLOCK) < odd, rng.integers(1, 6, BLOCK), 0)
        left[kinds == 1] += 2
        left[kinds == 2] ^= 1
        more[kinds == 3] ^= True
        shift[kinds == 4] = 4
        ends[kinds == 5] = starts[kinds == 5] - 3 * stride
        out = np.zeros(BLOCK, np.float32)
        given = [one.astype(np.int32) for one in (starts, ends, left, more, shift)]
        run_ptx(ptx, 1, BLOCK, [*given, rng.random(1000, np.float32), out], engine=engine)
        results.append(out)
    assert results[0].tobytes() == results[1].tobytes()
    assert (results[0] != 0).any()
