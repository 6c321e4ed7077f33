"""Launches that come again with the same integers: versions of the code in which those are constants.

Sizes and strides that are known decide the form of addresses, divisions and loops. A version is made once a
launch repeats the integers of the one before it and the kernel is hot, and only if the forms of its registers
become simpler; a kernel has a few at most.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from ...codegen import BlockShape, Promises, Symbols, cost_of_forms, with_kinds
from ...program import Program
from ..launch.values import Parameter

# Versions of a kernel beside the general ones.
_MOST = 4
# Integers up to which a parameter counts as a size: addresses are greater.
_GREATEST = 1 << 32
# The gain, in the cost of all registers, for which a version is worth it.
_WORTH = 0.98

Version = TypeVar("Version")


class Specialisations(Generic[Version]):
    """What a kernel's launches have repeated, and the versions for it."""

    def __init__(self, parameters: Sequence[Parameter]):
        self._places = [
            (index, parameter.offset, (1 << 8 * parameter.size) - 1)
            for index, parameter in enumerate(parameters)
            if parameter.type[0] in "bus" and not parameter.aggregate and not parameter.pointer
        ]
        self._latest: dict[Hashable, Hashable] = {}
        self._versions: dict[Hashable, Version | None] = {}
        self._made: set[Hashable] = set()

    def find(
        self,
        key: Hashable,
        values: Sequence[object],
        make: Callable[[Mapping[int, int]], Version | None],
        start: Callable[[Callable[[], None]], object],
    ) -> tuple[Version | None, bool]:
        """The version for a launch of the general version `key` with these values, if it has been made.

        And whether such a launch will get the same from now on. `make` makes one from integers by their
        offsets in the parameter block, None if it is of no use; `start` runs it, now or later.
        """
        integers = self._integers(values)
        version = (key, integers)
        settled = version in self._made  # before: it is made meanwhile
        if version not in self._versions:
            if len(self._versions) >= _MOST:
                return None, True
            if self._latest.get(key) != integers:
                self._latest[key] = integers
                return None, False
            self._versions[version] = None

            def job() -> None:
                self._versions[version] = make(dict(integers))
                self._made.add(version)

            start(job)
        return self._versions[version], settled

    def _integers(self, values: Sequence[object]) -> tuple[tuple[int, int], ...]:
        found = [(offset, values[index], mask) for index, offset, mask in self._places]
        return tuple(
            [
                (offset, value & mask)
                for offset, value, mask in found
                if isinstance(value, int) and -_GREATEST <= value <= _GREATEST
            ]
        )


def simplifies(
    program: Program, shape: BlockShape, symbols: Symbols, general: Promises, special: Promises
) -> bool:
    """Whether what a special version promises writes loops out or makes the forms of registers simpler."""
    version = with_kinds(program, shape, symbols, special)
    if version.program.copied:
        return True
    return cost_of_forms(version) < _WORTH * cost_of_forms(with_kinds(program, shape, symbols, general))
