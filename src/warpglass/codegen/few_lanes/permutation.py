"""Few lanes side by side by permutations of whole registers, where processors pick elements of any two.

An element at a time takes as many instructions as there are lanes, and the warp's code, which reads whole
registers, waits until all stores of single elements are through.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import Builder, constant_vector, vector
from ..machine.target import packs_bytes
from .find import Form

_REGISTER = 512  # bits
_LETTER = {32: "d", 64: "q"}


class Permutation:
    """Which of the warp's lanes, `%everyone`, each of few is.

    `present` is the mask of those there are; `to` their numbers, of others the number of the warp's lanes.
    """

    @staticmethod
    def is_possible(form: Form, width: int) -> bool:
        """Whether there are instructions for so many lanes."""
        return packs_bytes() and not form.alone and form.width * 64 == _REGISTER and width in (32, 64)

    def __init__(self, b: Builder, width: int):
        self._b, self._width = b, width
        self._everyone = f"i{width} %everyone"
        lanes, bytes_ = vector("i1", width), vector("i8", width)
        active = b.value(f"bitcast {self._everyone} to {lanes}")
        first = b.call(f"i{width}", f"llvm.cttz.i{width}", [(f"i{width}", "%everyone"), ("i1", "true")])
        others = b.splat("i8", b.value(f"trunc i{width} {first} to i8"), width)
        iota = constant_vector("i8", range(width))
        args = [(bytes_, iota), (bytes_, others), (lanes, active)]
        self._active = active
        self._from = b.call(bytes_, f"llvm.x86.avx512.mask.compress.v{width}i8", args)
        args[1] = bytes_, "zeroinitializer"
        self._ranks = b.call(bytes_, f"llvm.x86.avx512.mask.expand.v{width}i8", args)
        count = b.call(f"i{width}", f"llvm.ctpop.i{width}", [(f"i{width}", "%everyone")])
        few = b.splat("i64", count if width == 64 else b.value(f"zext i{width} {count} to i64"))
        words, own = b.vector("i64"), constant_vector("i64", range(b.width))
        there = b.value(f"icmp ult {words} {own}, {few}")
        self.present = b.mask_bits(there)
        nowhere = f"{words} splat (i64 {width})"
        self.to = b.value(f"select {b.vector('i1')} {there}, {words} {self.numbers('i64')}, {nowhere}")

    def numbers(self, type_: str) -> str:
        """The lanes that elements are taken from, of an index's register; the first one's for none."""
        return self._part(self._from, 0, type_)

    def _part(self, bytes_: str, first: int, type_: str) -> str:
        """A register of integers from so many bytes on."""
        b, size = self._b, _REGISTER // BITS[type_]
        own = b.shuffle("i8", self._width, bytes_, range(first, first + size))
        return b.value(f"zext <{size} x i8> {own} to <{size} x {type_}>")

    # ------------------------------------------------------------------------------------ predicates
    def packed_bits(self, word: str) -> str:
        """The bits that few lanes have in a word of the warp's, as a mask of few."""
        return self._b.value(f"trunc i{self._width} {self._moved_bits('pext', word)} to {self._b.lanes}")

    def spread_bits(self, mask: str) -> str:
        """A mask of few lanes as one of the warp's."""
        return self._moved_bits("pdep", self._b.value(f"zext {self._b.lanes} {mask} to i{self._width}"))

    def _moved_bits(self, how: str, word: str) -> str:
        return self._b.call(
            f"i{self._width}",
            f"llvm.x86.bmi.{how}.{self._width}",
            [(f"i{self._width}", word), (f"i{self._width}", "%everyone")],
        )

    # ------------------------------------------------------------------------------------ registers
    def moves(self, type_: str) -> bool:
        """Whether registers of a type are permuted."""
        return BITS[type_] in _LETTER

    def taken(self, place: str, type_: str) -> str:
        """The elements of few lanes from where all lanes have theirs."""
        b, integer, size = self._b, f"i{BITS[type_]}", _REGISTER // BITS[type_]
        whole, numbers = vector(integer, size), self.numbers(f"i{BITS[type_]}")
        name = f"llvm.x86.avx512.vpermi2var.{_LETTER[BITS[type_]]}.512"
        pairs = b.value(f"lshr {whole} {numbers}, splat ({integer} {size.bit_length()})")
        found = ""
        for pair in range(self._width // (2 * size)):
            one, two = (self._load(place, 2 * pair + half, whole) for half in (0, 1))
            picked = b.call(whole, name, [(whole, one), (whole, numbers), (whole, two)])
            own = b.value(f"icmp eq {whole} {pairs}, splat ({integer} {pair})") if pair else ""
            chosen = f"select {vector('i1', size)} {own}, {whole} {picked}, {whole} {found}"
            found = b.value(chosen) if pair else picked
        return self._as(b.shuffle(integer, size, found, range(b.width)), integer, type_)

    def give(self, place: str, type_: str, text: str) -> None:
        """Put the elements of few lanes where all lanes have theirs."""
        b, integer, size = self._b, f"i{BITS[type_]}", _REGISTER // BITS[type_]
        whole, letters = vector(integer, size), {32: "si", 64: "di"}
        text = b.shuffle(integer, b.width, self._as(text, type_, integer), (k % b.width for k in range(size)))
        for part in range(self._width // size):
            first = part * size
            ranks = self._part(self._ranks, first, integer)
            name = f"llvm.x86.avx512.permvar.{letters[BITS[type_]]}.512"
            moved = b.call(whole, name, [(whole, text), (whole, ranks)])
            active = b.shuffle("i1", self._width, self._active, range(first, first + size))
            old = self._load(place, part, whole)
            new = b.value(f"select {vector('i1', size)} {active}, {whole} {moved}, {whole} {old}")
            b.store(whole, new, b.offset(place, part * _REGISTER // 8), ", align 64")

    def _load(self, place: str, part: int, whole: str) -> str:
        return self._b.load(whole, self._b.offset(place, part * _REGISTER // 8), ", align 64")

    def _as(self, text: str, have: str, want: str) -> str:
        b = self._b
        return text if have == want else b.value(f"bitcast {b.vector(have)} {text} to {b.vector(want)}")
