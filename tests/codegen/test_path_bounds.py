"""Bounds along the paths of a program: what they find, and that code made with them computes the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.path_bounds.analysis import bound_by_paths
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import prepare
from warpglass.program import Program, find_streaming
from warpglass.source.compiled import Compiled

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;"
N = 100  # the value of the kernels' integer


def bounded(body: str, block: int = 32) -> Program:
    """The program of a body with one parameter, `n`, in %r0, which is promised to be N."""
    text = f"{HEAD}.visible .entry k(.param .u32 n) {{ {REGISTERS} ld.param.u32 %r0, [n]; {body} ret; }}"
    prepared = prepare(Compiled(text, "k", "k", "ptx"))
    promises = Promises((4, 1, 1), {0: N}, exact=True)
    return bound_by_paths(prepared.program, BlockShape((block, 1, 1)), promises, prepared.symbols)


def bounds(body: str, register: str) -> list[tuple[int, int] | None]:
    """The bounds of all writes of a register that decides something, in the order of the program's blocks."""
    steps = [step for block in bounded(body).blocks for step in block.steps]
    return [step.bounds.get(register) for step in steps if register in step.writes]


COUNT = """
  mov.u32 %r1, {start};
LOOP:
  mov.u32 %r2, %r1;
  setp.eq.s32 %p8, %r2, 7;
  add.s32 %r1, %r1, {step};
  setp.{test} %p1, %r1, %r0;
  @{guard}%p1 bra LOOP;
"""


@pytest.mark.parametrize(
    ("start", "step", "test", "guard", "inside"),
    [
        (0, 1, "lt.s32", "", (0, N - 1)),
        (0, 1, "ge.s32", "!", (0, N - 1)),
        (3, 4, "lt.u32", "", (3, N - 1)),  # 99 is 3 modulo 4
        (2, 4, "le.s32", "", (2, N - 2)),  # 98 is 2 modulo 4
        (-5, 3, "lt.s32", "", (-5, N - 3)),  # as 3 * 34 - 5
        (1 << 20, -1, "gt.s32", "", (N + 1, 1 << 20)),
        (0, 4, "ne.s32", "", (0, N - 4)),
        (0, 1, "lt.s32", "!", (0, 0)),  # the test holds at once
    ],
)
def test_a_test_bounds_the_loop_variable(
    start: int, step: int, test: str, guard: str, inside: tuple[int, int]
) -> None:
    assert bounds(COUNT.format(start=start, step=step, test=test, guard=guard), "%r2") == [inside]


def test_what_may_wrap_has_no_bounds() -> None:
    assert bounds(COUNT.format(start=0, step=3, test="ne.s32", guard=""), "%r2") == [None]


def test_a_counter_beside_the_index_bounds_it() -> None:
    """numba's loops: the number of trips left decides, and is counted down only if it is positive."""
    body = """
      mov.u32 %r1, 0;
      mov.u32 %r3, %r0;
    LOOP:
      mov.u32 %r2, %r1;
      setp.eq.s32 %p8, %r2, 7;
      setp.gt.s32 %p2, %r3, 0;
      selp.b32 %r4, -1, 0, %p2;
      add.s32 %r3, %r3, %r4;
      add.s32 %r1, %r1, 1;
      setp.gt.s32 %p1, %r3, 0;
      @%p1 bra LOOP;
    """
    assert bounds(body, "%r2") == [(0, N - 1)]
    assert bounds(body, "%p2") == [(1, 1)]
    assert bounds(body, "%r4") == [(-1, -1)]


def test_a_counter_with_one_number_left_bounds_the_index() -> None:
    """Of one or two trips: what is left of the counter behind the first is a constant."""
    body = """
      mov.u32 %r2, %tid.x;
      and.b32 %r3, %r2, 1;
      add.s32 %r3, %r3, 1;
      and.b32 %r1, %r2, 31;
    LOOP:
      add.s32 %r4, %r1, 0;
      add.s32 %r1, %r1, 256;
      add.s32 %r3, %r3, -1;
      setp.ne.s32 %p1, %r3, 0;
      @%p1 bra LOOP;
    """
    assert bounds(body, "%r4") == [(0, 256 + 31)]


