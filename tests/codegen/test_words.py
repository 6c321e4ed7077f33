"""Integers of 64 bits that are known to fit 32: random programs whose bits are the reference's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.values.narrow import short_factor
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

REGISTERS = 8
_LOADS = ("u8", "s8", "u16", "s16", "u32", "s32", "s64")
_TWO = ("add.s64", "sub.s64", "mul.lo.s64", "and.b64", "or.b64", "xor.b64")
_TWO += ("min.s64", "max.s64", "min.u64", "max.u64", "mul.hi.s64", "mul.hi.u64")
_CONSTANTS = (0, 1, -1, 3, 4, 7, 255, -256, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 40, -(1 << 63))
# Compilers' factors for divisions by 9, 10 and 255, and the shifts behind them.
_DIVISIONS = ((0x1C71C71C71C71C72, 0), (0x6666666666666667, 2), (0x8080808080808081, 7))
_COMPARISONS = [f"setp.{test}.{sign}64" for test in ("lt", "le", "gt", "ge", "eq", "ne") for sign in "su"]


def _step(rng: random.Random) -> str:
    target, a, b = (f"%x{rng.randrange(REGISTERS)}" for _ in range(3))
    b = rng.choice((b, b, str(rng.choice(_CONSTANTS)), "%rd3"))
    match rng.randrange(9):
        case 0:
            return f"  {rng.choice(_COMPARISONS)} %p4, {a}, {b};\n  selp.b64 {target}, {a}, {b}, %p4;"
        case 1:
            return f"  {rng.choice(('shl.b64', 'shr.u64', 'shr.s64'))} {target}, {a}, {rng.randrange(40)};"
        case 2:
            return f"  cvt.{rng.choice(('u64.u8', 's64.s8', 'u64.u16', 's64.s16', 's64.s32'))} {target}, {a};"
        case 3:
            factor, shift = rng.choice(_DIVISIONS)
            steps = (f"and.b64 {a}, {a}, {rng.choice((255, 2295, 65535))}",)
            steps += (f"mul.hi.{rng.choice('su')}64 {target}, {a}, {factor}",)
            return "\n".join(f"  {step};" for step in (*steps, f"shr.s64 {target}, {target}, {shift}"))
        case 4:
            return f"  and.b64 {target}, {a}, {rng.choice((1, 255, 65535, (1 << 31) - 1, (1 << 32) - 1))};"
        case _:
            return f"  {rng.choice(_TWO)} {target}, {a}, {b};"


def _data(rng: random.Random) -> np.ndarray:
    words = [rng.choice((rng.getrandbits(64), rng.getrandbits(8), 0, (1 << 64) - 1, 1 << 31, (1 << 31) - 1))]
    words += [rng.getrandbits(rng.choice((7, 8, 31, 32, 33, 64))) for _ in range(THREADS * REGISTERS - 1)]
    return np.array(words, np.uint64)


PROGRAMS = LoopPrograms("b64", REGISTERS, _LOADS, _step)


@pytest.mark.parametrize("seed", range(12))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vary(seed, monkeypatch)
    rng = random.Random(seed)
    text, data = PROGRAMS.text(rng, (16, 8, 8)), _data(rng)
    reference, kinds = bits_of_both(text, data)
    different = np.argwhere(reference != kinds)
    assert not len(different), (different[:5], text)


MEAN = (
    PROGRAMS.head
    + """
  ld.global.u8 %x0, [%rd1];
  ld.global.u8 %x1, [%rd1+1];
  add.s64 %x2, %x0, %x1;
  mul.hi.s64 %x3, %x2, {factor};
  st.global.u8 [%rd2], %x3;
  ret;
}
"""
)


@pytest.mark.parametrize(("factor", "narrow"), [(0x1C71C71C71C71C72, True), ((1 << 63) - 1, False)])
def test_sums_of_bytes_are_narrow(factor: int, *, narrow: bool) -> None:
    text = MEAN.replace("{factor}", str(factor))
    made = prepare(Compiled(text, "k", "k", "ptx"))
    code = generate(made.program, BlockShape((32, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    body = code.text(quick=False)
    assert "add <32 x i16>" in body
    assert ("mul <32 x i64>" not in body) == narrow


@pytest.mark.parametrize("width", [32, 64])
def test_short_factors(width: int) -> None:
    rng = random.Random(7)
    tried = [-(-(1 << width) // divisor) for divisor in (3, 7, 9, 10, 255, 1000)]
    tried += [rng.getrandbits(rng.randrange(1, width + 1)) | 1 for _ in range(40)]
    tried += [1, (1 << width) - 1, 1 << (width - 1)]
    found = 0
    for factor in tried:
        for most in (1, 5, 255, 2295, 65535):
            short, shift = short_factor(factor, width, most)
            if short is not None:
                found += 1
                assert short * most < 1 << 31
                assert all(x * short >> shift == x * factor >> width for x in range(most + 1))
    assert found > 30
