"""What follows from thread indices and constants alone: lanes and bits known at compile time.

Random instructions on thread indices, constants and a parameter, computed a second time here with NumPy. Half
of them come after a barrier, to which registers must come through.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault
from warpglass.source.compiled import Compiled

Words = np.ndarray

SHAPES = [(64, 1, 1), (100, 1, 1), (16, 6, 1), (7, 9, 1), (32, 3, 1), (8, 4, 3)]
COUNT, GRID, PARAMETER = 64, 2, 0x7FFF_FFC3
_CONSTANTS = (0, 1, 2, 3, 15, 16, 31, 32, 33, 63, 64, 96, 255, 1 << 31, -1, -2, -32, -64, -33)


def _signed(operation: Callable[[Words, Words], Words]) -> Callable[[Words, Words], Words]:
    return lambda a, b: operation(a.astype(np.int32), b.astype(np.int32)).astype(np.uint32)


# Instruction, whether its second operand is a constant, and the same on 32-bit words.
OPERATIONS: list[tuple[str, bool, Callable[[Words, Words], Words]]] = [
    ("and.b32", True, np.bitwise_and),
    ("and.b32", False, np.bitwise_and),
    ("or.b32", True, np.bitwise_or),
    ("xor.b32", True, np.bitwise_xor),
    ("xor.b32", False, np.bitwise_xor),
    ("add.s32", True, np.add),
    ("sub.s32", False, np.subtract),
    ("mul.lo.s32", True, np.multiply),
    ("min.u32", True, np.minimum),
    ("max.s32", False, _signed(np.maximum)),
    ("shl.b32", True, lambda a, b: np.where(b < 32, a << (b & 31), 0)),
    ("shr.u32", True, lambda a, b: np.where(b < 32, a >> (b & 31), 0)),
    (
        "shr.s32",
        True,
        lambda a, b: (a.astype(np.int32) >> np.minimum(b, 31).astype(np.int32)).astype(np.uint32),
    ),
    ("div.u32", True, lambda a, b: np.where(b > 0, a // np.maximum(b, 1), 0xFFFFFFFF)),
    ("rem.u32", True, lambda a, b: np.where(b > 0, a % np.maximum(b, 1), 0xFFFFFFFF)),
]
COMPARISONS = {
    "lt.s32": _signed(np.less),
    "le.u32": np.less_equal,
    "eq.s32": np.equal,
    "ne.u32": np.not_equal,
    "gt.u32": np.greater,
    "ge.s32": _signed(np.greater_equal),
}


def _program(seed: int, block: tuple[int, int, int]) -> tuple[str, list[Words]]:
    """PTX that stores COUNT words a thread, and the words."""
    rng = np.random.default_rng(seed)
    x, y, z = block
    threads = x * y * z
    linear = np.tile(np.arange(threads, dtype=np.uint32), GRID)
    ctaid = np.repeat(np.arange(GRID, dtype=np.uint32), threads)
    values = [linear % x, linear // x % y, ctaid * np.uint32(x) + linear % x]
    values += [np.full_like(linear, PARAMETER), ctaid]
    lines: list[str] = []

    def take() -> int:
        return int(rng.integers(len(values) if rng.random() < 0.5 else min(3, len(values))))

    while len(values) < COUNT:
        if len(values) == COUNT // 2:
            lines.append("bar.sync 0;")
        a, b, target = take(), take(), len(values)
        constant = np.uint32(int(rng.choice(_CONSTANTS)) & 0xFFFFFFFF)
        with_constant = rng.random() < 0.6
        second = np.full_like(linear, constant) if with_constant else values[b]
        if rng.random() < 0.3:
            name = str(rng.choice(list(COMPARISONS)))
            text = (
                str(int(constant) - (1 << 32 if ".s" in name and constant >> 31 else 0))
                if with_constant
                else f"%r{b}"
            )
            lines.append(f"setp.{name} %p, %r{a}, {text};  selp.b32 %r{target}, %r{a}, -7, %p;")
            holds = COMPARISONS[name](values[a], second).astype(bool)
            values.append(np.where(holds, values[a], np.uint32(0xFFFFFFF9)))
            continue
        name, takes_constant, act = OPERATIONS[int(rng.integers(len(OPERATIONS)))]
        if takes_constant:
            second = np.full_like(linear, constant & 31 if name.startswith("sh") else constant)
        else:
            second = values[b]
        text = str(int(second[0])) if takes_constant else f"%r{b}"
        lines.append(f"{name} %r{target}, %r{a}, {text};")
        values.append(act(values[a], second).astype(np.uint32))
    body = "\n".join(lines)
    stores = "\n".join(f"st.global.u32 [%a + {4 * k}], %r{k};" for k in range(COUNT))
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .pred %p; .reg .b32 %r<{COUNT}>; .reg .b32 %t<8>; .reg .b64 %a; .reg .b64 %o;
mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r4, %ctaid.x; mov.u32 %t0, %tid.z;
mad.lo.s32 %r2, %r4, {x}, %r0;
ld.param.u32 %r3, [n];
{body}
mad.lo.u32 %t1, %t0, {y}, %r1; mad.lo.u32 %t2, %t1, {x}, %r0; mad.lo.u32 %t3, %r4, {threads}, %t2;
mul.wide.u32 %o, %t3, {4 * COUNT}; ld.param.u64 %a, [out]; add.u64 %a, %a, %o;
{stores}
ret;
}}
"""
    return text, values


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("block", SHAPES)
def test_random_operations_on_indices(engine: str, block: tuple[int, int, int]) -> None:
    text, values = _program(SHAPES.index(block), block)
    threads = block[0] * block[1] * block[2]
    out = np.zeros((GRID * threads, COUNT), np.uint32)
    run_ptx(text, GRID, block, (out, np.uint32(PARAMETER)), engine=engine)
    for k, want in enumerate(values):
        np.testing.assert_array_equal(out[:, k], want, err_msg=f"%r{k}")


