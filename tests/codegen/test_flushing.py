"""Kernels of whose arithmetic all is `.ftz`: the host flushes, and every bit is the reference's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.engines import run_ptx
from tests.isa.float_harness import edges, random_pattern
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.machine.jit import FLUSHING
from warpglass.codegen.machine.target import flushes
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

BLOCK, GRID = 128, 32
THREADS = BLOCK * GRID
SMALLEST = 0x00800000

_PRELUDE = """
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r1, %r2, {block}, %r1; mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+{size}]; ld.global.f32 %f3, [%rd4+{twice}];
ld.global.b32 %r3, [%rd4];
"""
_THREE = "fma.rn.ftz fma.rn.ftz.sat min.ftz max.ftz".split()
_TWO = "add.ftz sub.ftz mul.ftz mul.ftz.sat add.ftz.sat div.rn.ftz div.approx.ftz div.full.ftz"
_TWO += " min.ftz max.ftz min.ftz.NaN max.ftz.xorsign.abs set.lt.ftz.f32 set.geu.ftz.f32 copysign"
_ONE = "rcp.rn.ftz rcp.approx.ftz sqrt.rn.ftz sqrt.approx.ftz rsqrt.approx.ftz ex2.approx.ftz lg2.approx.ftz"
_ONE += " sin.approx.ftz cos.approx.ftz tanh.approx neg.ftz abs.ftz cvt.rni.ftz.f32 cvt.rmi.ftz.f32"
_ONE += " cvt.rpi.ftz.f32 cvt.rzi.f32 cvt.ftz.sat.f32"
_TO_INTEGERS = "cvt.rpi.ftz.s32 cvt.rmi.ftz.s32 cvt.rzi.ftz.u32 cvt.rzi.s32 cvt.rni.u32"
_OTHERS = (
    "slct.ftz.f32.f32 %f9, %f1, %f2, %f3;",
    "setp.lt.ftz.f32 %p1, %f1, %f2; selp.f32 %f9, %f3, %f1, %p1;",
    "setp.neu.ftz.f32 %p1, %f1, 0f00000000; selp.f32 %f9, %f3, %f2, %p1;",
    "cvt.rn.f32.s32 %f8, %r3; mul.ftz.f32 %f9, %f8, %f2;",
    "mul.ftz.f32 %f9, 0f00800000, 0f3F000000; fma.rn.ftz.f32 %f9, 0f00900000, 0fBF800000, %f9;",
    "mul.ftz.f32 %f9, 0f00800000, 0f3F7FFFFF; fma.rn.ftz.f32 %f9, 0f00800000, 0f3F7FFFFF, %f9;",
    "add.ftz.f32 %f8, 0f00000003, 0f80000000; max.ftz.f32 %f9, %f8, %f1;",
    "cvt.rn.f16.f32 %rs1, %f1; cvt.f32.f16 %f9, %rs1;",
    "cvt.rn.f16x2.f32 %r4, %f1, %f2; fma.rn.f16x2 %r4, %r3, %r4, %r4; mov.b32 %f9, %r4;",
    "mov.b32 {%rs1, %rs2}, %r3; mul.f16 %rs1, %rs1, %rs2; mov.b32 %f9, {%rs1, %rs2};",
    "ex2.approx.f16x2 %r4, %r3; mov.b32 %f9, %r4;",
    "red.global.add.f32 [%rd4], %f2; atom.global.add.f32 %f9, [%rd4], %f3;",
    "mul.ftz.f32 %f8, %f1, %f2; add.ftz.f32 %f7, %f8, %f3; fma.rn.ftz.f32 %f9, %f7, %f2, %f8;",
)


def _bodies() -> list[str]:
    """One instruction each, or a few; the result is in %f9."""
    found = [f"{one}.f32 %f9, %f1, %f2, %f3;" for one in _THREE]
    found += [f"{one}.f32 %f9, %f1, %f2;" for one in _TWO.split()]
    found += [f"{one}.f32 %f9, %f1;" for one in _ONE.split()]
    found += [f"{one}.f32 %r4, %f1; mov.b32 %f9, %r4;" for one in _TO_INTEGERS.split()]
    return [*found, *_OTHERS]


def _text(bodies: list[str]) -> str:
    stores = "".join(
        f"{body} st.global.f32 [%rd5+{4 * THREADS * k}], %f9;\n" for k, body in enumerate(bodies)
    )
    prelude = _PRELUDE.format(block=BLOCK, size=4 * THREADS, twice=8 * THREADS)
    return kernel(prelude + stores + "ret;", "u64 a, u64 out", shared=".align 4 .b8 s[4]")


def _operands(rng: random.Random) -> np.ndarray:
    """Pairs of edges and of any numbers, and pairs whose product or sum is nearly the least normal one."""
    rows: list[tuple[int, int]] = []
    special = edges("f32")
    while len(rows) < THREADS:
        a = random_pattern("f32", rng)
        rows.append((rng.choice(special), rng.choice(special)))
        rows.append((a, random_pattern("f32", rng)))
        near = np.array([a], np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            partner = (np.float64(2.0**-126) / near.astype(np.float64)).astype(np.float32)
        other = int(partner.view(np.uint32)[0])
        rows.append((a, (other + rng.randint(-2, 2)) & 0xFFFFFFFF))
        rows.append((SMALLEST + rng.randrange(1 << 24), SMALLEST + rng.randrange(1 << 24) | 1 << 31))
    thirds = [rng.choice((0, 1 << 31, rng.choice(special), rng.getrandbits(23))) for _ in range(THREADS)]
    return np.array([*zip(*rows[:THREADS], strict=True), thirds], np.uint32)


def _run(text: str, given: np.ndarray, count: int, engine: str) -> np.ndarray:
    out = np.zeros((count, THREADS), np.uint32)
    run_ptx(text, GRID, BLOCK, [given.copy(), out], engine=engine)
    return out


def _asks_host(text: str) -> bool:
    prepared = prepare(Compiled(text, "k", "k", "ptx"))
    promises = Promises((GRID, 1, 1))
    code = generate(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, (), promises)
    return FLUSHING in code.text(quick=False)


@pytest.mark.parametrize("tier", ["quick", "optimised"])
def test_every_bit_is_the_references(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = _bodies()
    given, text = _operands(random.Random(5)), _text(bodies)
    want = _run(text, given, len(bodies), "reference")
    monkeypatch.setenv("WARPGLASS_TIER", tier)
    assert _asks_host(text) == flushes()
    found = _run(text, given, len(bodies), "kinds")
    for body, row, other in zip(bodies, found, want, strict=True):
        wrong = np.flatnonzero(row != other)
        assert not wrong.size, f"{body} of {given[:, wrong[0]]}: {row[wrong[0]]:#x}, not {other[wrong[0]]:#x}"


@pytest.mark.parametrize(
    "other",
    [
        "add.f32 %f9, %f1, %f2;",
        "fma.rz.ftz.f32 %f9, %f1, %f2, %f3;",
        "setp.eq.f32 %p1, %f1, %f2; selp.f32 %f9, %f1, %f2, %p1;",
        "cvt.f64.f32 %fd1, %f1; mul.f64 %fd1, %fd1, 0d1000000000000000; mov.b64 {%r3, %r4}, %fd1;"
        "mov.b32 %f9, %r4;",
        "cvt.rpi.f32.f32 %f9, %f1;",
        "mov.u32 %r4, s; st.shared.f32 [%r4], %f1; atom.shared.add.f32 %f9, [%r4], %f2;",
        "testp.subnormal.f32 %p1, %f1; selp.f32 %f9, %f1, %f2, %p1;",
    ],
)
def test_a_kernel_that_sees_subnormal_numbers_flushes_by_itself(other: str) -> None:
    bodies = ["mul.ftz.f32 %f9, %f1, %f2;", other]
    given, text = _operands(random.Random(7)), _text(bodies)
    assert not _asks_host(text)
    assert np.array_equal(_run(text, given, 2, "kinds"), _run(text, given, 2, "reference"))


def test_the_host_is_left_as_it_was() -> None:
    tiny = np.full(16, 1e-40, np.float32)
    _run(_text(["mul.ftz.f32 %f9, %f1, %f2;"]), np.zeros((3, THREADS), np.uint32), 1, "kinds")
    assert np.all(tiny + tiny > 0)
