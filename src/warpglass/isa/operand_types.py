"""Which registers an operand may be (PTX manual, "Operand Type Checking", "Operand Size Exceeding
Instruction-Type Size"; where the manual is silent, what ptxas 13.0 accepts).

A register is as wide as the operand's type. Bits go with everything, integers with integers of either sign,
floating point with itself; a predicate is a predicate. Registers of `ld`, `ldu`, `st`, `suld`, `sust`
and `cvt` may be wider:
for bits whatever they are, for integers not floating point, for floating point bits only. Floating-point
elements of a vector are bits to ptxas.

A constant is of the operand's kind: floating for f32 and f64 of either width, integer for integers; bits take
integers and floating constants as wide as they are. No constant has a narrower floating format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from ..ptx import tree
from .table import Match
from .types import BITS, LLVM_TYPE

_WIDER = frozenset({"ld", "ldu", "st", "cvt", "suld", "sust"})
_EXACT = frozenset(
    {"bf16", "bf16x2", "tf32", "e4m3x2", "e5m2x2"}
)  # formats with which cvt allows nothing wider
# Registers of these types can be declared, the widest last; messages list those that fit.
_DECLARED = tuple("pred b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 b64 u64 s64 f64 b128".split())
# Kinds of registers that fit a kind of type at its own width, and above it.
_SAME = {"p": "p", "b": "busf", "u": "bus", "s": "bus", "f": "bf", "x": "b"}
_ABOVE = {"p": "", "b": "busf", "u": "bus", "s": "bus", "f": "b", "x": "b"}


def find_misfits(match: Match, registers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each register of an instruction whose type does not fit: its name, its type, what would fit."""
    if match.row.steers or match.row.pattern.opcode.startswith("_"):
        return  # labels and counts; or the program's own moves, which take parameters apart
    wider = match.row.pattern.opcode in _WIDER and _EXACT.isdisjoint(match.instruction.modifiers)
    for form, operand, type_ in match.forms():
        if isinstance(operand, tree.Address):
            yield from _address_misfits(operand, registers)
        elif type_ in LLVM_TYPE:
            loose = isinstance(operand, tree.Vector)
            second = isinstance(operand, tree.Pair) and form.second is not None
            for number, name in enumerate(_registers(operand)):
                wanted = "pred" if second and number else type_
                own = registers.get(name)
                if own is not None and not _fits(wanted, own, wider, loose):
                    yield name, own, _fitting(wanted, wider, loose)


def find_misfit_constants(match: Match) -> Iterator[tuple[str, str]]:
    """Yield each constant of an instruction whose kind does not fit: what it is, what would fit."""
    if match.row.steers or match.row.pattern.opcode.startswith("_"):
        return
    for form, operand, type_ in match.forms():
        if form.destination or type_ not in LLVM_TYPE:
            continue
        for one in operand.elements if isinstance(operand, tree.Vector) else (operand,):
            if isinstance(one, tree.Integer | tree.Float) and not _takes(type_, one):
                yield _named(one), _constants(type_)


def _takes(type_: str, constant: tree.Integer | tree.Float) -> bool:
    """Whether an operand of a type may be a constant."""
    if type_ in ("f32", "f64"):
        return isinstance(constant, tree.Float)
    if isinstance(constant, tree.Integer):
        return _kind(type_) in "pbus"
    return _kind(type_) == "b" and constant.width == BITS[LLVM_TYPE[type_]]


def _named(constant: tree.Integer | tree.Float) -> str:
    if isinstance(constant, tree.Integer):
        return f"the integer {constant.value}"
    prefix, digits = ("0f", 8) if constant.width == 32 else ("0d", 16)
    return f"the floating constant {prefix}{constant.bits:0{digits}X}"


def _constants(type_: str) -> str:
    """The constants that an operand of a type may be, in words."""
    if type_ in ("f32", "f64"):
        return "a floating constant, such as 3.0 or 0f40400000"
    if _kind(type_) in "xf":
        return f"a register: there are no constants of .{type_}"
    return {
        "b32": "an integer or 0f and 8 digits",
        "b64": "an integer, 0d and 16 digits, or a decimal fraction",
    }.get(type_, "an integer")


def _address_misfits(operand: tree.Address, registers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    if isinstance(operand.base, tree.Register):
        own = registers.get(operand.base.name, "b64")
        if own[0] not in "bus":
            yield operand.base.name, own, ".b64, .u64 or .s64 (an address)"


def _registers(operand: tree.Operand) -> Iterator[str]:
    match operand:
        case tree.Register(name):
            yield name
        case tree.Negated(inner):
            yield inner.name
        case tree.Pair(first, second):
            for one in (first, second):
                yield one.name if isinstance(one, tree.Register) else ""
        case tree.Vector(elements):
            for element in elements:
                yield from _registers(element)
        case _:
            return


def _kind(type_: str) -> str:
    """The letter of a type's kind; "x" for formats that only bits hold (bf16, f16x2, tf32, ...)."""
    return type_[0] if type_ in _DECLARED else "x"


@lru_cache(maxsize=1024)
def _fits(type_: str, register: str, wider: bool, loose: bool) -> bool:
    if register not in LLVM_TYPE:
        return True  # vector registers, which code generation refuses by itself
    own = "b" if _kind(register) == "x" else _kind(register)
    kind = _kind(type_)
    here, there = BITS[LLVM_TYPE[type_]], BITS[LLVM_TYPE[register]]
    if there == here:
        return own in _SAME["b" if loose and kind == "f" else kind]
    return wider and there > here and own in _ABOVE[kind]


@lru_cache(maxsize=256)
def _fitting(type_: str, wider: bool, loose: bool) -> str:
    """The types of registers that fit, as a list of the narrowest that do."""
    least = BITS[LLVM_TYPE[type_]]
    fitting = [one for one in _DECLARED if _fits(type_, one, wider, loose)]
    narrow = [f".{one}" for one in fitting if BITS[LLVM_TYPE[one]] == least]
    listed = " or ".join(filter(None, [", ".join(narrow[:-1]), *narrow[-1:]]))
    return f"{listed}, or wider" if wider and len(fitting) > len(narrow) else listed
