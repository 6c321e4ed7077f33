"""Sums of narrow integers, as of absolute differences of bytes, whose bits are the reference's."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

REGISTERS = 8
_NARROW = ("u8", "u8", "u8", "s8", "u16", "s16")


def _step(rng: random.Random) -> str:
    """Differences of what each thread loads and what is one for all, and sums of such."""
    target, a, b = (f"%x{rng.randrange(REGISTERS)}" for _ in range(3))
    match rng.randrange(14):
        case 0 | 1 | 2:
            return f"  ld.global.{rng.choice(_NARROW)} {a}, [%rd1+{rng.randrange(8 * REGISTERS) & ~1}];"
        case 3 | 4:
            place = rng.randrange(8 * REGISTERS) & ~1
            return f"  ld.param.u64 %rd4, [data];\n  ld.global.{rng.choice(_NARROW)} {a}, [%rd4+{place}];"
        case 5 | 6:
            return f"  sub.s32 {target}, {a}, {b};"
        case 7 | 8:
            return f"  sub.s32 {a}, {a}, {b};\n  abs.s32 {a}, {a};"
        case 9:
            return f"  and.b32 {target}, {a}, {rng.choice((255, 127, 65535))};"
        case 10:
            return f"  @%p{rng.choice((1, 2))} add.s32 {target}, {a}, {target};"
        case 11:
            return f"  add.s32 {target}, {a}, {rng.choice((1, -1, 255, 40000, 2147483647))};"
        case _:
            return f"  add.s32 {target}, {a}, {target};"


PROGRAMS = LoopPrograms("b32", REGISTERS, _NARROW, _step)


@pytest.mark.parametrize("seed", range(24))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vary(seed, monkeypatch)
    rng = random.Random(seed)
    text = PROGRAMS.text(rng, (24, 24, 12))
    words = [rng.getrandbits(64) for _ in range(THREADS * REGISTERS)]
    reference, kinds = bits_of_both(text, np.array(words, np.uint64))
    different = np.argwhere(reference != kinds)
    assert not len(different), (different[:5], text)


def _sum_of_differences(type_: str, terms: int) -> str:
    """A program that adds so many differences of two loaded numbers to a word."""
    head = PROGRAMS.head + "  ld.param.u64 %rd4, [data];\n  ld.global.u32 %x0, [%rd1];\n"
    size = int(type_[1:]) // 8
    steps = [
        f"""
  ld.global.{type_} %x1, [%rd1+{size * k}];
  ld.global.{type_} %x2, [%rd4+{size * k}];
  sub.s32 %x3, %x1, %x2;
  abs.s32 %x3, %x3;
  add.s32 %x0, %x3, %x0;
"""
        for k in (k % 64 for k in range(terms))
    ]
    return head + "".join(steps) + "  st.global.u32 [%rd2], %x0;\n  ret;\n}\n"


@pytest.mark.parametrize(("type_", "terms"), [("u8", 16), ("u8", 300), ("s8", 8)])
def test_few_sums_are_of_words(type_: str, terms: int) -> None:
    """As many terms are added as bounds allow before their sum is extended and added to a word."""
    made = prepare(Compiled(_sum_of_differences(type_, terms), "k", "k", "ptx"))
    code = generate(made.program, BlockShape((32, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    text = code.text(quick=False)
    assert text.count("@llvm.umax.v32i8(<32 x i8> %") == (terms if type_ == "u8" else 0)
    added = dict(re.findall(r"(%\S+) = add <32 x i32> (%[^\s,]+), %", text))
    last, found = [*added][-1], 0
    while last in added:
        last, found = added[last], found + 1
    assert found <= terms / 4  # what the last blocks add are sums of their own


def test_sums_beyond_16_bits() -> None:
    data = np.full(THREADS * REGISTERS * 8, 255, np.uint8)
    data[: 8 * REGISTERS] = 0
    reference, kinds = bits_of_both(_sum_of_differences("u8", 300), data.view(np.uint64))
    assert (reference == kinds).all()