def test_an_unrolled_loop_knows_its_remainder() -> None:
    """Of four trips at a time only the last may be the last: the number left is 3 modulo 4."""
    trip = "setp.gt.s32 %p{k}, %r3, 0; selp.b32 %r4, -1, 0, %p{k}; add.s32 %r3, %r3, %r4;"
    trips = "".join(trip.format(k=k) for k in range(1, 5))
    body = f"mov.u32 %r3, {4 * 7 - 1};\nLOOP: {trips}\n@%p4 bra LOOP;"
    assert [bounds(body, f"%p{k}") for k in range(1, 4)] == [[(1, 1)]] * 3
    assert bounds(body, "%p4") == [None]


@pytest.mark.parametrize(
    ("negated", "factor"),
    [("not.b32 %r3, %r2;", -1), ("sub.s32 %r3, -1, %r2;", -1), ("shl.b32 %r3, %r2, 2;", 4)],
)
def test_a_test_bounds_products_in_front_of_it(negated: str, factor: int) -> None:
    """Also behind where its paths meet, once more."""
    body = f"""
      mov.u32 %r2, %tid.x;
      {negated}
    LOOP:
      setp.ge.s32 %p1, %r2, 8;
      @%p1 bra MEET;
      add.s32 %r4, %r3, 8;
      setp.eq.s32 %p8, %r4, 7;
    MEET:
      bar.sync 0;
      @%p1 bra END;
      add.s32 %r5, %r3, 8;
      setp.eq.s32 %p7, %r5, 7;
    END:
      add.s32 %r0, %r0, -1;
      setp.gt.s32 %p6, %r0, 0;
      @%p6 bra LOOP;
    """
    expected = (0, 7) if factor < 0 else (8, 36)
    assert bounds(body, "%r4") == [expected]
    assert bounds(body, "%r5") == [expected]


def test_nested_loops() -> None:
    body = """
      mov.u32 %r1, 0;
    OUTER:
      mov.u32 %r3, 0;
    INNER:
      mad.lo.s32 %r5, %r1, 10, %r3;
      add.s32 %r3, %r3, 1;
      setp.lt.s32 %p1, %r3, 10;
      @%p1 bra INNER;
      add.s32 %r1, %r1, 1;
      setp.lt.s32 %p2, %r1, %r0;
      @%p2 bra OUTER;
      setp.gt.s32 %p3, %r5, 0;
    """
    assert bounds(body, "%r5") == [(0, 10 * N - 1)]


def test_tests_of_several_words() -> None:
    """Both of an `and` that holds hold; nothing is said of one that does not."""
    body = """
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      mov.u32 %r9, 0;
    LOOP:
      setp.gt.s32 %p1, %r1, 7;
      setp.lt.and.s32 %p2, %r2, 2, %p1;
      @!%p2 bra ELSE;
      add.s32 %r3, %r1, 0;
      add.s32 %r4, %r2, 0;
      setp.lt.s32 %p3, %r3, %r4;
    ELSE:
      add.s32 %r5, %r1, 0;
      setp.lt.s32 %p5, %r5, 3;
      add.s32 %r9, %r9, 1;
      setp.lt.s32 %p4, %r9, 5;
      @%p4 bra LOOP;
    """
    assert (bounds(body, "%r3"), bounds(body, "%r4"), bounds(body, "%r5")) == ([(8, 31)], [(0, 1)], [(0, 31)])


def test_blocks_that_no_path_leads_to_are_empty() -> None:
    body = """
      mov.u32 %r1, 0;
    LOOP:
      setp.gt.s32 %p1, %r1, 1000;
      @%p1 bra NEVER;
      add.s32 %r1, %r1, 1;
      setp.lt.s32 %p2, %r1, %r0;
      @%p2 bra LOOP;
      ret;
    NEVER:
      mov.u32 %r1, 77;
      bra LOOP;
    """
    assert len(bounds(body, "%r1")) == 2


def test_what_no_path_leads_to_neither_orders_blocks_nor_stores() -> None:
    """As numba's report of a step of zero, an atomic operation whose result is used."""
    body = """
      .reg .b64 %a;
      mov.u64 %a, 0;
      mov.u32 %r1, 0;
    LOOP:
      setp.ne.s32 %p1, %r0, 0;
      @%p1 bra STORE;
      atom.global.cas.b32 %r2, [%a], 0, 1;
      st.global.u32 [%a+4], %r2;
    STORE:
      st.global.u32 [%a+8], %r1;
      add.s32 %r1, %r1, 1;
      add.s64 %a, %a, 64;
      setp.lt.s32 %p2, %r1, %r0;
      @%p2 bra LOOP;
    """
    program = bounded(body)
    assert not program.ordered
    assert len(find_streaming(program.blocks)) >= 1
    reached = bounded(body.replace("%r0, 0;", "%r1, 0;", 1))
    assert reached.ordered
    assert not find_streaming(reached.blocks)


