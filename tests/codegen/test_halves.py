"""Integers of 32 bits that are known to fit 16: random programs whose bits are the reference's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.lanes.narrow import HALVES, WORDS
from warpglass.codegen.values.value import Value
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

REGISTERS = 8
_LOADS = ("u8", "s8", "u8", "s8", "u16", "s16", "s32")
_TWO = ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32")
_TWO += ("min.s32", "max.s32", "min.u32", "max.u32")
_CONSTANTS = (0, 1, -1, 2, 3, 5, 29, 77, 127, 128, 150, 255, 256, 257, -255, 32767, -32768, 65535)
_COMPARISONS = [f"setp.{test}.{sign}32" for test in ("lt", "le", "gt", "ge", "eq", "ne") for sign in "su"]
_EXTENDED = ("s32.s8", "u32.u8", "s32.s16", "u32.u16")


def _step(rng: random.Random) -> str:
    target, a, b = (f"%x{rng.randrange(REGISTERS)}" for _ in range(3))
    b = rng.choice((b, b, b, str(rng.choice(_CONSTANTS)), "%r2"))
    match rng.randrange(10):
        case 0:
            return f"  {rng.choice(_COMPARISONS)} %p4, {a}, {b};\n  selp.b32 {target}, {a}, {b}, %p4;"
        case 1:
            amount = rng.choice((*range(18), "%r2"))
            return f"  {rng.choice(('shl.b32', 'shr.u32', 'shr.s32'))} {target}, {a}, {amount};"
        case 2 | 3:
            return f"  cvt.{rng.choice(_EXTENDED)} {target}, {a};"
        case 4:
            return f"  and.b32 {target}, {a}, {rng.choice((1, 15, 255, 32767, 65535))};"
        case _:
            return f"  {rng.choice(_TWO)} {target}, {a}, {b};"


def _data(rng: random.Random) -> np.ndarray:
    ends = (0xFF, 0x80, 0xFFFF, 0x8000, 0x7FFF, 0xFFFFFFFF)
    words = [rng.choice((rng.getrandbits(64), *ends)) for _ in range(9)]
    words += [rng.getrandbits(rng.choice((7, 8, 15, 16, 32))) for _ in range(THREADS * REGISTERS - 9)]
    return np.array(words, np.uint64)


PROGRAMS = LoopPrograms("b32", REGISTERS, _LOADS, _step)


@pytest.mark.parametrize("seed", range(12))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vary(seed, monkeypatch)
    rng = random.Random(seed)
    text, data = PROGRAMS.text(rng, (24, 8, 8)), _data(rng)
    reference, kinds = bits_of_both(text, data)
    different = np.argwhere(reference != kinds)
    assert not len(different), (different[:5], text)


GRAY = (
    PROGRAMS.head
    + """
  ld.global.u8 %x0, [%rd1];
  ld.global.u8 %x1, [%rd1+1];
  mul.lo.s32 %x2, %x0, 100;
  mul.lo.s32 %x3, %x1, {factor};
  add.s32 %x4, %x2, %x3;
  shr.u32 %x5, %x4, 8;
  st.global.u8 [%rd2], %x5;
  ret;
}
"""
)


@pytest.mark.parametrize(("factor", "halves"), [(27, True), (156, True), (158, False)])
def test_weighted_bytes_are_halves(factor: int, *, halves: bool) -> None:
    text = GRAY.replace("{factor}", str(factor))
    made = prepare(Compiled(text, "k", "k", "ptx"))
    code = generate(made.program, BlockShape((32, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    assert ("lshr <32 x i16>" in code.text(quick=False)) == halves


def _of(low: int, high: int) -> Value:
    return Value("i32", "%x", None, None, low, high)


@pytest.mark.parametrize(
    ("name", "a", "b", "found"),
    [
        ("add", (0, 255), (0, 255), ("add", True)),
        ("add", (0, 65000), (0, 535), ("add", False)),
        ("add", (0, 65000), (0, 536), None),
        ("sub", (0, 65535), (0, 1), None),
        ("mul", (0, 255), (0, 257), ("mul", False)),
        ("mul", (0, 255), (-1, 257), None),
        ("llvm.smin", (0, 65535), (0, 65535), ("llvm.umin", False)),
        ("llvm.smin", (0, 65535), (-1, 5), None),
        ("llvm.smax", (-9, 9), (-1, 5), ("llvm.smax", True)),
        ("ashr", (0, 65535), (4, 4), ("lshr", True)),
        ("ashr", (-9, 9), (4, 4), ("ashr", True)),
        ("lshr", (-9, 9), (4, 4), None),
        ("lshr", (0, 65535), (16, 16), None),
        ("shl", (0, 0), (16, 16), None),
        ("xor", (-9, 9), (-9, 9), ("xor", True)),
        ("xor", (0, 65535), (-9, 9), None),
        ("udiv", (0, 9), (1, 9), None),
    ],
)
def test_operations_on_lower_halves(
    name: str, a: tuple[int, int], b: tuple[int, int], found: tuple[str, bool] | None
) -> None:
    assert HALVES.operation(name, _of(*a), _of(*b)) == found


def test_comparisons_and_choices_of_lower_halves() -> None:
    byte, half, signed = _of(0, 255), _of(0, 65535), _of(-5, 5)
    assert HALVES.comparison("icmp slt", byte, signed) == "icmp slt"
    assert HALVES.comparison("icmp slt", byte, half) == "icmp ult"
    assert HALVES.comparison("icmp eq", signed, half) is None
    assert HALVES.comparison("icmp slt", byte, Value("i32", "%x")) is None
    assert (HALVES.choice(byte, signed), HALVES.choice(byte, half)) == (True, False)
    assert HALVES.choice(signed, half) is None
    assert not WORDS.has((0, 1 << 31))


APART = (
    PROGRAMS.head
    + """
  ld.global.u8 %x0, [%rd1];
  ld.global.s8 %x1, [%rd1+1];
  ld.global.{type} %x4, [%rd1+2];
  @%p2 bra over;
  add.s32 %x2, %x0, %x1;
  st.global.u32 [%rd2], %x2;
over:
  sub.s32 %x3, %x4, %x1;
  st.global.u32 [%rd2+4], %x3;
  ret;
}
"""
)


@pytest.mark.parametrize(("type_", "halves"), [("u8", True), ("s16", False), ("u16", False)])
def test_narrow_elements_are_halves_in_other_blocks(type_: str, *, halves: bool) -> None:
    text, rng = APART.replace("{type}", type_), random.Random(3)
    reference, kinds = bits_of_both(text, _data(rng))
    assert (reference == kinds).all()
    made = prepare(Compiled(text, "k", "k", "ptx"))
    code = generate(made.program, BlockShape((96, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    body = code.text(quick=False)
    assert "add <32 x i16>" in body
    assert ("sub <32 x i16>" in body) == halves
