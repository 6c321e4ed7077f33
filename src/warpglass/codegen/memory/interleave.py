"""Structures one behind the other: from memory's order into a register for each field, and back.

Belongs here: the order of shuffles. All are of two vector registers at a time, as processors have them; of
whole vectors LLVM would make one shuffle for each result and operand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder


def interleave(b: Builder, type_: str, fields: Sequence[str | None], size: int) -> list[str]:
    """Registers with the first lane's fields, then the second's, of a register of `size` lanes for each.

    Nobody wants the elements of fields that are None.
    """
    count = len(fields)
    if count == 1:
        return [fields[0] or "poison"]
    if count % 2 == 0:
        wanted = [half if any(half) else [None] for half in (fields[::2], fields[1::2])]
        even, odd = (interleave(b, type_, half, size) for half in wanted)
        even, odd = (half * (count // 2 // len(half)) for half in (even, odd))
        starts = (0, size // 2)
        picks = [[k + part for k in range(at, at + size // 2) for part in (0, size)] for at in starts]
        return [b.shuffle(type_, size, x, own, y) for x, y in zip(even, odd, strict=True) for own in picks]
    places = [divmod(place, count) for place in range(count * size)]
    return [
        _merged(b, type_, fields, [(field, lane) for lane, field in places[first : first + size]])
        for first in range(0, count * size, size)
    ]


def deinterleave(b: Builder, type_: str, registers: Sequence[str], size: int) -> list[str]:
    """The register of each field, of registers that `interleave` might have made."""
    count = len(registers)
    if count == 1:
        return [registers[0]]
    if count % 2 == 0:
        pairs = list(zip(registers[::2], registers[1::2], strict=True))
        even, odd = (
            deinterleave(
                b, type_, [b.shuffle(type_, size, x, range(part, 2 * size, 2), y) for x, y in pairs], size
            )
            for part in (0, 1)
        )
        return [field for pair in zip(even, odd, strict=True) for field in pair]
    return [
        _merged(b, type_, registers, [divmod(field + count * lane, size) for lane in range(size)])
        for field in range(count)
    ]


def _merged(b: Builder, type_: str, operands: Sequence[str | None], picks: Sequence[tuple[int, int]]) -> str:
    """A register whose elements are those of operands at places, (operand, place) for each."""
    size, found = len(picks), "poison"
    for number, operand in enumerate(operands):
        if operand is not None and any(chosen == number for chosen, _ in picks):
            moved = [size + at if chosen == number else k for k, (chosen, at) in enumerate(picks)]
            found = b.shuffle(type_, size, found, moved, operand)
    return found
