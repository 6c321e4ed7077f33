"""Turns a row's notation into concrete instructions: every choice of modifiers that PTX allows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from warpglass.isa import Row
from warpglass.isa.notation import Modifier, OperandForm

from .oracles import oracle_for, width

# The modifiers that choose types; one kernel is made for each choice of these.
_TYPES = ("type", "atype", "size", "space")
# More combinations of the other modifiers than this are thinned out, each choice kept at least once.
_ENOUGH = 10

REGISTERS = {"pred": "%p", "f32": "%f", "f64": "%fd"}


@dataclass(frozen=True)
class Form:
    """One instruction with its operand places: `opcode` is written out, with all modifiers."""

    row: Row
    opcode: str
    values: dict[str, str]
    operands: tuple[tuple[OperandForm, str], ...]  # place in the notation, PTX type

    @property
    def sources(self) -> tuple[str, ...]:
        """The types of the sources."""
        return tuple(type_ for form, type_ in self.operands if not form.destination)

    @property
    def destination(self) -> str:
        """The type of the destination."""
        return self.operands[0][1]


def kernels_of(row: Row) -> list[tuple[str, list[Form]]]:
    """The row's forms that have an oracle, grouped by the types they are for; the key names a group."""
    if any(form.vector or form.address for form in row.pattern.operands):
        return []
    count = len(row.pattern.operands) - 1
    places = row.pattern.modifiers
    typed = [place for place in places if place.name in _TYPES]
    others = [place for place in places if place.name not in _TYPES]
    groups: list[tuple[str, list[Form]]] = []
    for types in itertools.product(*(_choices(place) for place in typed)):
        forms: list[Form] = []
        for rest in _thinned([_choices(place) for place in others]):
            words = dict(zip([place.name for place in (*typed, *others)], (*types, *rest), strict=True))
            values = {place.name: words[place.name] for place in places if words[place.name] is not None}
            known = {name: word for name, word in values.items() if word is not None}
            if oracle_for(row.pattern.opcode, known, count) and _is_legal(row.pattern.opcode, values):
                forms.append(_form(row, known))
        if forms:
            groups.append(("-".join(word or "none" for word in types), forms))
    return groups


def _choices(place: Modifier) -> list[str | None]:
    return [None, *place.choices] if place.optional else list(place.choices)


def _thinned(choices: list[list[str | None]]) -> Iterator[tuple[str | None, ...]]:
    total = 1
    for one in choices:
        total *= len(one)
    if total <= _ENOUGH:
        yield from itertools.product(*choices)
        return
    for k in range(max(len(one) for one in choices)):
        yield tuple(one[(k + k // len(one)) % len(one)] for one in choices)


def _form(row: Row, values: dict[str, str]) -> Form:
    written = [values[place.name] for place in row.pattern.modifiers if place.name in values]
    opcode = ".".join([row.pattern.opcode, *written])
    operands = tuple((form, row.pattern.type_of(form, values)) for form in row.pattern.operands)
    return Form(row, opcode, values, operands)


def _is_legal(opcode: str, values: dict[str, str | None]) -> bool:
    """Whether PTX has the combination: notation cannot say that one choice excludes another."""
    if opcode == "setp":
        type_, operator = str(values["type"]), values["cmp"]
        if values.get("ftz") and type_ != "f32":
            return False
        if type_[0] == "b":
            return operator in ("eq", "ne")
        return type_[0] in "uf" or operator not in ("lo", "ls", "hi", "hs")
    if (
        opcode == "cvt"
        and values.get("sat")
        and not _cuts(str(values.get("dtype")), str(values.get("atype")))
    ):
        return False
    if opcode == "cvt" and values.get("ftz"):
        return "f32" in values.values()
    return not (opcode == "cvta" and values["size"] == "u32")


def _cuts(dtype: str, atype: str) -> bool:
    """Whether an integer type has values that another has not: ptxas refuses .sat elsewhere."""
    if dtype[0] not in "us" or atype[0] not in "us":
        return True
    return (dtype[0] == "u" and atype[0] == "s") or _magnitude(dtype) < _magnitude(atype)


def _magnitude(type_: str) -> int:
    return width(type_) - (type_[0] == "s")
