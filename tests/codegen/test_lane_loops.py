"""Loops that lanes run one after the other: which they are, their results, faults, time-outs and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from warpglass import lab
from warpglass.codegen import BlockShape
from warpglass.codegen.lane_loops.choose import ChosenLoop, choose_lane_loops
from warpglass.codegen.lane_loops.costs import find_costs
from warpglass.codegen.lane_loops.find import find_lane_loops
from warpglass.codegen.lane_loops.rounds import find_rounds
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.errors import KernelFault, KernelTimeout
from warpglass.source.compiled import Compiled

# Thread i goes through from[i] to to[i], so lanes' loops are of all lengths, none included.
SOURCE = """
#define EACH(name, ...) \\
extern "C" __global__ void name(const int* from, const int* to, __VA_ARGS__, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  if (i >= n) return;
#define ROUNDS for (int k = from[i]; k < to[i]; k++)

EACH(spmv, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS sum += values[k] * x[columns[k]];
  y[i] = sum;
}
EACH(rolled, const int* columns, const double* values, const double* x, double* y)
  double sum = 0;
  #pragma unroll 1
  ROUNDS sum += values[k] * x[columns[k]] / (1 + sum);
  y[i] = sum;
}
EACH(both, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS { int c = columns[k]; sum += x[c] * values[c + 1]; }
  y[i] = sum;
}
EACH(either, const int* columns, const float* values, const float* x, float* y)
  float sum = 0; int last = -1; bool seen = false;
  ROUNDS {
    int c = columns[k];
    if (values[k] > 0.5f) { sum -= x[c]; last = k; }
    else { sum = fmaxf(sum * x[c], values[k]); seen = !seen; }
  }
  y[i] = sum + last + (seen ? 0.25f : 0);
}
EACH(leaving, const int* columns, const float* values, const float* x, float* y)
  float found = -1;
  ROUNDS {
    float v = x[columns[k]];
    if (v < 0.1f) { found = values[k]; break; }
    if (v > 0.9f) return;
  }
  y[i] = found;
}
EACH(wide, const int* columns, const float4* values, const unsigned char* x, float* y)
  float4 sum = make_float4(0, 0, 0, 0);
  ROUNDS {
    float4 v = values[k];
    float by = x[columns[k] % 97];
    sum.x += v.x * by; sum.y += v.y - by; sum.z = fminf(sum.z, v.z); sum.w += v.w;
  }
  y[i] = sum.x + sum.y + sum.z + sum.w;
}
EACH(shared_memory, const int* columns, const float* values, const float* x, float* y)
  __shared__ float tile[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x) tile[k] = x[k];
  __syncthreads();
  float sum = 0;
  ROUNDS sum += values[k] * tile[columns[k] & 63];
  y[i] = sum;
}
__constant__ float squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
__device__ double halves[32] = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
EACH(tables, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS sum += squares[columns[k] & 15] * values[k] - (float)halves[columns[k] & 31];
  y[i] = sum;
}
EACH(bytes, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS sum += *(const float*)((const char*)x + columns[k]);
  y[i] = sum;
}
EACH(uneven, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS sum += *(const float*)((const char*)(x + columns[k]) + from[0]);
  y[i] = sum;
}
EACH(two_arrays, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  #pragma unroll 1
  ROUNDS { const float* one = columns[k] & 1 ? values : x; sum += one[columns[k]]; }
  y[i] = sum;
}
EACH(endless, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  for (int k = 0; columns[from[i] + (k & 15)] >= 0; k++) sum += x[to[i] + (k & 15)];
  y[i] = sum;
}
EACH(side_by_side, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  ROUNDS sum += values[k];
  y[i] = sum;
}
EACH(shared_rows, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  for (int k = from[i / 4]; k < to[i / 4]; k++) sum += values[k * 4 + i % 4] * x[columns[k]];
  y[i] = sum;
}
EACH(search, const int* columns, const float* values, const float* x, float* y)
  int low = from[i], high = to[i];
  while (low < high) {
    int middle = (low + high) / 2;
    if (values[middle] < x[i]) low = middle + 1; else high = middle;
  }
  y[i] = low;
}
EACH(smallest, const int* columns, const float* values, const float* x, float* y)
  int found = 1 << 30;
  ROUNDS found = min(found, columns[k]);
  y[i] = found;
}
EACH(chase, const int* columns, const float* values, const float* x, float* y)
  int at = i;
  ROUNDS at = columns[at];
  y[i] = at;
}
EACH(in_step, const int* columns, const float* values, const float* x, float* y)
  float sum = 0;
  for (int k = 0; k < from[0]; k++) sum += x[columns[i * 3 + k]];
  y[i] = sum;
}
EACH(storing, const int* columns, const float* values, const float* x, float* y)
  ROUNDS y[i] += x[columns[k]];
}
EACH(mixed, const int* columns, const double* values, const double* x, double* y)
  unsigned hash = 0; double sum = 1, last = 0, least = 0; bool odd = false;
  #pragma unroll 1
  ROUNDS {
    hash = (hash ^ columns[k]) * 16777619u;
    odd ^= hash & 1;
    last = values[k] * 3;
    sum = sum * x[columns[k]] + last;
    least = fmin(least, sum);
  }
  y[i] = sum + last + hash % 1000 + least + odd;
}
EACH(waiting, const int* columns, const float* values, const float* x, float* y)
  ROUNDS while (((volatile const int*)columns)[k] < 0);
  y[i] = 1;
}
"""
# A predicated sum, one of 96 bits with carries, a predicate that lasts, a count that all lanes share.
PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 starts, .param .u64 numbers, .param .u64 out)
{
  .reg .pred %p<6>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [starts];
  ld.param.u64 %rd2, [numbers];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r2, [%rd5];
  mul.wide.u32 %rd6, %r2, 4;
  add.s64 %rd7, %rd2, %rd6;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
  setp.ne.u32 %p2, %r1, %r1;
$again:
  ld.global.v2.u32 {%r8, %r9}, [%rd7];
  add.s64 %rd7, %rd7, 8;
  and.b32 %r10, %r8, 1;
  setp.eq.u32 %p1, %r10, 1;
  @%p1 add.u32 %r6, %r6, %r9;
  @!%p1 xor.b32 %r6, %r6, %r8;
  add.cc.u32 %r3, %r3, %r8;
  addc.cc.u32 %r4, %r4, %r9;
  addc.u32 %r5, %r5, %r7;
  xor.pred %p2, %p2, %p1;
  add.u32 %r7, %r7, 1;
  setp.ge.u32 %p3, %r9, 0x10000000;
  @%p3 bra $again;
  selp.u32 %r11, 1, 2, %p2;
  mul.wide.u32 %rd8, %r1, 20;
  add.s64 %rd9, %rd3, %rd8;
  st.global.u32 [%rd9], %r3;
  st.global.u32 [%rd9+4], %r4;
  st.global.u32 [%rd9+8], %r5;
  st.global.u32 [%rd9+12], %r6;
  st.global.u32 [%rd9+16], %r11;
  ret;
}
"""
BLOCK, N, ELEMENTS = 96, 250, 4000  # the last block is partial, and so is its last warp
Arguments = tuple[Any, ...]


