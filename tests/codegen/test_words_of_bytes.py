"""Bytes picked from words and sums of their products: random programs whose bits are the reference's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from warpglass.codegen.lanes import words_of_bytes

REGISTERS = 6
# The same number in all lanes, which no compiler knows.
_SHARED = "  ld.param.u32 %r5, [out];\n  mul.lo.u32 %r5, %r5, 0x9e3779b1;\n"


def _step(rng: random.Random) -> str:
    target, a, b, c = (f"%x{rng.randrange(REGISTERS)}" for _ in range(4))
    a, b = rng.choice(((a, b), (a, b), ("%r5", b), (a, "%r5"), (a, hex(rng.getrandbits(32)))))
    guard = rng.choice(("", "", "@%p1 ", "@%p2 "))
    match rng.randrange(6):
        case 0:
            return f"  add.u32 {target}, {a}, {b};"
        case 1 | 2:
            signs = "".join(rng.choice((".s32", ".u32")) for _ in range(2))
            return f"  {guard}dp4a{signs} {target}, {a}, {b}, {c};"
        case _:
            selector = rng.getrandbits(16) & rng.choice((0x7777, 0x7777, 0xFFFF))
            return f"  {guard}prmt.b32 {target}, {a}, {b}, {selector};"


PROGRAMS = LoopPrograms("b32", REGISTERS, ("u8", "s8", "u32"), lambda rng: _SHARED + _step(rng))


@pytest.mark.parametrize("seed", range(12))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the processor's products of bytes, if it has them, and without."""
    vary(seed, monkeypatch)
    if seed % 2:
        monkeypatch.setattr(words_of_bytes, "multiplies_bytes", lambda: False)
    rng = random.Random(seed)
    text = PROGRAMS.text(rng, (12, 6, 6))
    words = [rng.choice((rng.getrandbits(64), 0x8080808080808080, (1 << 64) - 1)) for _ in range(THREADS * 6)]
    reference, kinds = bits_of_both(text, np.array(words, np.uint64))
    different = np.argwhere(reference != kinds)
    assert not len(different), (different[:5], text)


FORMS = (
    PROGRAMS.head
    + _SHARED
    + """
  shr.u32 %r5, %r5, 24;
  mul.lo.u32 %x0, %r1, 11;
  ld.global.u32 %x1, [%rd1];
  prmt.b32 %x2, %r5, %x0, 0x3214;
  prmt.b32 %x3, %x1, %r5, 0x7654;
  dp4a.u32.u32 %x4, %r5, %r1, %x0;
  st.global.u32 [%rd2], %x2;
  st.global.u32 [%rd2+4], %x3;
  st.global.u32 [%rd2+8], %x4;
  ret;
}
"""
)


def test_bytes_of_values_with_a_form() -> None:
    """Numbers of threads and one number for all, whose bytes may have a form, too."""
    reference, kinds = bits_of_both(FORMS, np.arange(THREADS * REGISTERS, dtype=np.uint64))
    assert (reference == kinds).all()
