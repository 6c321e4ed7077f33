"""The PTX manual's notation for instructions, read into patterns that match parsed instructions.

A row of the instruction table is written as the manual writes it, on one line:

    add{.rnd}{.ftz}.f32   d, a, b
    mul.wide.type         d:wide, a, b
    setp.cmp.type         p[|q]:pred, a, b
    ld{.weak}{.space}{.vec}.type   d*, [a]

Left of the first blank: the opcode and its modifiers in the manual's order (spelling.py has others). `.name`
stands for any of the alternatives that the row gives for `name`, a modifier without alternatives for itself,
`{...}` makes one optional.
Right of it: the operands. `d`, `p` (and `q`) are destinations, all others sources. `x:type` gives an
operand's type: a PTX type, the name of a modifier, `wide` (twice the width of `.type`), `part` (the width
of `.type` shared out among a vector's elements), or `any` (its register's own); without it the operand has
the row's `.type` or, failing that, the last modifier. `[a]` is an address, `[a,c*2]` one of two parts,
a handle and a vector of two coordinates (a register does for one, nothing for none), `x*` an operand that
may be a vector (of as many elements as `.vec` says, in a row that has it), `x*4` one that is a vector of
four, `d[|p]` an optional second destination, a number matches only that number. `a{.asel}` may have one of
the selectors that the row gives for `asel`, `d.dsel` has one, `{-}a` may have a minus sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..ptx import tree
from .spelling import in_order, name_length

WIDER = {"u8": "u16", "s8": "s16", "u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
WIDER |= {"b8": "b16", "b16": "b32", "b32": "b64"}


@dataclass(frozen=True, slots=True)
class Modifier:
    """One place in the opcode: a named choice, or a fixed word (then `name` is that word)."""

    name: str
    choices: tuple[str, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class OperandForm:
    """One operand place: its name, type expression and role."""

    name: str
    type: str | None  # a PTX type, a modifier's name, "wide", "part", or None for the row's own type
    destination: bool = False
    address: bool = False
    coordinates: int | None = None  # how many the second part of an address has
    vector: bool = False
    count: int | None = None  # elements that the vector must have
    second: str | None = None  # name of the optional second destination
    literal: int | None = None
    optional: bool = False
    negatable: bool = False  # may have a minus sign
    selector: Modifier | None = None  # the part of a register that is meant


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row's notation, parsed."""

    text: str
    opcode: str
    modifiers: tuple[Modifier, ...]
    operands: tuple[OperandForm, ...]
    has_parts: bool = False  # whether any operand may have a selector or a minus sign

    def match_modifiers(self, words: tuple[str, ...]) -> dict[str, str] | None:
        """The value of every modifier present in `words`, or None if they do not fit."""
        return _match(self.modifiers, words)

    def respell(self, words: tuple[str, ...]) -> tuple[str, ...] | None:
        """Modifiers written in another order in the notation's own; None if they do not fit."""
        return in_order(self.modifiers, words, name_length(self.opcode, self.modifiers))

    def take_apart(
        self, operands: tuple[tree.Operand, ...]
    ) -> tuple[tuple[tree.Operand, ...], dict[str, str]] | None:
        """Operands without selectors and minus signs, and these as values, `asel` or `-a`; None if a selector
        is missing."""
        values: dict[str, str] = {}
        plain: list[tree.Operand] = []
        for form, operand in zip(self.operands, operands, strict=False):
            if isinstance(operand, tree.Minus) and form.negatable:
                values[f"-{form.name}"] = "-"
                operand = operand.operand
            selector = form.selector
            if selector and isinstance(operand, tree.Component) and operand.selector in selector.choices:
                values[selector.name] = operand.selector
                operand = operand.base
            elif selector and not selector.optional:
                return None
            plain.append(operand)
        return (*plain, *operands[len(plain) :]), values

    def fits_operands(self, operands: tuple[tree.Operand, ...], values: Mapping[str, str]) -> bool:
        """Whether number and kinds of the operands are the notation's."""
        required = sum(1 for form in self.operands if not form.optional)
        if not required <= len(operands) <= len(self.operands):
            return False
        return all(
            _fits(form, operand)
            and (form.type != "part" or self.type_of(form, values, operand))
            and (not self._is_counted(form) or _elements(operand) in _COUNTS[values.get("vec")])
            for form, operand in zip(self.operands, operands, strict=False)
        )

    def _is_counted(self, form: OperandForm) -> bool:
        """Whether an operand has as many elements as a modifier says."""
        counted = any(place.name == "vec" for place in self.modifiers)
        return counted and form.vector and form.count is None

    def type_of(
        self, form: OperandForm, values: Mapping[str, str], operand: tree.Operand | None = None
    ) -> str:
        """The PTX type of an operand place, given the modifiers' values; "" for a vector that has no such."""
        if form.type not in (None, "wide", "part"):
            return values.get(form.type, form.type)
        own = values.get("type") or values.get(self.modifiers[-1].name, "")
        if form.type == "part":
            return _part(own, operand)
        return WIDER[own] if form.type == "wide" else own


