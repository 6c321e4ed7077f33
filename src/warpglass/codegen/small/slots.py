"""Registers that stay in the warp's frame: nothing is kept in values, so nothing is saved at barriers.

Registers that more than one basic block names have a slot of their own. The others share slots, each from
the step that names it first to the one that names it last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from ...program import Block, Program
from ..builder import Builder
from ..registers import Part, Registers
from ..values.value import Value

_LINE = 64  # bytes that slots are aligned to


class SlotRegisters(Registers):
    """The registers of one program, each a vector of which nothing is known."""

    def __init__(self, builder: Builder, program: Program):
        super().__init__(builder, program.registers, {})
        self._slots: dict[str, int] = {}
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # shared slots by their bytes
        self._pointers: Mapping[str, str] | None = None
        self._rooms: dict[str, int] = {}  # by type
        named = [_named(block) for block in program.blocks]
        blocks = Counter(name for rows in named for name in set().union(*rows))
        for name, count in blocks.items():
            if count > 1 or name in program.live[0]:
                self._slots[name] = self._new_slot(self._room(name))
        for rows in named:
            self._share(rows)

    def _room(self, name: str) -> int:
        type_ = self.types[name]
        if type_ not in self._rooms:
            self._rooms[type_] = -(-self._bytes((name, "")) // _LINE) * _LINE
        return self._rooms[type_]

    def _new_slot(self, room: int) -> int:
        place = self.frame_size
        self.frame_size += room
        return place

    def _share(self, rows: list[set[str]]) -> None:
        """Give slots to the registers that only one basic block names: its steps name `rows`."""
        last = {name: k for k, names in enumerate(rows) for name in names}
        over: defaultdict[int, list[str]] = defaultdict(list)
        for k, names in enumerate(rows):
            for name in sorted([name for name in names if name not in self._slots]):
                room = self._room(name)
                self._slots[name] = self._free[room].pop() if self._free[room] else self._new_slot(room)
                over[last[name]].append(name)
            for name in over[k]:
                self._free[self._room(name)].append(self._slots[name])

    def slot(self, name: str) -> int:
        """Where a register lies in the frame, in bytes."""
        return self._slots[name]

    def found_at(self, pointers: Mapping[str, str] | None) -> None:
        """Look for registers at these pointers from now on, by name; None: in the warp's frame."""
        self._pointers = pointers

    # ------------------------------------------------------------------------------------ as others see them
    def home(self, part: Part) -> str:
        if self._pointers is not None:
            return self._pointers[part[0]]
        return self.builder.offset("%frame", self._slots[part[0]])

    def write(self, name: str, value: Value, keep: str | None = None) -> None:
        home, text = self.home((name, "")), value.ir
        if keep is not None:
            text = self._blend(name, keep, text, self._load((name, ""), home))
        self._store((name, ""), text, home)

    def save(self, names: Iterable[str], mask: str | None = None) -> None:
        """They are in the frame already."""

    def restore(self, names: Iterable[str]) -> None:
        """They are used where they are."""


def _named(block: Block) -> list[set[str]]:
    """What each step of a block names, and its end."""
    rows = [{*step.reads, *step.writes} for step in block.all_steps]
    return [*rows, set(block.read_at_end)]