EXCHANGE = """
extern "C" __global__ void exchange(int* x, int* out, int n) {
  __shared__ int part[N];
  int t = threadIdx.x, i = blockIdx.x * N + t;
  part[t] = x[i];
  __syncthreads();
  for (int j = N / 2; j > 0; j /= 2) {
    int other = t ^ j;
    if (other > t && other < N) {
      int a = part[t], b = part[other];
      if ((a > b) == ((t & 2 * j) == 0)) { part[t] = b; part[other] = a; }
    }
    __syncthreads();
  }
  x[i] = part[t];
  out[i ^ 1] = part[t & -4] + part[(t | 3) < N ? t | 3 : t];
}
"""


def _exchange(row: Words) -> tuple[Words, Words]:
    row = row.copy()
    n, j = row.size, row.size // 2
    while j:
        before = row.copy()
        for t in range(n):
            other = t ^ j
            if t < other < n and (before[t] > before[other]) == ((t & 2 * j) == 0):
                row[t], row[other] = before[other], before[t]
        j //= 2
    t = np.arange(n)
    out = np.zeros_like(row)
    out[t ^ 1] = row[t & -4] + row[np.where((t | 3) < n, t | 3, t)]
    return row, out


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("n", [256, 94])
def test_partners_at_powers_of_two(engine: str, n: int) -> None:
    x = np.random.default_rng(n).integers(-99, 99, 2 * n).astype(np.int32)
    expected = [_exchange(x[:n]), _exchange(x[n:])]
    out = np.zeros_like(x)
    with engine_mode(engine):
        kernel = wg.compile(EXCHANGE.replace("N", str(n)), "exchange")
        wg.run(kernel, 2, n, (x, out, np.int32(n)), device="cpu")
    np.testing.assert_array_equal(x, np.concatenate([row for row, _ in expected]))
    np.testing.assert_array_equal(out, np.concatenate([sums for _, sums in expected]))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_partner_outside_is_reported(engine: str) -> None:
    source = 'extern "C" __global__ void k(int* x) { x[threadIdx.x ^ 40] = 1; }'
    x = np.zeros(66, np.int32)
    with engine_mode(engine):
        with pytest.raises(KernelFault, match=r"x\[104\].*thread \(64, 0, 0\)"):
            wg.run(wg.compile(source, "k"), 1, 66, (x,), device="cpu")
        wg.reset()


REVERSED = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 63;
  mov.u32 %r3, 0;
again:
  sub.s32 %r4, %r2, %r1;
  cvt.s64.s32 %rd3, %r4;
  shl.b64 %rd4, %rd3, 2;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r5, [%rd5];
  mad.lo.u32 %r3, %r3, 3, %r5;
  add.s32 %r2, %r2, 1;
  setp.ne.s32 %p1, %r2, 75;
  @%p1 bra again;
  mul.wide.u32 %rd6, %r1, 4;
  add.s64 %rd7, %rd2, %rd6;
  st.global.u32 [%rd7], %r3;
  ret;
}
"""


def test_a_known_first_round_has_the_form_of_the_others() -> None:
    """Lanes of x[63 - t] are known, those of later rounds are a scalar minus the thread's number."""
    made = prepare(Compiled(REVERSED, "k", "k", "ptx"))
    promises = Promises((1, 1, 1), {}, exact=True)
    version = with_kinds(made.program, BlockShape((64, 1, 1), 0), made.symbols, promises)
    assert version.inference.offsets("%rd5") == tuple(-4 * lane for lane in range(32))
    x, y = np.arange(1, 200, dtype=np.uint32), np.zeros(64, np.uint32)
    for engine in CPU_ENGINES:
        run_ptx(REVERSED, 1, 64, (x, y), engine=engine)
        expected = np.zeros(64, np.uint32)
        for first in range(63, 75):
            expected = expected * 3 + x[first - np.arange(64)]
        np.testing.assert_array_equal(y, expected)
