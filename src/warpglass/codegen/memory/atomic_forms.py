"""Which atomic operations generated code calls functions for, and their names."""

from __future__ import annotations

from dataclasses import dataclass

from ...isa.lanes import Update


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic operation: LLVM's name for it or any other change, on neighbouring elements of a type.

    `operands` says how many each element has.
    """

    change: str | Update
    type: str
    count: int
    operands: int

    @property
    def name(self) -> str:
        """The name of its function."""
        operation = self.change.name if isinstance(self.change, Update) else self.change
        return f"wg_atomic_{operation}_{self.count}x{self.type}"

    @property
    def writes(self) -> bool:
        """Whether it changes elements, as all do but an indivisible read."""
        return not isinstance(self.change, Update) or self.change.writes


@dataclass(frozen=True, slots=True)
class RowChange:
    """An atomic operation of `width` lanes on elements at checked addresses.

    `own` says that the memory is the block's own, `uniform` which operands are the same in all lanes,
    `deferred` that the operation may be left for the end of the block.
    """

    change: str | Update
    type: str
    own: bool
    uniform: tuple[bool, ...]
    width: int
    deferred: bool

    @property
    def name(self) -> str:
        """The name of its function."""
        operation = self.change.name if isinstance(self.change, Update) else self.change
        forms = "".join("s" if one else "v" for one in self.uniform)
        memory = "own" if self.own else "deferred" if self.deferred else "all"
        return f"wg_{memory}_{operation}_{self.width}x{self.type}_{forms}"
