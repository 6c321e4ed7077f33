"""Calls and the stack (PTX manual, "call", "ret", "brx.idx", "alloca", "stacksave", "stackrestore").

`REWRITTEN` says what program/calls.py makes of such instructions: it rewrites them, before they are matched
with rows, into others. Some of these are its own; their opcodes begin with an underscore, so no PTX text can
hold them.
"""

from __future__ import annotations

from typing import TypeVar

from ..ptx import tree
from .lanes import Lanes
from .table import ROWS, Match, add_row, row
from .types import MEMORY

V = TypeVar("V")

_BY_OPCODE = {"call": "call", "ret": "return", "brx": "switch", "alloca": "alloca"}
_BY_OPCODE |= {"stacksave": "stacksave", "stackrestore": "stackrestore"}
_PARAMETER = frozenset(("param", "param::func", "param::entry"))


def rewriting(instruction: tree.Instruction) -> str | None:
    """What a function's instruction has to do with calls: "parameter" is an access to one; None for most."""
    if instruction.opcode in ("ld", "st"):
        return None if _PARAMETER.isdisjoint(instruction.modifiers) else "parameter"
    return _BY_OPCODE.get(instruction.opcode)


add_row("brx.idx{.uni}  a:u32, table", unit="control", control="switch")
# To a function that several calls share, and from it to the call that the register counts to.
add_row("_call.enter  target, back", unit="control", control="call")
add_row("_call.leave  a:u32, table", unit="control", control="return")
# Where a pointer is no function, and an index no branch target.
add_row("_call.wild", unit="control", control="wild-call")
add_row("_call.astray", unit="control", control="wild-branch")
# Around a call that may lead back to its own function: program/stack.py puts the saving of registers here.
add_row("_stack.push  owner", unit="control", control="push")
add_row("_stack.pop  owner", unit="control", control="pop")


@row("_param.type  d, a", type=f"pred {MEMORY}", unit="memory")
def pass_parameter(lanes: Lanes[V], m: Match, a: V) -> V:
    return a


@row("_stack.save  [a], b:pred", unit="memory", access="spill")
def save_predicate(lanes: Lanes[V], m: Match, a: V, b: V) -> None:
    lanes.store("local", a, (lanes.convert("zext", b, "i8"),), volatile=False)


@row("_stack.load  d:pred, [a]", unit="memory", access="spill")
def load_predicate(lanes: Lanes[V], m: Match, a: V) -> V:
    (byte,) = lanes.load("local", a, "i8", 1, volatile=False)
    return lanes.compare("ne", byte, lanes.constant("i8", 0))


def system_function(m: Match) -> str | None:
    """The function of the CUDA runtime that an instruction calls, if any."""
    return m.instruction.modifiers[0] if m.instruction.opcode == "_call" and not m.row.steers else None


def system_functions() -> list[str]:
    """The functions of the CUDA runtime that kernels can call: each is a row `_call.NAME`."""
    return sorted(row.pattern.modifiers[0].name for row in ROWS["_call"] if row.control is None)
