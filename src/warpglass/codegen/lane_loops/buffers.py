"""What lanes that go one after the other bring to a loop and leave it with: an element a lane."""

from __future__ import annotations

from collections.abc import Iterable

from ..builder import Builder
from ..lanes.reference import ReferenceLanes
from ..registers import Registers
from .find import LaneLoop
from .one_lane import Runner


class LaneBuffers:
    """The buffers of one loop, named after it; `slots` takes the stack slots that they need.

    `scalars` are the registers that all lanes share, `buffered` those with a buffer.
    """

    def __init__(self, b: Builder, name: str, loop: LaneLoop, slots: list[str]):
        self._b = b
        self._name = name
        self._loop = loop
        self._slots = slots
        self.scalars: dict[str, str] = {}
        self.buffered: list[str] = []

    def lay_out(self, registers: Registers, lanes: ReferenceLanes, runners: Iterable[Runner]) -> None:
        """Put what lanes need where each finds its own, and runners find what all share."""
        b, loop = self._b, self._loop
        registers.enter(frozenset())
        for register in sorted(loop.read | loop.kept):
            value = registers.read(register)
            if value.uniform:
                for runner in runners:
                    known = value.constant is not None
                    self.scalars[register] = runner.registers.take(register) if known else value.ir
                    if register not in loop.written:
                        runner.registers.put(register, value.ir)
                continue
            place, element = self.buffer(value.type, register)
            text = lanes.as_vector(value).ir
            if value.type == "i1":
                text = b.value(f"zext {b.vector('i1')} {text} to {b.vector('i8')}")
            self._slots.append(f"  {place} = alloca {b.vector(element)}, align 64")
            b.store(b.vector(element), text, place, ", align 64")
            self.buffered.append(register)

    def buffer(self, type_: str, register: str) -> tuple[str, str]:
        """A register's buffer and the type of its elements."""
        return f'%"{self._name}.{register[1:]}"', "i8" if type_ == "i1" else type_

    def place(self, runner: Runner, register: str, lane: str) -> str:
        """Where a lane's element is."""
        buffer, element = self.buffer(runner.registers.types[register], register)
        return self._b.value(f"getelementptr {element}, ptr {buffer}, i64 {lane}")

    def load(self, runner: Runner, register: str, place: str) -> None:
        """Let a register hold an element."""
        b, type_ = self._b, runner.registers.types[register]
        text = b.load("i8" if type_ == "i1" else type_, place)
        runner.registers.put(register, b.value(f"trunc i8 {text} to i1") if type_ == "i1" else text)

    def store(self, runner: Runner, register: str, place: str) -> None:
        """Let an element be what a register holds."""
        b, type_ = self._b, runner.registers.types[register]
        text = runner.registers.take(register)
        if type_ == "i1":
            text, type_ = b.value(f"zext i1 {text} to i8"), "i8"
        b.store(type_, text, place)

    def take(self, runner: Runner, lane: str) -> None:
        """Let registers hold what a lane enters the loop with."""
        for register in self.buffered:
            if register in self._loop.read:
                self.load(runner, register, self.place(runner, register, lane))
        for register, text in self.scalars.items():
            if register in self._loop.written:
                runner.registers.put(register, text)

    def give_back(self, runner: Runner, lane: str, names: Iterable[str]) -> None:
        """Keep what a lane has left in registers."""
        for register in sorted(names):
            self.store(runner, register, self.place(runner, register, lane))
