"""Choices: which vectors of integers are, in each lane, one of a few values that have a form.

An upwind difference looks at `q[a > 0 ? i - 1 : i + 1]`, a limiter at one neighbour or the other: nothing is
known of such an index but that each alternative lies side by side in all lanes. Loads from such addresses
load all alternatives, a run each, and select (memory/chosen.py). Of registers that come from other blocks
only the vector is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..values.choice import Choice
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

_TYPES = ("i32", "i64")
_SUMS = ("add", "sub", "mul", "shl")
_EXTENSIONS = ("sext", "zext", "trunc")
_MOST = 4  # alternatives: as many loads as a gather is worth


class Choices:
    """What vectors choose from."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self._found: dict[str, Choice] = {}

    def find(self, a: Value) -> Choice | None:
        """The values among which the lanes of a vector choose; None if that is unknown."""
        return self._found.get(a.ir)

    def note(self, result: Value, name: str, operands: tuple[Value, ...], type_: str) -> None:
        """An instruction on vectors has given another."""
        if result.type not in _TYPES:
            return
        if name == "select":
            found = self._selected(*operands)
        elif name in _SUMS:
            found = self._each(operands, lambda *values: self._lanes.apply(name, *values))
        elif name in _EXTENSIONS:
            found = self._each(operands, lambda value: self._lanes.convert(name, value, type_))
        else:
            return
        if found is not None and all(value.offsets is not None for value in found.values):
            self._found[result.ir] = found

    def _selected(self, condition: Value, a: Value, b: Value) -> Choice | None:
        """What is chosen from if each lane takes one of two values, which may be chosen themselves."""
        one, other = self._alternatives(a), self._alternatives(b)
        if one is None or other is None or len(one.values) + len(other.values) > _MOST:
            return None
        builder, test = self._lanes.builder, self._lanes.as_vector(condition).ir
        whole = builder.vector("i1")
        both = [builder.value(f"and {whole} {test}, {own}") for own in one.conditions]
        return Choice((*both, test, *other.conditions), one.values + other.values)

    def _alternatives(self, a: Value) -> Choice | None:
        return self._found.get(a.ir) if a.offsets is None else Choice((), (a,))

    def _each(self, operands: tuple[Value, ...], make: Callable[..., Value]) -> Choice | None:
        """What an operation makes of each alternative, if those of all operands are chosen alike."""
        known = [self._alternatives(operand) for operand in operands]
        conditions = next((one.conditions for one in known if one is not None and one.conditions), None)
        if conditions is None or any(one is None or one.conditions not in ((), conditions) for one in known):
            return None
        rows = [one.values * (1 if one.conditions else len(conditions) + 1) for one in known if one]
        return Choice(conditions, tuple(make(*values) for values in zip(*rows, strict=True)))
