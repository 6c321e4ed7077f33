"""Loops of lanes on their own whose rounds are known in front of them, and results where that is not so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.codegen import BlockShape
from warpglass.codegen.lane_loops.find import find_lane_loops
from warpglass.codegen.lane_loops.rounds import Rounds, find_rounds
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

SOURCE = """
#define EACH(name, ...) \\
extern "C" __global__ void name(const int* from, const int* to, const int* columns, const float* values, \\
                                const float* x, float* y, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  if (i >= n) return; \\
  float sum = 0; \\
  __VA_ARGS__ \\
  y[i] = sum; \\
}
EACH(rows, for (int k = from[i]; k < to[i]; k++) sum += values[k] * x[columns[k]];)
EACH(reversed, for (int k = to[i] - 1; k >= from[i]; k--) sum = sum * 0.5f + x[columns[k]];)
EACH(numbered, int at = 0;
     for (int k = from[i]; k < to[i]; k++, at += 3) sum += x[columns[k]] * (float)(at ^ k); sum += at;)
EACH(two_steps,
     for (unsigned k = from[i]; k != (unsigned)to[i]; k += 2) sum += values[k] * x[columns[k]];)
EACH(wrapping, unsigned k = from[i] - 16u;
     for (unsigned left = to[i] - from[i]; left; left--, k++) sum += values[k + 16u] * x[columns[k + 16u]];)
EACH(one_place, for (int k = from[i]; k < to[i]; k++) sum += values[i * 7 % 97] * x[columns[k]];)
EACH(bytes,
     for (int k = from[i]; k < to[i]; k++) sum += ((const unsigned char*)values)[k] * x[columns[k]];)
EACH(pairs, float other = 1;
     for (int k = from[i]; k < to[i]; k++) { sum += values[k] * x[columns[k]]; other *= sum; } sum -= other;)
EACH(until, for (int k = from[i]; k < to[i] && x[columns[k]] < 0.9f; k++) sum += values[k];)
"""
BLOCK, N, ELEMENTS = 96, 250, 4000  # the last block is partial, and so is its last warp
Arguments = tuple[Any, ...]


def python_rows(starts: Any, ends: Any, columns: Any, values: Any, x: Any, y: Any, n: Any) -> None:
    row = cuda.grid(1)
    if row >= n:
        return
    total = np.float32(0)
    for k in range(starts[row], ends[row]):
        total += values[k] * x[columns[k]]
    y[row] = total


def _arguments(lengths: Any) -> Arguments:
    """Rows of given lengths; values and x that show the order of a sum."""
    rng = np.random.default_rng(3)
    lengths = np.resize(lengths, N).astype(np.int32)
    starts = rng.integers(16, ELEMENTS - lengths.max(), N).astype(np.int32)
    columns = rng.integers(0, ELEMENTS, ELEMENTS).astype(np.int32)
    values, x = (rng.standard_normal(ELEMENTS).astype(np.float32) for _ in range(2))
    return starts, starts + lengths, columns, values, x, np.full(N, -7, np.float32), np.int32(N)


LENGTHS = {
    "all": np.random.default_rng(4).integers(0, 41, N),
    "none left over": 4 * np.random.default_rng(5).integers(0, 9, N),
    "short": np.random.default_rng(6).integers(0, 5, N),
    "even": 2 * np.random.default_rng(7).integers(0, 20, N),
}


def _kernel(name: str) -> Any:
    return wg.from_numba(python_rows) if name == "python" else wg.compile(SOURCE, name)


def _run(name: str, args: Arguments, engine: str) -> Any:
    with engine_mode(engine):
        wg.run(_kernel(name), -(-N // BLOCK), BLOCK, args, device="cpu")
    return args[5]


def _same(name: str, args: Arguments) -> Any:
    """What both engines make of some arguments, which must be the same."""
    found = [_run(name, (*args[:5], args[5].copy(), args[6]), engine) for engine in CPU_ENGINES]
    assert found[0].tobytes() == found[1].tobytes()
    return found[0]


def _find(name: str) -> list[Rounds]:
    kernel, args = _kernel(name), _arguments(LENGTHS["all"])
    launch = lab.make_launch(kernel, 3, BLOCK, args, 0, 20, lab.backend("cpu"))
    prepared = prepare(launch.compiled)
    uniform = {offset: value for _, offset, value in prepared.structural}
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1), uniform)
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    program, found = version.program, version.inference
    loops = find_lane_loops(program, found)
    known = (
        find_rounds(program, loop, found.kinds, shape, promises, prepared.symbols) for loop in loops.values()
    )
    return [one for one in known if one is not None]


@pytest.mark.parametrize("name", ["rows", "python", "pairs", "bytes", "one_place"])
def test_both_parts_of_an_unrolled_loop_have_known_rounds(name: str) -> None:
    """And both move through the same arrays."""
    first, main = _find(name)
    assert [4 * walk.pace for walk in first.walks] == [walk.pace for walk in main.walks]
    assert all(len(walk.steps) in (1, 4) for walk in main.walks)


def test_what_python_asks_of_each_index_is_taken_for_granted() -> None:
    """That indices are not below zero, and that the range is not used up before its last number."""
    first, main = _find("python")
    assert {test.predicate[-2:] for test in (*first.tests, *main.tests)} == {"lt", "gt"}
    assert all(one.operation == "sext" for one in (*first.extents, *main.extents))


@pytest.mark.parametrize(("name", "count"), [("until", 0), ("numbered", 2), ("reversed", 0)])
def test_loops_whose_rounds_are_known(name: str, count: int) -> None:
    """An end that waits for loads; a sum of what counts rounds; loads that move downwards."""
    assert len(_find(name)) == count


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("name", ["rows", "reversed", "numbered", "wrapping", "one_place", "bytes", "pairs"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_results_are_those_of_the_reference(name: str, lengths: str) -> None:
    assert (_same(name, _arguments(LENGTHS[lengths])) != -7).all()


@pytest.mark.parametrize("lengths", LENGTHS)
def test_results_of_python(lengths: str) -> None:
    args = _arguments(LENGTHS[lengths])
    found = _same("python", args)
    assert found.tobytes() == _run("rows", args, "kinds").tobytes()


def test_python_indices_below_zero_count_from_the_end() -> None:
    """Some rows, and within rows of others, begin below zero."""
    args = _arguments(LENGTHS["all"])
    args[0][::3] -= ELEMENTS
    args[1][::3] -= ELEMENTS
    args[0][1::9], args[1][1::9] = -5, 6
    args[2][::7] -= ELEMENTS
    found = _same("python", args)
    row = range(args[0][1], args[1][1])
    sum_ = sum(float(args[3][k]) * float(args[4][args[2][k]]) for k in row)
    assert found[1] == pytest.approx(sum_, rel=1e-4, abs=1e-5)


def test_a_step_that_jumps_over_nothing() -> None:
    """A loop that ends when two numbers are the same."""
    _same("two_steps", _arguments(LENGTHS["even"]))


def test_rows_longer_than_lanes_may_go_unwatched() -> None:
    args = list(_arguments(LENGTHS["all"]))
    rng = np.random.default_rng(9)
    args[2] = rng.integers(0, ELEMENTS, 70_000, np.int32)
    args[3] = rng.standard_normal(70_000).astype(np.float32)
    args[0][5], args[1][5] = 0, 70_000
    found = _same("rows", tuple(args))
    assert found[5] == pytest.approx(args[3].astype(float) @ args[4][args[2]], rel=1e-3, abs=0.1)


@pytest.mark.parametrize("name", ["rows", "python"])
@pytest.mark.parametrize("rest", [0, 1, 3])
def test_a_fault_behind_the_first_loop(name: str, rest: int) -> None:
    """A lane meets a column, or a row's end, that is outside, in the unrolled part of its loop."""
    args = _arguments(LENGTHS["all"])
    args[1][:] -= args[0]
    args[0][:] %= ELEMENTS // 2
    args[1][:] += args[0]
    args[0][70], args[1][70] = 3000, 3020 + rest
    args[2][3017] = ELEMENTS
    args[0][200], args[1][200] = ELEMENTS - 10 - rest, ELEMENTS + 2
    for thread in (70, 200):
        errors: list[KernelFault] = []
        for engine in CPU_ENGINES:
            with pytest.raises(KernelFault) as caught:
                _run(name, args, engine)
            lab.backend("cpu").reset()
            errors.append(caught.value)
        assert (errors[0].place, str(errors[0])) == (errors[1].place, str(errors[1]))
        place = errors[0].place
        assert place is not None
        assert place.block is not None
        assert place.thread is not None
        assert place.block[0] * BLOCK + place.thread[0] == thread
        args[2][3017] = 0


