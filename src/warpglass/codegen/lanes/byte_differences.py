"""Absolute differences of bytes, of which registers have four times as many as of words.

Programs extend bytes before they subtract them, as in searches for motion or depth. Processors take the
smaller one of two bytes from the greater; LLVM finds that by itself only where both are seen to be bytes,
which a scalar that all lanes have is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.bounds import bounds_of
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

_MOST = 255


class ByteDifferences:
    """Which vectors of integers are extended from bytes, and which are differences of such."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self._bytes: dict[str, str] = {}  # wide vectors -> those of bytes
        self._differences: dict[str, tuple[Value, Value]] = {}

    def note(self, result: Value, name: str, operands: tuple[Value, ...]) -> None:
        """An instruction on vectors has given another."""
        if name == "zext":
            (a,) = operands
            source = a.ir if a.type == "i8" else self._bytes.get(a.ir)
            if source is not None:
                self._bytes[result.ir] = source
        elif name == "sub" and all(map(self._is_byte, operands)):
            self._differences[result.ir] = (operands[0], operands[1])

    def cut(self, a: Value) -> None:
        """A wide vector is known to have been extended elsewhere."""
        if a.offsets is None and a.ir not in self._bytes and _fits(a):
            b = self._lanes.builder
            self._bytes[a.ir] = b.value(f"trunc {b.vector(a.type)} {a.ir} to {b.vector('i8')}")

    def absolute(self, a: Value) -> Value | None:
        """A difference without its sign; None if it is none of bytes."""
        operands = self._differences.get(a.ir)
        if operands is None:
            return None
        lanes = self._lanes
        one, two = map(self._byte, operands)
        greater, less = (lanes.emit(f"llvm.{name}", one, two) for name in ("umax", "umin"))
        return lanes.convert("zext", lanes.emit("sub", greater, less), a.type)

    def _is_byte(self, a: Value) -> bool:
        return a.ir in self._bytes if a.offsets is None else a.uniform and _fits(a)

    def _byte(self, a: Value) -> Value:
        if a.offsets is None:
            return Value("i8", self._bytes[a.ir])
        return self._lanes.as_vector(self._lanes.convert("trunc", a, "i8"))


def _fits(a: Value) -> bool:
    """Whether all integers are those of bytes."""
    bounds = bounds_of(a)
    return bounds is not None and bounds[0] >= 0 and bounds[1] <= _MOST
