"""Sums of products of 16-bit integers, two at a time: random programs whose bits are the reference's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.lanes import paired_products
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

REGISTERS = 8
_NARROW = ("s16", "s16", "s16", "u8", "s8", "u16")


def _step(rng: random.Random) -> str:
    """Mostly products added up; factors are loaded by each thread, or are one for all."""
    target, a, b, c = (f"%x{rng.randrange(REGISTERS)}" for _ in range(4))
    match rng.randrange(12):
        case 0 | 1 | 2:
            return f"  ld.global.{rng.choice(_NARROW)} {a}, [%rd1+{rng.randrange(8 * REGISTERS) & ~1}];"
        case 3 | 4:
            place = rng.randrange(8 * REGISTERS) & ~1
            return f"  ld.param.u64 %rd4, [data];\n  ld.global.{rng.choice(_NARROW)} {a}, [%rd4+{place}];"
        case 5:
            return f"  add.s32 {target}, {a}, {b};"
        case 6:
            constant = rng.choice((3, -32768, 32767, 255, 32768, -1))
            return f"  mad.lo.s32 {target}, {a}, {constant}, {target};"
        case 7:
            return f"  mul.lo.s32 {target}, {a}, {b};"
        case 8:
            return f"  @%p{rng.choice((1, 2))} mad.lo.s32 {target}, {a}, {b}, {target};"
        case _:
            return f"  mad.lo.s32 {c}, {a}, {b}, {c};"


PROGRAMS = LoopPrograms("b32", REGISTERS, _NARROW, _step)


@pytest.mark.parametrize("seed", range(16))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vary(seed, monkeypatch)
    rng = random.Random(seed)
    text = PROGRAMS.text(rng, (24, 12, 12))
    ends = (0x8000800080008000, 0x7FFF80007FFF8000, (1 << 64) - 1)
    words = [rng.choice((rng.getrandbits(64), *ends)) for _ in range(THREADS * REGISTERS)]
    reference, kinds = bits_of_both(text, np.array(words, np.uint64))
    different = np.argwhere(reference != kinds)
    assert not len(different), (different[:5], text)


FILTER = (
    PROGRAMS.head
    + """
  ld.param.u64 %rd4, [data];
  mov.u32 %x0, 16384;
"""
    + "".join(
        f"""
  ld.global.s16 %x1, [%rd1+{2 * k}];
  ld.global.{{type}} %x2, [%rd4+{2 * k}];
  mad.lo.s32 %x0, %x1, %x2, %x0;
"""
        for k in range(4)
    )
    + """
  st.global.u32 [%rd2], %x0;
  ret;
}
"""
)


@pytest.mark.skipif(not paired_products.multiplies_bytes(), reason="the processor has no such products")
@pytest.mark.parametrize(("type_", "pairs"), [("s16", 2), ("u8", 2), ("u16", 0)])
def test_two_products_are_one_instruction(type_: str, pairs: int) -> None:
    """If all numbers of both factors have 16 bits with the sign."""
    text = FILTER.replace("{type}", type_)
    made = prepare(Compiled(text, "k", "k", "ptx"))
    code = generate(made.program, BlockShape((32, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    assert code.text(quick=False).count("call <16 x i32> @llvm.x86.avx512.vpdpwssd.512") == 2 * pairs
