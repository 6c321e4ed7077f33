"""Vectors of words of four bytes or two halves: sums of products of these, and windows of bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..builder import Builder, constant_vector
from ..machine.target import multiplies_bytes, picks_bits
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

WORDS_OF_A_REGISTER = 16  # of AVX-512
_SIGNS = f"splat (i32 {-0x7F7F7F80})"  # the highest bit of each byte


def dot_of_bytes(
    lanes: FastArithmetic, onto: Value, a: Value, b: Value, a_signed: bool, b_signed: bool
) -> Value:
    """The products of two words' bytes added to a word."""
    if a_signed == b_signed and (b if a_signed else a).offsets is None:
        a, b = b, a  # what is subtracted is then the same in all lanes, if one is
    if a_signed and not b_signed:
        a, b, a_signed, b_signed = b, a, b_signed, a_signed
    by_instruction = multiplies_bytes() and lanes.builder.width % WORDS_OF_A_REGISTER == 0
    given = [lanes.as_vector(one).ir for one in (onto, a, b)]
    emit = _by_instruction if by_instruction else _by_halves
    return Value("i32", emit(lanes.builder, *given, a_signed=a_signed, b_signed=b_signed))


def _by_instruction(b: Builder, onto: str, one: str, two: str, a_signed: bool, b_signed: bool) -> str:
    """AVX-512's products of bytes without and with sign: a byte of the other kind is 128 off."""
    if a_signed != b_signed:
        return _by_registers(b, _PRODUCTS_OF_BYTES, onto, one, two)
    whole = b.vector("i32")
    more = (_SIGNS, two) if a_signed else (one, _SIGNS)
    # What is too much depends on one operand alone, which often stays the same.
    more_products = _by_registers(b, _PRODUCTS_OF_BYTES, "zeroinitializer", *more)
    changed = b.value(f"xor {whole} {one if a_signed else two}, {_SIGNS}")
    given = (changed, two) if a_signed else (one, changed)
    return b.value(f"sub {whole} {_by_registers(b, _PRODUCTS_OF_BYTES, onto, *given)}, {more_products}")


_PRODUCTS_OF_BYTES = "llvm.x86.avx512.vpdpbusd.512"
_ALIKE = ("zeroinitializer", _SIGNS)  # constants of any number of lanes


def _by_registers(b: Builder, name: str, *operands: str) -> str:
    """An instruction on registers of words, for all lanes."""
    one = f"<{WORDS_OF_A_REGISTER} x i32>"
    parts: list[str] = []
    for first in range(0, b.width, WORDS_OF_A_REGISTER):
        own = range(first, first + WORDS_OF_A_REGISTER)
        args = [(one, text if text in _ALIKE else b.shuffle("i32", b.width, text, own)) for text in operands]
        parts.append(b.call(one, name, args))
    return b.joined("i32", parts, WORDS_OF_A_REGISTER)


def dot_of_halves(lanes: FastArithmetic, onto: Value, a: Value, b: Value) -> Value | None:
    """The products of two words' halves added to a word, where there is an instruction for that."""
    if not multiplies_bytes() or lanes.builder.width % WORDS_OF_A_REGISTER:
        return None
    given = [lanes.as_vector(one).ir for one in (onto, a, b)]
    return Value("i32", dot_of_ordered_halves(lanes.builder, *given))


def dot_of_ordered_halves(b: Builder, onto: str, one: str, two: str) -> str:
    """The same by that instruction, of vectors of words in any order."""
    return _by_registers(b, "llvm.x86.avx512.vpdpwssd.512", onto, one, two)


def windows_of_bits(lanes: FastArithmetic, a: Value, starts: Sequence[int]) -> Value | None:
    """Words of the eight bits from each of four places on, where there is an instruction for that."""
    builder = lanes.builder
    if a.offsets is not None or not picks_bits() or builder.width % WORDS_OF_A_REGISTER:
        return None
    # It picks bits of pairs of words.
    places = [start + 32 * (word % 2) for word in range(WORDS_OF_A_REGISTER) for start in starts]
    bytes_, one = f"<{4 * WORDS_OF_A_REGISTER} x i8>", f"<{WORDS_OF_A_REGISTER} x i32>"
    parts: list[str] = []
    for first in range(0, builder.width, WORDS_OF_A_REGISTER):
        own = builder.shuffle("i32", builder.width, a.ir, range(first, first + WORDS_OF_A_REGISTER))
        words = builder.value(f"bitcast {one} {own} to {bytes_}")
        args = [(bytes_, constant_vector("i8", places)), (bytes_, words)]
        found = builder.call(bytes_, "llvm.x86.avx512.pmultishift.qb.512", args)
        parts.append(builder.value(f"bitcast {bytes_} {found} to {one}"))
    return Value("i32", builder.joined("i32", parts, WORDS_OF_A_REGISTER))


def _by_halves(b: Builder, onto: str, one: str, two: str, a_signed: bool, b_signed: bool) -> str:
    """Even and odd bytes as halves of words: processors multiply such and add pairs of products."""
    halves = [_bytes_apart(b, text, signed) for text, signed in ((one, a_signed), (two, b_signed))]
    whole, double = b.vector("i32"), 2 * b.width
    for pair in zip(*halves, strict=True):
        wide = [b.value(f"sext <{double} x i16> {text} to <{double} x i32>") for text in pair]
        products = b.value(f"mul <{double} x i32> {wide[0]}, {wide[1]}")
        even, odd = (b.shuffle("i32", double, products, range(first, double, 2)) for first in (0, 1))
        # Those of one word are added to each other first: so processors have it as an instruction.
        onto = b.value(f"add {whole} {onto}, {b.value(f'add {whole} {even}, {odd}')}")
    return onto


def _bytes_apart(b: Builder, words: str, signed: bool) -> tuple[str, str]:
    """The even and the odd bytes of vectors of words as numbers of 16 bits."""
    halves = f"<{2 * b.width} x i16>"
    both = b.value(f"bitcast {b.vector('i32')} {words} to {halves}")
    moved = b.value(f"shl {halves} {both}, splat (i16 8)")
    shift = "ashr" if signed else "lshr"
    even, odd = (b.value(f"{shift} {halves} {one}, splat (i16 8)") for one in (moved, both))
    return even, odd
