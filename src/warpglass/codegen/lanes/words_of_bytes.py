"""Vectors of words of four bytes: sums of products of their bytes, and words of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..builder import Builder
from ..machine.target import multiplies_bytes
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

_WORDS = 16  # of a register of AVX-512
_SIGNS = f"splat (i32 {-0x7F7F7F80})"  # the highest bit of each byte


def picked_bytes(lanes: FastArithmetic, a: Value, b: Value, places: Sequence[int]) -> Value:
    """A shuffle of bytes, of which LLVM makes one of all that follow each other."""
    builder, size = lanes.builder, 4 * lanes.builder.width
    bytes_ = [
        builder.value(f"bitcast {builder.vector('i32')} {lanes.as_vector(one).ir} to <{size} x i8>")
        for one in (a, b)
    ]
    picks = [first + place % 4 + place // 4 * size for first in range(0, size, 4) for place in places]
    found = builder.shuffle("i8", size, bytes_[0], picks, bytes_[1])
    return Value("i32", builder.value(f"bitcast <{size} x i8> {found} to {builder.vector('i32')}"))


def dot_of_bytes(lanes: FastArithmetic, a: Value, b: Value, a_signed: bool, b_signed: bool) -> Value:
    """The sum of the products of two words' bytes."""
    if a_signed == b_signed and (b if a_signed else a).offsets is None:
        a, b = b, a  # what is subtracted is then the same in all lanes, if one is
    if a_signed and not b_signed:
        a, b, a_signed, b_signed = b, a, b_signed, a_signed
    if multiplies_bytes() and lanes.builder.width % _WORDS == 0:
        return Value("i32", _by_instruction(lanes, a, b, a_signed, b_signed))
    return Value("i32", _by_halves(lanes, a, b, a_signed, b_signed))


def _by_instruction(lanes: FastArithmetic, a: Value, b: Value, a_signed: bool, b_signed: bool) -> str:
    """AVX-512's products of bytes without and with sign: a byte of the other kind is 128 off."""
    builder = lanes.builder
    whole, given = builder.vector("i32"), [lanes.as_vector(one).ir for one in (a, b)]
    if a_signed == b_signed:
        changed = 0 if a_signed else 1
        more = [_SIGNS, given[1]] if a_signed else [given[0], _SIGNS]
        given[changed] = builder.value(f"xor {whole} {given[changed]}, {_SIGNS}")
        products, more_products = (_products(builder, *pair) for pair in (given, more))
        return builder.value(f"sub {whole} {products}, {more_products}")
    return _products(builder, *given)


def _products(b: Builder, unsigned: str, signed: str) -> str:
    one = f"<{_WORDS} x i32>"
    parts: list[str] = []
    for first in range(0, b.width, _WORDS):
        pair = (b.shuffle("i32", b.width, each, range(first, first + _WORDS)) for each in (unsigned, signed))
        args = [(one, "zeroinitializer"), *((one, text) for text in pair)]
        parts.append(b.call(one, "llvm.x86.avx512.vpdpbusd.512", args))
    return b.joined("i32", parts, _WORDS)


def _by_halves(lanes: FastArithmetic, a: Value, b: Value, a_signed: bool, b_signed: bool) -> str:
    """Even and odd bytes as halves of words: processors multiply such and add pairs of products."""
    builder, found = lanes.builder, "zeroinitializer"
    whole, double = builder.vector("i32"), 2 * builder.width
    halves = [
        _bytes_apart(builder, lanes.as_vector(x).ir, signed) for x, signed in ((a, a_signed), (b, b_signed))
    ]
    for pair in zip(*halves, strict=True):
        wide = [builder.value(f"sext <{double} x i16> {one} to <{double} x i32>") for one in pair]
        products = builder.value(f"mul <{double} x i32> {wide[0]}, {wide[1]}")
        for first in (0, 1):
            own = builder.shuffle("i32", double, products, range(first, double, 2))
            found = builder.value(f"add {whole} {found}, {own}")
    return found


def _bytes_apart(b: Builder, words: str, signed: bool) -> tuple[str, str]:
    """The even and the odd bytes of vectors of words as numbers of 16 bits."""
    halves = f"<{2 * b.width} x i16>"
    both = b.value(f"bitcast {b.vector('i32')} {words} to {halves}")
    moved = b.value(f"shl {halves} {both}, splat (i16 8)")
    shift = "ashr" if signed else "lshr"
    even, odd = (b.value(f"{shift} {halves} {one}, splat (i16 8)") for one in (moved, both))
    return even, odd