def _loops(name: str) -> dict[int, ChosenLoop]:
    return _find(prepare(wg.compile(SOURCE, name).compile()))


def _find(prepared: Prepared) -> dict[int, ChosenLoop]:
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    return choose_lane_loops(version.program, shape, promises, prepared.symbols, version.inference)


def _arguments(kind: type = np.float32, count: int = 1, longest: int = 40) -> Arguments:
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, longest, N)
    lengths[rng.random(N) < 0.2] = 0
    starts = rng.integers(0, ELEMENTS - longest, N)
    columns = rng.integers(0, ELEMENTS, ELEMENTS).astype(np.int32)
    values = rng.random((ELEMENTS, count)).astype(kind)
    values[rng.random(ELEMENTS) < 0.01] = np.nan
    values[rng.random(ELEMENTS) < 0.01] = np.inf
    x = rng.random(ELEMENTS).astype(kind)
    ends = (starts + lengths).astype(np.int32)
    return starts.astype(np.int32), ends, columns, values, x, np.full(N, -7, kind), np.int32(N)


def _run(name: str, args: Arguments, engine: str, timeout: float = 20) -> Any:
    with engine_mode(engine):
        wg.run(wg.compile(SOURCE, name), -(-N // BLOCK), BLOCK, args, device="cpu", timeout=timeout)
    return args[5]


def _error(name: str, args: Arguments, engine: str, error: type[Exception], timeout: float = 20) -> Any:
    with pytest.raises(error) as caught:
        _run(name, args, engine, timeout)
    lab.backend("cpu").reset()
    return caught.value


@pytest.mark.parametrize(
    "name", ["spmv", "rolled", "either", "leaving", "shared_memory", "wide", "tables", "shared_rows"]
)
def test_results_are_those_of_the_reference(name: str) -> None:
    assert bool(_loops(name)) == (name != "leaving")  # which has several exits
    made = {
        "rolled": lambda: _arguments(np.float64),
        "shared_rows": lambda: _arguments(count=4),
        "wide": lambda: (*(args := _arguments(count=4))[:4], np.arange(97, dtype=np.uint8), *args[5:]),
    }.get(name, _arguments)
    reference, kinds = (_run(name, made(), engine) for engine in CPU_ENGINES)
    assert reference.tobytes() == kinds.tobytes()
    assert (reference != -7).any()


def _odd_rows(kind: type, odd: float, longest: int) -> Arguments:
    """Rows of which a part has a NaN, mostly of another lane's payload, somewhere."""
    args = _arguments(kind, longest=longest)
    starts, ends, values = args[0], args[1], args[3]
    values[~np.isfinite(values)] = 0.5
    rng = np.random.default_rng(3)
    for thread in np.flatnonzero((rng.random(N) < odd) & (ends > starts)):
        values[rng.integers(starts[thread], ends[thread])] = np.nan
    if kind is np.float64:
        bits = values.view(np.uint64)
        bits[np.isnan(values)] += rng.integers(1, 1 << 50, int(np.isnan(values).sum()), np.uint64)
    return args


@pytest.mark.parametrize("odd", [0, 0.01, 1])
@pytest.mark.parametrize(
    ("name", "kind"), [("spmv", np.float32), ("rolled", np.float64), ("mixed", np.float64)]
)
def test_lanes_of_many_rounds_that_go_at_once(name: str, kind: type, odd: float) -> None:
    """Where one has a NaN in double precision, its group goes one by one."""
    reference, kinds = (_run(name, _odd_rows(kind, odd, 150), engine) for engine in CPU_ENGINES)
    assert reference.tobytes() == kinds.tobytes()
    assert np.isfinite(reference).mean() > 0.9 or odd == 1


@pytest.mark.parametrize("odd", [0.1, 1])
@pytest.mark.parametrize("name", ["rolled", "mixed"])
def test_a_lane_with_a_nan_begins_again(name: str, odd: float) -> None:
    """Sums of doubles are not looked at on the way: which NaN comes out is that of the hardware's rules."""
    reference, kinds = (_run(name, _odd_rows(np.float64, odd, 9), engine) for engine in CPU_ENGINES)
    assert reference.tobytes() == kinds.tobytes()
    assert np.isnan(reference).sum() > 9


@pytest.mark.parametrize(
    ("name", "waits"), [("spmv", True), ("mixed", True), ("side_by_side", True), ("smallest", False)]
)
def test_which_lanes_go_at_once(name: str, waits: bool) -> None:
    """Those whose rounds wait for the ones before: for a sum, not for the least of some integers."""
    prepared = prepare(wg.compile(SOURCE, name).compile())
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    kinds = version.inference.kinds
    for loop in find_lane_loops(version.program, version.inference).values():
        rounds = find_rounds(version.program, loop, kinds, shape, promises, prepared.symbols)
        assert rounds is not None
        costs = find_costs(
            version.program, loop, kinds, shape, promises, prepared.symbols, rounds, wide=False
        )
        assert costs.waits == waits


def test_a_sum_is_right() -> None:
    starts, ends, columns, values, x, y, n = _arguments()
    values = np.where(np.isfinite(values), values, 0.5)[:, 0]
    _run("spmv", (starts, ends, columns, values, x, y, n), "kinds")
    sums = [float(values[a:b].astype(float) @ x[columns[a:b]]) for a, b in zip(starts, ends, strict=True)]
    np.testing.assert_allclose(y, sums, rtol=1e-5)


@pytest.mark.parametrize("length", [30, 120])
@pytest.mark.parametrize("name", ["spmv", "either", "leaving"])
@pytest.mark.parametrize(
    "wrong",
    [
        {40: (3, ELEMENTS), 37: (9, -1)},  # in the same warp, the higher lane in an earlier round
        {70: (0, 1 << 29)},
        {249: (7, ELEMENTS), 101: (20, -5), 33: (5, ELEMENTS + 3), 34: (5, ELEMENTS)},
    ],
)
def test_faults_are_those_of_the_reference(name: str, wrong: dict[int, tuple[int, int]], length: int) -> None:
    """Each thread named meets a column outside in the round given; which comes first is decided by rounds."""
    args = _arguments(longest=length)
    starts, ends, columns, _, x, *_ = args
    x[:] = 0.5  # nobody leaves early
    for thread, (round_, column) in wrong.items():
        starts[thread], ends[thread] = thread * 12, thread * 12 + length
        columns[starts[thread] + round_] = column
    reference, kinds = (_error(name, args, engine, KernelFault) for engine in CPU_ENGINES)
    assert kinds.place == reference.place
    assert str(kinds) == str(reference)


@pytest.mark.parametrize("name", ["bytes", "uneven"])
def test_addresses_that_are_not_aligned(name: str) -> None:
    """In some round of one thread, or of each."""
    assert _loops(name)
    args = _arguments()
    args[2][:] &= -4
    args[0][0] = 4 * (name == "bytes")
    aligned = [_run(name, (*args[:5], args[5].copy(), args[6]), engine) for engine in CPU_ENGINES]
    assert aligned[0].tobytes() == aligned[1].tobytes()
    args[0][0] += 1
    args[2][args[0][77] + 2 :] += 2
    reference, kinds = (_error(name, args, engine, KernelFault) for engine in CPU_ENGINES)
    assert (kinds.place, str(kinds)) == (reference.place, str(reference))


@pytest.mark.parametrize("low", [0, -50, -101])
@pytest.mark.parametrize("high", [ELEMENTS - 102, ELEMENTS - 101])
def test_an_index_of_two_arrays(low: int, high: int) -> None:
    """Both begin within larger ones, so it may be below zero; in one of them it reaches one further."""
    starts, ends, columns, values, x, _, n = _arguments()
    columns[:] = np.abs(columns) % 500
    columns[starts[90]], ends[90] = low, max(ends[90], starts[90] + 1)
    columns[starts[70]], ends[70] = high, max(ends[70], starts[70] + 1)
    found: list[tuple[str, bytes]] = []
    for engine in CPU_ENGINES:
        y, said = np.zeros(N, np.float32), ""
        try:
            _run("both", (starts, ends, columns, values[100:], x[100:], y, n), engine)
        except KernelFault as error:
            said = f"{error.place} {error}"
            lab.backend("cpu").reset()
        found.append((said, y.tobytes()))
    assert found[0] == found[1]
    assert bool(found[0][0]) == (low < -100 or high == ELEMENTS - 101)


def test_a_range_that_ends_within_a_round() -> None:
    """The last rows lie partly behind the arrays' ends."""
    args = _arguments()
    args[0][120:], args[1][120:] = ELEMENTS - 6, ELEMENTS + 6
    reference, kinds = (_error("spmv", args, engine, KernelFault) for engine in CPU_ENGINES)
    assert (kinds.place, str(kinds)) == (reference.place, str(reference))


def test_a_lane_that_never_leaves_is_named() -> None:
    """Every thread looks for a negative column among 16; one has none."""
    args = _arguments()
    args[0][:], args[0][45] = 96, 16
    args[2][100] = -1
    reference, kinds = (_error("endless", args, engine, KernelTimeout, 0.3) for engine in CPU_ENGINES)
    assert kinds.place == reference.place
    assert kinds.place.thread == (45, 0, 0)


def test_arrays_that_alternate_in_a_lane() -> None:
    """The range that the site remembers is soon wrong; after some tries the lanes go on together."""
    assert _loops("two_arrays")
    reference, kinds = (_run("two_arrays", _arguments(), engine) for engine in CPU_ENGINES)
    assert reference.tobytes() == kinds.tobytes()


@pytest.mark.parametrize("name", ["search", "chase", "in_step", "storing", "waiting", "endless", "leaving"])
def test_loops_that_lanes_do_not_run_alone(name: str) -> None:
    """Whose addresses, or ends, wait for loads, where lanes stay together, that store, or wait for others."""
    assert not _loops(name)


@pytest.mark.parametrize("distance", [0, 1, 2])
def test_lanes_beside_each_other(distance: int) -> None:
    """Whether lanes load side by side is found when they come to the loop; results are the same."""
    assert _loops("side_by_side")
    made: list[Any] = []
    for engine in CPU_ENGINES:
        args = _arguments()
        args[0][:] = np.arange(N) * distance
        args[1][:] = args[0] + 9
        made.append(_run("side_by_side", args, engine))
    assert made[0].tobytes() == made[1].tobytes()


def test_predicated_steps_and_carries() -> None:
    assert not _find(prepare(Compiled(PTX, "k", "k", "ptx")))  # how many rounds there are, loads decide
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, 1 << 32, ELEMENTS, np.uint32)
    starts = 2 * rng.integers(0, ELEMENTS // 4, BLOCK).astype(np.int32)
    found: list[Any] = []
    for engine in CPU_ENGINES:
        out = np.zeros((BLOCK, 5), np.uint32)
        run_ptx(PTX, 1, BLOCK, (starts, numbers, out), engine=engine)
        found.append(out)
    np.testing.assert_array_equal(*found)
    for thread in (0, 37, 95):
        sum_ = 0
        for round_, (low, high) in enumerate(numbers.reshape(-1, 2)[starts[thread] // 2 :].tolist()):
            sum_ += low + (high << 32) + (round_ << 64)
            if high < 1 << 28:
                break
        assert found[0][thread, :3].tolist() == [sum_ >> k & 0xFFFFFFFF for k in (0, 32, 64)]


# Each thread adds up a table from its start to the end; its addresses are of 32 bits.
NARROW = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 starts, .param .u64 out)
{{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 tile[384];
  ld.param.u64 %rd1, [starts];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.u32 %r3, %r2, %r3;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r4, [%rd4];
  shl.b32 %r5, %r4, 2;
  add.u32 %r5, %r2, %r5;
  mov.u32 %r6, 0;
$again:
  ld.{space}.u32 %r7, [%r5];
  add.u32 %r6, %r6, %r7;
  add.u32 %r5, %r5, 4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p, %r4, 96;
  @%p bra $again;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
  ret;
}}
"""


def _run_narrow(space: str, engine: str) -> tuple[Any, Any]:
    text = NARROW.format(space=space)
    assert not _find(prepare(Compiled(text, "k", "k", "ptx")))
    starts = np.random.default_rng(3).integers(0, BLOCK, BLOCK).astype(np.int32)
    out = np.zeros(BLOCK, np.int32)
    run_ptx(text, 1, BLOCK, (starts, out), engine=engine)
    return starts, out


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_shared_addresses_of_32_bits(engine: str) -> None:
    starts, out = _run_narrow("shared", engine)
    np.testing.assert_array_equal(out, BLOCK * (BLOCK - 1) // 2 - starts * (starts - 1) // 2)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_other_addresses_of_32_bits_are_nowhere(engine: str) -> None:
    with pytest.raises(KernelFault, match="4-byte read"):
        _run_narrow("const", engine)