def _match(places: tuple[Modifier, ...], words: tuple[str, ...]) -> dict[str, str] | None:
    if not places:
        return {} if not words else None
    place, rest = places[0], places[1:]
    if words and words[0] in place.choices:
        found = _match(rest, words[1:])
        if found is not None:
            return {place.name: words[0], **found}
    return _match(rest, words) if place.optional else None


def _part(type_: str, operand: tree.Operand | None) -> str:
    """The type of each element of a vector that makes up `type_`."""
    if not isinstance(operand, tree.Vector):
        return type_
    width, rest = divmod(int(type_[1:]), len(operand.elements) or 1)
    return f"b{width}" if not rest and width in (8, 16, 32, 64) else ""


# Elements of a vector by the modifier `.vec`; without it a vector of one is as good as its element.
_COUNTS = {None: (0, 1), "v2": (2,), "v4": (4,), "v8": (8,)}


def _elements(operand: tree.Operand) -> int:
    return len(operand.elements) if isinstance(operand, tree.Vector) else 0


def _fits(form: OperandForm, operand: tree.Operand) -> bool:
    if form.literal is not None:
        return isinstance(operand, tree.Integer) and operand.value == form.literal
    if form.coordinates is not None:
        return _has_coordinates(operand, form.coordinates)
    if form.address:
        return isinstance(operand, tree.Address)
    if isinstance(operand, tree.Vector):
        wanted = form.destination or tree.Sink() not in operand.elements
        return form.vector and wanted and form.count in (None, len(operand.elements))
    if form.count is not None:
        return False
    if isinstance(operand, tree.Pair):
        return form.second is not None
    if form.destination:
        return isinstance(operand, tree.Register | tree.Sink)
    return not isinstance(operand, tree.Address | tree.Group | tree.Sink | tree.Minus)


def _has_coordinates(operand: tree.Operand, count: int) -> bool:
    """Whether an address is a handle and so many coordinates, or the handle alone."""
    if count == 0:
        return isinstance(operand, tree.Address) and isinstance(operand.base, tree.Register)
    if not isinstance(operand, tree.AddressList) or len(operand.elements) != 2:
        return False
    handle, second = operand.elements
    if not isinstance(handle, tree.Register):
        return False
    return (len(second.elements) if isinstance(second, tree.Vector) else 1) == count


_PLACE = re.compile(r"\{\.([\w:]+)\}|\.([\w:]+)")
_OPERAND = re.compile(
    r"(?P<minus>\{-\})?(?P<open>\{)?"
    r"(?:(?P<literal>\d+)|\[(?P<address>\w+)(?:,\w+\*(?P<coordinates>\d))?\]|(?P<name>\w+)(?:\[\|(?P<second>\w+)\])?)"
    r"(?:\{\.(?P<part>\w+)\}|\.(?P<fixed>\w+))?"
    r"(?P<vector>\*(?P<count>\d+)?)?(?::(?P<type>\w+))?\}?$"
)


def parse_notation(text: str, choices: Mapping[str, str]) -> Pattern:
    """Read one row's notation; `choices` gives the alternatives of each named modifier."""
    head, _, tail = text.partition(" ")
    opcode = re.match(r"\w+", head)
    if opcode is None:
        raise ValueError(f"no opcode in {text!r}")
    modifiers = tuple(
        Modifier(name, tuple(choices.get(name, name).split()), optional=bool(found[1]))
        for found in _PLACE.finditer(head, opcode.end())
        for name in (found[1] or found[2],)
    )
    parts = re.split(r",(?![^\[]*\])", tail)
    operands = tuple(_parse_operand(part.strip(), choices) for part in parts if part.strip())
    has_parts = any(form.negatable or form.selector for form in operands)
    return Pattern(" ".join(text.split()), opcode[0], modifiers, operands, has_parts)


def _parse_operand(text: str, choices: Mapping[str, str]) -> OperandForm:
    found = _OPERAND.match(text)
    if found is None:
        raise ValueError(f"not an operand of the notation: {text!r}")
    name = found["name"] or found["address"] or found["literal"]
    part = found["part"] or found["fixed"]
    return OperandForm(
        name=name,
        type=found["type"],
        destination=name in ("d", "p"),
        address=found["address"] is not None,
        coordinates=int(found["coordinates"]) if found["coordinates"] else None,
        vector=found["vector"] is not None,
        count=int(found["count"]) if found["count"] else None,
        second=found["second"],
        literal=int(found["literal"]) if found["literal"] else None,
        optional=found["open"] is not None,
        negatable=found["minus"] is not None,
        selector=Modifier(part, tuple(choices[part].split()), found["part"] is not None) if part else None,
    )
