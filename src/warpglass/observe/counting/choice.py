"""Which rule of rules.py tells what an access costs: that follows from its instruction, space and direction.

A row has the kinds of access and the modifiers that it is for; the first that fits decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...isa import Match
from ...isa.table import AccessKind
from ...models.memory_rules import Loads
from ...ptx import tree
from .rules import Rule


@dataclass(frozen=True, slots=True)
class _Choice:
    """A rule for accesses of some kinds to a space that have one word of each group of `words`."""

    kinds: tuple[AccessKind, ...]
    space: str
    rule: Rule
    words: tuple[tuple[str, ...], ...] = ()
    ones: bool = False  # only if what is added is the number 1

    def fits(self, access: Match, space: str) -> bool:
        item = access.instruction
        return (
            access.row.access in self.kinds
            and space == self.space
            and all(any(word in item.modifiers for word in group) for group in self.words)
            and (not self.ones or _adds_one(item))
        )


_ATOMIC: tuple[AccessKind, ...] = ("atomic", "reduction")
_FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
_CHOICES = (
    _Choice(_ATOMIC, "global", Rule.GLOBAL_CAS64, (("cas",), ("b64", "u64", "s64"))),
    _Choice(_ATOMIC, "global", Rule.GLOBAL_ATOMIC),
    _Choice(_ATOMIC, "shared", Rule.SHARED_CAS, (("cas",),)),
    _Choice(_ATOMIC, "shared", Rule.SHARED_CAS_LOOP, (("add",), _FLOATS)),
    # Lanes that add 1 to the same word are counted first (ATOMS.POPC.INC) and change it once.
    _Choice(_ATOMIC, "shared", Rule.SHARED_STORE, (("add",), ("u32", "s32")), ones=True),
    _Choice(_ATOMIC, "shared", Rule.SHARED_ATOMIC),
    *(_Choice(("matrix load",), "shared", Rule[f"LDMATRIX_X{n}"], ((f"x{n}",),)) for n in (1, 2, 4)),
)
_LOADS = {"shared": Rule.SHARED_LOAD, "local": Rule.LOCAL}
_STORES = {"shared": Rule.SHARED_STORE, "local": Rule.LOCAL}


def choose_rule(access: Match, space: str, write: bool) -> Rule:
    """The rule for an access of an instruction to "global", "shared", "local" or "const" memory."""
    for choice in _CHOICES:
        if choice.fits(access, space):
            return choice.rule
    return (_STORES if write else _LOADS).get(space, Rule.GLOBAL)


_LOADS_OF = {Loads.IN_ORDER: Rule.GLOBAL_IN_ORDER, Loads.SEGMENTS: Rule.GLOBAL_SEGMENTS}


def of_generation(rule: Rule, loads: Loads) -> Rule:
    """The rule on a GPU of some generation, whose global loads and stores may have one of their own."""
    return _LOADS_OF.get(loads, rule) if rule == Rule.GLOBAL else rule


def bypasses(access: Match) -> bool:
    """Whether it copies past the first-level cache, whose sectors then follow the destination."""
    return access.row.access == "copy" and "cg" in access.instruction.modifiers


def by_coordinates(access: Match) -> bool:
    """Whether it goes through the texture unit, whose sectors are none of global memory's counters."""
    return access.row.access in ("texture", "surface load", "surface store", "surface reduction")


def _adds_one(item: tree.Instruction) -> bool:
    return isinstance(item.operands[-1], tree.Integer) and item.operands[-1].value == 1
