"""By how much the rounds of a loop move registers on, and how those are computed.

Limits (`min`, `max`, selections) are taken to hold nothing back: an index that is kept in an array moves on
in most rounds. So a pace says what will probably be accessed next, never what surely is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...program import Step
from ...ptx import tree

# What reads one value, or several of which one counts; the rest is arithmetic.
_KEEPING, _LIMITING = ("cvt", "cvta", "mov"), ("max", "min", "selp")


Form = str | tuple["str | int | Form", ...]


class Paces:
    """The paces of registers in a loop of some steps."""

    def __init__(self, steps: Sequence[Step]):
        self._writers: dict[str, list[Step]] = {}
        for step in steps:
            for name in step.writes:
                self._writers.setdefault(name, []).append(step)
        self._found: dict[str, int | None] = {}

    def of(self, register: str) -> int | None:
        """By how much a round moves a register on; None if that is not known."""
        if register not in self._found:
            self._found[register] = None  # what a register is computed from that is computed from it
            self._found[register] = self._look(register)
        return self._found[register]

    def form(self, register: str, within: frozenset[str] = frozenset()) -> Form:
        """How a register of known pace is computed: alike for those that unrolled rounds are made of.

        Registers that move on by themselves, or by way of others that it is asked for (`within`), are not
        told apart, nor are numbers that are added.
        """
        writers = self._writers.get(register, ())
        if not writers:
            return register
        if register in writers[0].reads or register in within:
            return ""
        within |= {register}
        opcode, (_, *sources) = writers[0].instruction.opcode, writers[0].instruction.operands
        names = [one.name for one in sources if isinstance(one, tree.Register)]
        numbers = [one.value for one in sources if isinstance(one, tree.Integer)]
        if opcode in ("add", "sub") and len(names) == 1:
            return self.form(names[0], within)
        return (opcode, *numbers, *(self.form(name, within) for name in names))

    def _look(self, register: str) -> int | None:
        writers = self._writers.get(register, ())
        if not writers:
            return 0
        instruction = writers[0].instruction
        if len(writers) > 1 or instruction.guard is not None:
            return None
        opcode, (_, *sources) = instruction.opcode, instruction.operands
        if register in writers[0].reads:
            numbers = [one.value for one in sources if isinstance(one, tree.Integer)]
            alone = opcode in ("add", "sub") and writers[0].reads == {register} and len(numbers) == 1
            return (numbers[0] if opcode == "add" else -numbers[0]) if alone else None
        paces = [self._pace(one) for one in sources]
        if all(pace == 0 for pace in paces):
            return 0
        known = [pace for pace in paces if pace is not None]
        if opcode in _LIMITING:
            moving = {pace for pace in known if pace}
            return moving.pop() if len(moving) == 1 else None
        return _combined(opcode, sources, known) if len(known) == len(paces) else None

    def _pace(self, source: tree.Operand) -> int | None:
        if isinstance(source, tree.Register):
            return self.of(source.name)
        return 0 if isinstance(source, tree.Integer) else None


def _combined(opcode: str, sources: Sequence[tree.Operand], paces: Sequence[int]) -> int | None:
    """The pace of a result of integers with known paces."""
    if opcode in _KEEPING:
        return paces[0]
    if opcode in ("add", "sub"):
        return paces[0] + paces[1] if opcode == "add" else paces[0] - paces[1]
    numbers = [one.value for one in sources[:2] if isinstance(one, tree.Integer)]
    moving = [
        pace for pace, one in zip(paces, sources[:2], strict=False) if not isinstance(one, tree.Integer)
    ]
    if opcode == "shl" and isinstance(sources[1], tree.Integer):
        return paces[0] << min(sources[1].value, 63)
    if opcode in ("mad", "mul") and (len(numbers) == 1 or not any(moving)):
        product = moving[0] * numbers[0] if any(moving) else 0
        return product + (paces[2] if opcode == "mad" else 0)
    return None