# Loops whose variables come near the ends of their types, change in branches, depend on each other or on what
# threads do; each thread writes a fingerprint of all the values that it has seen.
SOURCE = """
__device__ unsigned mix(unsigned sum, long long value) {
  return (sum ^ (unsigned)value ^ (unsigned)(value >> 32)) * 2654435761u + 12345u;
}
extern "C" __global__ void near_ends(unsigned* out, int n, int step) {
  unsigned sum = threadIdx.x;
  for (int i = 2147483647 - n; i > 0; i = (int)((unsigned)i + step)) sum = mix(sum, i < 0 ? -1 : i);
  unsigned power = n;
  for (int t = 0; t < n; t++) { sum = mix(sum, (int)power < 0 ? power : -power); power *= 3u; }
  int down = threadIdx.x - 2147483600;
  while (down < 0) { down = (int)((unsigned)down - step); sum = mix(sum, down); }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void together(unsigned* out, int n, int step) {
  int left = n, i = 0, j = 1, k = 5 * n; unsigned sum = 0;
  do {
    sum = mix(sum, i); sum = mix(sum, (long long)j * k);
    if (left % 3 == 1) { i += step; j += step; } else { i += 1; j += 1; }
    k -= 5; left -= 1;
    if (k < n && (threadIdx.x & 4)) continue;
    sum = mix(sum, j - i);
  } while (left > 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + i + j + k;
}
extern "C" __global__ void apart(unsigned* out, int n, int step) {
  unsigned sum = 0; int last = -1;
  for (int i = threadIdx.x; i < n; i += step) {
    int seen = last; last = i;
    for (int j = i; j != seen && j >= 0; j--) sum = mix(sum, seen + (j << 3));
    if (i % 7 == 3) i++;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + last;
}
extern "C" __global__ void swapped(unsigned* out, int n, int step) {
  int a = 0, b = n; unsigned sum = 0;
  while (a < b) {
    sum = mix(sum, a - b); int c = a; a = b - step; b = c + n / 2; n -= step;
    if (n < -20) break;
  }
  unsigned h = 1;
  while (h < blockDim.x) { sum = mix(sum, threadIdx.x % (2 * h) == 0 ? h : 0); h <<= 1; }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("name", ["near_ends", "together", "apart", "swapped"])
@pytest.mark.parametrize(("n", "step"), [(37, 1), (40, 5)])
def test_both_engines_see_the_same_values(
    name: str, n: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    kernel = wg.compile(SOURCE, name)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        prepare.cache_clear()
        with engine_mode(engine):
            for _ in range(3):  # the second launch makes the version whose paths are followed
                out = np.zeros(2 * 40, np.uint32)
                wg.run(kernel, 2, 40, (out, np.int32(n), np.int32(step)), device="cpu")
                results.append(out)
    assert results[0].any()
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def _python_kernels() -> Sequence[wg.Kernel]:
    from numba import cuda

    def negative_indices(out, x, n):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)  # pyright: ignore[reportCallIssue]
        total = np.int64(0)
        for k in range(n):
            total += x[k - 3] * (k % 4 + 1)
        for k in range(n, -n, -3):
            total += x[k // 2 % 7 - 7] - k
        out[i] = total + x[i - n]

    return (wg.from_numba(negative_indices),)


def test_python_loops_index_from_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    (kernel,) = _python_kernels()
    x = np.arange(50, dtype=np.int64) ** 2
    for n in (37, 37, 37, 2):
        out = np.zeros(48, np.int64)
        wg.run(kernel, 1, 48, (out, x, np.int32(n)), device="cpu")
        total = sum(int(x[k - 3]) * (k % 4 + 1) for k in range(n))
        total += sum(int(x[k // 2 % 7 - 7]) - k for k in range(n, -n, -3))
        np.testing.assert_array_equal(out, total + x[np.arange(48) - n])
