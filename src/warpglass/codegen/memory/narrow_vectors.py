"""Vectors of narrow elements as one word: `ld.v4.u8` moves 32 bits, which hosts gather at once."""

from __future__ import annotations

from collections.abc import Sequence

from ...isa.types import BITS
from ..builder import Builder, vector

_WIDEST = 64


def word_type(type_: str, count: int) -> str | None:
    """The LLVM integer type as wide as `count` elements; None where they are better moved as they are."""
    bits = BITS[type_] * count
    return f"i{bits}" if count > 1 and BITS[type_] < 32 and bits <= _WIDEST else None


def split_word(b: Builder, word: str, type_: str, count: int, lanes: int) -> list[str]:
    """The elements of words of so many lanes, the one at the lowest address first."""
    narrow = f"i{BITS[type_]}"
    wide, parts, whole = (vector(one, lanes) for one in (f"i{BITS[type_] * count}", narrow, type_))
    found: list[str] = []
    for k in range(count):
        moved = b.value(f"lshr {wide} {word}, {_all(str(k * BITS[type_]), wide, lanes)}") if k else word
        part = b.value(f"trunc {wide} {moved} to {parts}")
        found.append(part if type_ == narrow else b.value(f"bitcast {parts} {part} to {whole}"))
    return found


def element_of(b: Builder, words: str, type_: str, count: int, number: int) -> str:
    """One of the `count` elements of all lanes' words, as shuffles of registers."""
    narrow, lanes = f"i{BITS[type_]}", count * b.width
    whole = b.vector(f"i{BITS[type_] * count}")
    parts = b.value(f"bitcast {whole} {words} to {vector(narrow, lanes)}")
    part = b.shuffle(narrow, lanes, parts, range(number, lanes, count))
    return part if type_ == narrow else b.value(f"bitcast {b.vector(narrow)} {part} to {b.vector(type_)}")


def words_of(b: Builder, type_: str, elements: Sequence[str]) -> str:
    """The words of all lanes that such elements make up, the first at the lowest address."""
    parts, count = b.interleaved(type_, elements, b.width), len(elements)
    whole = vector(type_, count * b.width)
    return b.value(f"bitcast {whole} {parts} to {b.vector(f'i{BITS[type_] * count}')}")


def join_word(b: Builder, elements: Sequence[str], type_: str, lanes: int) -> str:
    """The words of so many lanes that elements make up, the first at the lowest address."""
    narrow = f"i{BITS[type_]}"
    wide = vector(f"i{BITS[type_] * len(elements)}", lanes)
    parts, whole = vector(narrow, lanes), vector(type_, lanes)
    found = ""
    for k, element in enumerate(elements):
        part = element if type_ == narrow else b.value(f"bitcast {whole} {element} to {parts}")
        part = b.value(f"zext {parts} {part} to {wide}")
        if k:
            moved = b.value(f"shl {wide} {part}, {_all(str(k * BITS[type_]), wide, lanes)}")
            part = b.value(f"or {wide} {found}, {moved}")
        found = part
    return found


def _all(value: str, wide: str, lanes: int) -> str:
    """A constant in all lanes."""
    return value if lanes == 1 else f"splat ({wide.split()[-1].rstrip('>')} {value})"