def test_no_rows_for_most_lanes_of_a_warp() -> None:
    """One lane alone goes, in each part of the unrolled loop or in both."""
    for length in (3, 4, 23):
        lengths = np.zeros(N, int)
        lengths[[0, 40, 95, 249]] = length
        _same("rows", _arguments(lengths))


# Each thread adds up counts[t] elements from x[starts[t]] on, {step} bytes apart.
STEPS = """
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x];
    ld.param.u64 %rd3, [starts]; ld.param.u64 %rd4, [counts];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd1, %rd1, %rd5; add.s64 %rd3, %rd3, %rd5; add.s64 %rd4, %rd4, %rd5;
    ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [%rd4];
    mul.wide.u32 %rd6, %r2, 4; add.s64 %rd6, %rd2, %rd6;
    mov.f32 %f1, 0f00000000; mov.u32 %r4, 0;
again:
    ld.global.f32 %f2, [%rd6];
    add.rn.f32 %f1, %f1, %f2;
    add.s64 %rd6, %rd6, {step};
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p1, %r4, %r3;
    @%p1 bra again;
    st.global.f32 [%rd1], %f1; ret;
"""


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("step", "count"), [(1 << 62, 17), (1 << 61, 33), (1 << 48, 65), (1 << 41, 9)])
def test_addresses_that_wrap_around_to_their_array_are_faults(engine: str, step: int, count: int) -> None:
    text = kernel(STEPS.format(step=step), "u64 out, u64 x, u64 starts, u64 counts")
    x, starts = np.arange(1000, dtype=np.float32), np.random.default_rng().integers(0, 900, 64, np.uint32)
    out, counts = np.zeros(64, np.float32), np.full(64, count, np.uint32)
    with pytest.raises(KernelFault, match="4-byte read"):
        run_ptx(text, 1, 64, [out, x, starts, counts], engine=engine)
    run_ptx(STEPPED, 1, 64, [out, x, starts, np.full(64, 5, np.uint32)], engine=engine)
    np.testing.assert_array_equal(out, x[starts[:, None] + 3 * np.arange(5)].sum(axis=1))


STEPPED = kernel(STEPS.format(step=12), "u64 out, u64 x, u64 starts, u64 counts")
