"""The order of an instruction's modifiers: the manual fixes it, ptxas does not.

ptxas reads an instruction's name, `mul.wide` or `cp.async`, and behind it modifiers in any order. Order has a
meaning only among modifiers of one kind: `cvt.f32.s32` converts to the first type from the second. Notation
gives the manual's order; here are the exceptions from any other, as found by asking ptxas 13.0 for
permutations of every row (tests/isa/test_spelling.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

# Modifiers that belong to an instruction's name: they follow the opcode, in the notation's order.
_NAMES: Mapping[str, frozenset[str]] = {
    opcode: frozenset(words.split())
    for opcodes, words in {
        "mul mad": "lo hi wide",
        "mul24 mad24 madc dp2a": "lo hi",
        "div": "full",
        "shf": "l r",
        "brx": "idx",
        "setmaxnreg": "inc dec",
        "cvt": "pack",
        "cvta": "to",
        "fence": "proxy",
        "createpolicy": "fractional range cvt",
        "bar": "cta warp sync red arrive",
        "barrier": "cta cluster red arrive wait",
        "cp": "async mbarrier arrive commit_group wait_group wait_all reduce bulk prefetch",
        "mbarrier": (
            "init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait parity pending_count"
        ),
        "wmma": "load store mma a b c d",
        "tex": "base level grad",
        "txq": "level",
        "suld sust sured": "b p",
    }.items()
    for opcode in opcodes.split()
}

# Kinds of modifiers of which an instruction may have several, whose order says which is which.
_KINDS = {
    "type": re.compile(r"[busf]\d+(?:x\d+)?|bf16(?:x2)?|tf32|e\dm\d(?:x\d)?|pred"),
    "space": re.compile(r"global|shared(?:::\w+)?"),
    "layout": re.compile(r"row|col"),
    "priority": re.compile(r"L2::evict_\w+"),
    "bitwise": re.compile(r"and|xor|popc"),
}


class Place(Protocol):
    """A modifier of the notation."""

    @property
    def name(self) -> str: ...
    @property
    def choices(self) -> tuple[str, ...]: ...
    @property
    def optional(self) -> bool: ...


_SPACES = frozenset(("global", "shared", "local", "const", "param"))


def spaces_of(words: Sequence[str]) -> list[str]:
    """The state spaces among modifiers, without sub-qualifiers."""
    return [space for word in words if (space := word.partition("::")[0]) in _SPACES]


def space_first(words: Sequence[str]) -> tuple[str, ...]:
    """Modifiers of a load or store with the state space in front and the type behind all others.

    `param::entry` and `param::func` are `param`.
    """

    def rank(word: str) -> int:
        return 2 if _KINDS["type"].fullmatch(word) else 0 if spaces_of([word]) else 1

    return tuple(sorted((word.partition("::")[0] if rank(word) == 0 else word for word in words), key=rank))


def name_length(opcode: str, places: Sequence[Place]) -> int:
    """How many of a notation's modifiers belong to the instruction's name."""
    words = _NAMES.get(opcode, frozenset())
    return next((n for n, place in enumerate(places) if not words.issuperset(place.choices)), len(places))


def in_order(places: Sequence[Place], words: tuple[str, ...], named: int) -> tuple[str, ...] | None:
    """Modifiers in the order of the notation, the first `named` places being the name; None if they do
    not fit."""
    if not places:
        return None if words else ()
    place, rest = places[0], places[1:]
    for position in range(min(1, len(words)) if named else len(words)):
        word = words[position]
        if word in place.choices and not _follows_its_kind(words[:position], word):
            found = in_order(rest, words[:position] + words[position + 1 :], max(named - 1, 0))
            if found is not None:
                return (word, *found)
    return in_order(rest, words, max(named - 1, 0)) if place.optional else None


def _follows_its_kind(before: Sequence[str], word: str) -> bool:
    """Whether a modifier stands behind another of its kind."""
    kind = next((one for one in _KINDS.values() if one.fullmatch(word)), None)
    return kind is not None and any(kind.fullmatch(one) for one in before)
