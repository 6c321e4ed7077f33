"""What the functions of the fast path are written with: words of the state, calls of native functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....codegen.builder import Builder
from ... import layout
from ...emit import of_warp

if TYPE_CHECKING:
    from ...instrumentation import Instrumentation

WHOLE = "<32 x i64>"
GATHER = "declare <32 x i64> @llvm.masked.gather.v32i64.v32p0(<32 x ptr>, <32 x i1>, <32 x i64>)"


class Writer:
    """Writes one function with `b`; `%S` and `%state` are the worker's state, `%warp64` is the warp."""

    def __init__(self, code: Instrumentation, declarations: set[str]):
        self._code = code
        self.b = Builder(declarations)

    def start(self) -> None:
        """The entry block."""
        b = self.b
        b.place("entry")
        b.emit("%warp64 = zext i32 %warp to i64")
        b.emit(f"%state = load i64, ptr {b.offset('%counters', 8 * self._code.state)}")
        b.emit("%S = inttoptr i64 %state to ptr")

    def at(self, index: int) -> str:
        """Where a word of the worker's state is."""
        return self.b.offset("%S", 8 * index)

    def word(self, index: int) -> str:
        """A word of the worker's state."""
        return self.b.load("i64", self.at(index))

    def by_warp(self, index: int) -> str:
        """The warp's word of those that each has."""
        return self.b.load("i64", of_warp(self.b, "%S", "%warp64", index))

    def who(self) -> str:
        """The warp now, as stamps say it."""
        b = self.b
        time = b.value(f"shl i64 {self.by_warp(layout.TIMES)}, {layout.TIME_SHIFT}")
        warp = b.value(f"shl i64 %warp64, {layout.WARP_SHIFT}")
        return b.value(f"or i64 {b.value(f'or i64 {self.word(layout.TAG)}, {time}')}, {warp}")

    def pointer(self, address: str) -> str:
        """An address as a pointer."""
        return self.b.value(f"inttoptr i64 {address} to ptr")

    def splat(self, value: str) -> str:
        """A word in all lanes."""
        return self.b.splat("i64", value)

    def both(self, one: str, *more: str) -> str:
        """Whether all of some i1 hold."""
        for other in more:
            one = self.b.value(f"and i1 {one}, {other}")
        return one

    def gather(self, addresses: str, lanes: str, otherwise: str) -> str:
        """The words at lanes' addresses."""
        self.b.declarations.add(GATHER)
        pointers = self.b.value(f"inttoptr {WHOLE} {addresses} to <32 x ptr>")
        return self.b.value(
            f"call {WHOLE} @llvm.masked.gather.v32i64.v32p0("
            f"<32 x ptr> align 8 {pointers}, <32 x i1> {lanes}, {WHOLE} {otherwise})"
        )

    def keep(self, addresses: str) -> str:
        """Put the lanes' addresses where native functions find them; returns where."""
        room = self.b.offset("%counters", 8 * self._code.addresses)
        self.b.store(WHOLE, addresses, room, ", align 8")
        return self.b.value(f"ptrtoint ptr {room} to i64")

    def room(self) -> str:
        """A pointer to there."""
        return self.b.offset("%counters", 8 * self._code.addresses)

    def call(self, function: Any, *arguments: str) -> None:
        """Call a native function."""
        b = self.b
        target = b.load("ptr", b.offset("%counters", 8 * self._code.functions[function.__name__]))
        listed = ", ".join(f"i64 {argument}" for argument in ("%state", *arguments))
        b.emit(f"call void {target}({listed})")

    def define(self, head: str) -> str:
        """The definition, of all that was written."""
        return "\n".join((f"\ndefine internal {head} noinline #0 {{", *self.b.lines, "}\n"))
