"""Atomic operations on memory (PTX manual, "atom", "red").

Active lanes take their turn in lane order, each indivisibly towards other blocks. `red` is `atom` without a
result.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .memory import space_of
from .table import Match, add_row, row
from .types import LLVM_TYPE, is_float, is_signed

V = TypeVar("V")

_SPACES = "global shared shared::cta"
_ORDER = "relaxed acquire release acq_rel"
_SCOPE = "cta cluster gpu sys"
# Operations with the types that PTX allows for each.
_TYPES = {
    "and or xor": "b32 b64",
    "exch": "b32 b64",
    "inc dec": "u32",
    "add": "u32 s32 u64 s64 f32 f64",
    "min max": "u32 s32 u64 s64",
}
# LLVM's name where neither sign nor kind of the type matters.
_PLAIN = {"and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}


def _operation(m: Match) -> str:
    name, type_ = m.values["op"], m.values["type"]
    if name == "add":
        return "fadd" if is_float(LLVM_TYPE[type_]) else "add"
    if name in ("min", "max"):
        return name if is_signed(type_) else f"u{name}"
    return _PLAIN[name]


def atom(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The old value; the new one is made of it and b."""
    return lanes.atomic(space_of(m), _operation(m), a, (b,))


def red(lanes: Lanes[V], m: Match, a: V, b: V) -> None:
    """As atom, without a result."""
    lanes.atomic(space_of(m), _operation(m), a, (b,))


for _names, _types in _TYPES.items():
    for _opcode, _operands, _meaning in (("atom", "d, [a], b", atom), ("red", "[a], b", red)):
        if (_opcode, _names) == ("red", "exch"):
            continue
        # The assembler also takes the operation in front, and NVIDIA's own headers write it so.
        for _order in ("{.sem}{.scope}{.space}.op", ".op.sem{.scope}{.space}"):
            add_row(
                f"{_opcode}{_order}.type  {_operands}",
                sem=_ORDER,
                scope=_SCOPE,
                space=_SPACES,
                op=_names,
                type=_types,
                unit="memory",
                meaning=_meaning,
                waits=_opcode == "atom",
            )


@row(
    "atom{.sem}{.scope}{.space}.cas.type  d, [a], b, c",
    sem=_ORDER,
    scope=_SCOPE,
    space=_SPACES,
    type="b16 b32 b64",
    unit="memory",
    waits=True,
)
def cas(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.atomic(space_of(m), "cmpxchg", a, (b, c))
