"""LLVM IR under construction: how functions are called, and the lines of a function."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Callee:
    """How a function is called: its symbol, the types of its parameters, how many words it returns."""

    symbol: str
    parameters: tuple[str, ...]
    results: int


def result_type(results: int) -> str:
    """LLVM's type of so many words."""
    return ("void", "i64")[results] if results < 2 else f"[{results} x i64]"


class Code:
    """Lines of IR, with their labels; what cannot be reached is left out."""

    def __init__(self) -> None:
        self.entry: list[str] = []  # variables
        self.lines: list[str] = []
        self.reached = True
        self._count = 0
        self._used: set[str] = set()

    def emit(self, text: str) -> None:
        if self.reached:
            self.lines.append(text)

    def value(self, text: str) -> str:
        """The name of an instruction's result."""
        self._count += 1
        self.emit(f"%.{self._count} = {text}")
        return f"%.{self._count}"

    def slot(self, name: str = "") -> str:
        """A variable; those of the program keep their names."""
        self._count += 1
        place = f"%{name}" if name else f"%.{self._count}"
        self.entry.append(f"{place} = alloca i64, align 8")
        return place

    def load(self, place: str) -> str:
        return self.value(f"load i64, ptr {place}, align 8")

    def store(self, value: str, place: str) -> None:
        self.emit(f"store i64 {value}, ptr {place}, align 8")

    def kept(self, value: str) -> str:
        """A new variable that has a value."""
        place = self.slot()
        self.store(value, place)
        return place

    def label(self) -> str:
        self._count += 1
        return f".{self._count}"

    def place(self, label: str) -> None:
        """What follows is at a label; so far code went on to it."""
        self.jump(label)
        self.reached = label in self._used
        self.emit(f"{label}:")

    def end(self, text: str) -> None:
        """An instruction after which nothing follows."""
        self.emit(text)
        self.reached = False

    def jump(self, label: str) -> None:
        if self.reached:
            self._used.add(label)
            self.end(f"br label %{label}")

    def branch(self, bit: str, yes: str, no: str) -> None:
        if self.reached:
            self._used |= {yes, no}
            self.end(f"br i1 {bit}, label %{yes}, label %{no}")
