"""Constants that lanes look up by number: a table is data of the kernel's module.

Processors with AVX-512 pick words from two registers in one instruction, which takes a fraction of what a
gather takes as long as a table fills few registers.
"""

from __future__ import annotations

from ...isa.lanes import Table
from ...isa.types import BITS
from ..builder import Builder, suffix, vector
from ..machine.target import picks_words
from ..values.value import literal

_WORDS = 16  # in a register
_PAIR = 2 * _WORDS
_MOST_PAIRS = 4  # of registers that a table fills


def looked_up(b: Builder, table: Table, index: str, lanes: int) -> str:
    """The constants that lanes number, or of one lane the scalar."""
    name, pairs = f"@wg_{table.name}", -(-len(table.patterns) // _PAIR)
    patterns = [*table.patterns, *[0] * (pairs * _PAIR - len(table.patterns))]
    contents = ", ".join(f"{table.type} {literal(table.type, one, BITS[table.type])}" for one in patterns)
    whole = f"[{len(patterns)} x {table.type}]"
    b.declarations.add(f"{name} = private unnamed_addr constant {whole} [{contents}], align 64")
    if lanes == 1:
        return b.load(table.type, b.value(f"getelementptr {table.type}, ptr {name}, i32 {index}"))
    few = pairs <= _MOST_PAIRS and table.type == "i32" and lanes % _WORDS == 0
    if few and picks_words():
        return _picked(b, name, pairs, index, lanes)
    return _gathered(b, table.type, name, index, lanes)


def _gathered(b: Builder, type_: str, name: str, index: str, lanes: int) -> str:
    whole, places = vector(type_, lanes), vector("ptr", lanes)
    where = b.value(f"getelementptr {type_}, ptr {name}, {vector('i32', lanes)} {index}")
    args = [(places, f"align {BITS[type_] // 8} {where}"), (vector("i1", lanes), "splat (i1 true)")]
    function = f"llvm.masked.gather.{suffix(type_, lanes)}.{suffix('ptr', lanes)}"
    return b.call(whole, function, [*args, (whole, "poison")])


def _picked(b: Builder, name: str, pairs: int, index: str, lanes: int) -> str:
    """From each pair of registers with the lowest bits of the index, and of those with the others."""
    part = vector("i32", _WORDS)
    words = [b.load(part, b.offset(name, 4 * _WORDS * k), ", align 64") for k in range(2 * pairs)]
    found: list[str] = []
    for first in range(0, lanes, _WORDS):
        own = index
        if lanes > _WORDS:
            own = b.shuffle("i32", lanes, index, range(first, first + _WORDS))
        choices = [
            b.call(part, "llvm.x86.avx512.vpermi2var.d.512", [(part, low), (part, own), (part, high)])
            for low, high in zip(words[::2], words[1::2], strict=True)
        ]
        bit = _PAIR
        while len(choices) > 1:
            tested = b.value(f"and {part} {own}, splat (i32 {bit})")
            upper = b.value(f"icmp ne {part} {tested}, zeroinitializer")
            choices = [_either(b, upper, choices[k : k + 2]) for k in range(0, len(choices), 2)]
            bit *= 2
        found += choices
    return b.joined("i32", found, _WORDS)


def _either(b: Builder, upper: str, choices: list[str]) -> str:
    if len(choices) == 1:
        return choices[0]
    part = vector("i32", _WORDS)
    return b.value(f"select {vector('i1', _WORDS)} {upper}, {part} {choices[1]}, {part} {choices[0]}")
