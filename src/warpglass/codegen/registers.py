"""The register file of a warp in generated code: where each PTX register stands, reading and writing it.

A register's home is a stack slot, which LLVM turns into SSA values: a scalar for registers of uniform or
affine kind, a vector of 32 lanes for the others, nothing at all for constants. Across barriers the live ones
are kept in the warp's frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..isa.types import BITS, LLVM_TYPE
from .builder import Builder, vector
from .values import Offsets, Value


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a register wherever it is read: the fields of Value that are not its name."""

    offsets: Offsets | None = None
    constant: int | None = None
    low: int | None = None
    high: int | None = None

    def value(self, type_: str, ir: str) -> Value:
        """A value of this kind."""
        return Value(type_, ir, self.offsets, self.constant, self.low, self.high)


VECTOR = Kind()


class Registers:
    """Homes of all registers; `kinds` gives the kind of each, VECTOR if it is not there."""

    def __init__(self, builder: Builder, types: Mapping[str, str], kinds: Mapping[str, Kind]):
        self.builder = builder
        self.types = {name: LLVM_TYPE[type_] for name, type_ in types.items()}
        self.kinds = kinds
        self.used: dict[str, str] = {}  # register -> home
        self._frame: dict[str, int] = {}
        self.frame_size = 0

    def kind(self, name: str) -> Kind:
        """A register's kind."""
        return self.kinds.get(name, VECTOR)

    def read(self, name: str) -> Value:
        """A register's current value."""
        type_, kind = self.types[name], self.kind(name)
        if kind.constant is not None and kind.offsets is not None:
            return kind.value(type_, "")
        return kind.value(type_, self._load(name, self.home(name)))

    def write(self, name: str, value: Value, keep: str | None = None) -> None:
        """Set a register's lanes; `keep` names the i32 mask of the lanes to write if others must stay."""
        b = self.builder
        if self.kind(name).constant is not None and self.kind(name).offsets is not None:
            return
        text = value.ir
        if keep is not None:
            old = self._load(name, self.home(name))
            whole = vector(self.types[name])
            text = b.value(f"select <32 x i1> {b.mask_vector(keep)}, {whole} {text}, {whole} {old}")
        self._store(name, text, self.home(name))

    def write_if(self, name: str, value: Value, condition: str) -> None:
        """Set a scalar register if an i1 holds."""
        type_ = self.types[name]
        old = self._load(name, self.home(name))
        text = self.builder.value(f"select i1 {condition}, {type_} {value.ir}, {type_} {old}")
        self._store(name, text, self.home(name))

    def home(self, name: str) -> str:
        """The stack slot of a register."""
        return self.used.setdefault(name, "%home_" + name[1:].replace("$", "_").replace(".", "_"))

    # ------------------------------------------------------------------------------------ frames
    def save(self, names: Iterable[str], mask: str | None = None) -> None:
        """Keep registers in the warp's frame; only the lanes of `mask` if others wait there already."""
        for name in sorted(names):
            if self.kind(name).constant is not None:
                continue
            value = self._load(name, self.home(name))
            place = self._place(name)
            if mask is not None and self.kind(name).offsets is None:
                whole = vector(self.types[name])
                old = self._load(name, place)
                lanes = self.builder.mask_vector(mask)
                value = self.builder.value(f"select <32 x i1> {lanes}, {whole} {value}, {whole} {old}")
            self._store(name, value, place)

    def restore(self, names: Iterable[str]) -> None:
        """Take registers back from the warp's frame."""
        for name in sorted(names):
            if self.kind(name).constant is None:
                self._store(name, self._load(name, self._place(name)), self.home(name))

    def _place(self, name: str) -> str:
        if name not in self._frame:
            size = self._bytes(name)
            self.frame_size = -(-self.frame_size // size) * size
            self._frame[name] = self.frame_size
            self.frame_size += size
        return self.builder.offset("%frame", self._frame[name])

    # ------------------------------------------------------------------------------------ storage
    def _vector_predicate(self, name: str) -> bool:
        return self.types[name] == "i1" and self.kind(name).offsets is None

    def storage(self, name: str) -> str:
        """The LLVM type of a register's home: predicates of 32 lanes are the bits of an i32."""
        if self._vector_predicate(name):
            return "i32"
        return self.types[name] if self.kind(name).offsets is not None else vector(self.types[name])

    def _bytes(self, name: str) -> int:
        if self._vector_predicate(name):
            return 4
        lanes = 1 if self.kind(name).offsets is not None else 32
        return max(1, BITS[self.types[name]] // 8) * lanes

    def _load(self, name: str, pointer: str) -> str:
        text = self.builder.load(self.storage(name), pointer)
        return self.builder.mask_vector(text) if self._vector_predicate(name) else text

    def _store(self, name: str, text: str, pointer: str) -> None:
        if self._vector_predicate(name):
            text = self.builder.mask_bits(text)
        self.builder.store(self.storage(name), text, pointer)

    def declare(self) -> list[str]:
        """The stack slots of all registers used, zeroed so that runs repeat whatever a kernel reads."""
        lines: list[str] = []
        for name, home in sorted(self.used.items()):
            type_ = self.storage(name)
            lines.append(f"  {home} = alloca {type_}, align {min(64, self._bytes(name))}")
            lines.append(f"  store {type_} zeroinitializer, ptr {home}")
        return lines
