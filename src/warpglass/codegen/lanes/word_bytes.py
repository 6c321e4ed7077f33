"""Which bytes of which words vectors of integers are made of: bytes put together may be those words again.

Compilers load the bytes of a word one by one where nothing says that they are aligned, and join them for a
product of four. Where all of them were cut out of words that were loaded together (memory/tile_loads.py), one
shuffle of these makes the joined word, or none, whatever was between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

_Byte = tuple[str, int] | None  # a vector of words and the byte's place in each; None for zero
_NOTHING = "zeroinitializer"


class WordBytes:
    """What is known of vectors' bytes, the lowest first."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self._known: dict[str, tuple[_Byte, ...]] = {}

    def note(self, result: Value, operation: str, operands: Sequence[Value]) -> None:
        """An instruction on vectors has given another."""
        if operation == "zext" and operands[0].type in ("i8", "i16"):
            known = self._find(operands[0])
            if known is not None:
                more = BITS[result.type] // 8 - len(known)
                self._known[result.ir] = (*known, *(None,) * more)

    def _find(self, a: Value) -> tuple[_Byte, ...] | None:
        part = self._lanes.access.parts_of_words.get(a.ir)
        return self._known.get(a.ir) if part is None else (part,)

    def _of_word(self, a: Value) -> tuple[_Byte, ...]:
        known, words = self._find(a), self._lanes.as_vector(a).ir
        return known or tuple((words, place) for place in range(4))

    def picked(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """Words of four of the eight bytes of two others.

        LLVM makes one shuffle of all that follow each other.
        """
        both = (*self._of_word(a), *self._of_word(b))
        bytes_ = tuple([both[place] for place in places])
        words = list(dict.fromkeys(_NOTHING if byte is None else byte[0] for byte in bytes_))
        if len(words) > 2:
            words = [self._lanes.as_vector(one).ir for one in (a, b)]
            found = self._shuffled(words, [divmod(place, 4) for place in places])
        elif bytes_ == tuple((words[0], place) for place in range(4)):
            return Value("i32", words[0])
        else:
            picks = ((_NOTHING, 0) if byte is None else byte for byte in bytes_)
            found = self._shuffled(words, [(words.index(word), place) for word, place in picks])
        self._known[found] = bytes_
        return Value("i32", found)

    def _shuffled(self, words: Sequence[str], picks: Sequence[tuple[int, int]]) -> str:
        """Words of bytes, of each the number of one of at most two vectors, and the place there."""
        b = self._lanes.builder
        size, whole = 4 * b.width, b.vector("i32")
        bytes_ = [
            word if word == _NOTHING else b.value(f"bitcast {whole} {word} to <{size} x i8>")
            for word in words
        ]
        chosen = [first + place + number * size for first in range(0, size, 4) for number, place in picks]
        return b.value(
            f"bitcast <{size} x i8> {b.shuffle('i8', size, bytes_[0], chosen, bytes_[-1])} to {whole}"
        )
