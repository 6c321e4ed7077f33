"""Loads by 32-bit indices where a gather is slow or elements are narrow: functions that a kernel has once."""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import Builder
from ..machine.target import gathers_quickly
from .gather_scatter import (
    gather_at_once,
    gather_by_index,
    gather_bytes,
    part_of_words,
    pick_name,
    pointers_of,
)


def pick_helper(type_: str, shift: int, declarations: set[str], width: int) -> str:
    """`@wg_pick_T_S`: loads from checked places, `%index` steps of S bytes from one; inactive lanes get zero.

    If all lanes load, each has a load of its own, as in `@wg_fetch_T`; the indices go through memory.
    """
    b = Builder(declarations, width)
    whole, indices, size = b.vector(type_), b.vector("i32"), BITS[type_] // 8
    apart = "apart"
    b.emit(f"%places = alloca {indices}, align 64")
    if gathers_quickly() and size == 1 << shift:
        _pick_words(b, type_, apart)
    else:
        b.jump(apart)
    b.place(apart)
    b.branch(b.value(f"icmp eq {b.lanes} %mask, -1"), "every", "some")
    b.place("every")
    b.store_for_lanes("i32", "%index", "%places")
    found = "poison"
    for lane in range(width):
        one = b.value(f"load volatile i32, ptr {b.offset('%places', 4 * lane)}, align 4")
        place = pointers_of(b, "%from", f"i32 {one}", shift)
        element = b.load(type_, place, f", align {min(size, 1 << shift)}")
        found = b.value(f"insertelement {whole} {found}, {type_} {element}, i32 {lane}")
    b.emit(f"ret {whole} {found}")
    b.place("some")
    pointers = pointers_of(b, "%from", f"{indices} %index", shift)
    some = gather_at_once if size >= 4 else gather_bytes
    b.emit(f"ret {whole} {some(b, pointers, type_, '%mask')}")
    body = "\n".join(b.lines)
    return f"""
define internal {whole} @{pick_name(type_, shift)}(
  ptr %from, {indices} %index, {b.lanes} %mask
) noinline #0 {{
{body}
}}
"""


def _pick_words(b: Builder, type_: str, otherwise: str) -> None:
    """Return narrow elements as parts of aligned words, unless one lies in two: `otherwise` goes on."""
    words, size = b.vector("i32"), BITS[type_] // 8
    per = 4 // size
    host = b.value("ptrtoint ptr %from to i64")
    within = b.value(f"and i64 {host}, 3")
    b.branch(b.value(f"icmp eq i64 {b.value(f'and i64 {within}, {size - 1}')}, 0"), "words", otherwise)
    b.place("words")
    first = b.value(f"getelementptr i8, ptr %from, i64 {b.value(f'sub i64 0, {within}')}")
    more = b.value(f"trunc i64 {b.value(f'udiv i64 {within}, {size}')} to i32")
    element = b.value(f"add {words} %index, {b.splat('i32', more)}")
    of_word = b.value(f"ashr {words} {element}, splat (i32 {per.bit_length() - 1})")
    found = gather_by_index(b, first, of_word, 2, "i32", "%mask")
    rest = b.value(f"and {words} {element}, splat (i32 {per - 1})")
    bits = b.value(f"mul {words} {rest}, splat (i32 {8 * size})")
    b.emit(f"ret {b.vector(type_)} {part_of_words(b, found, bits, type_)}")
