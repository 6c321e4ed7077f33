"""The library, its statuses and types, and what a plan is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..frame import Context, Library, Session, Statuses

INVALID_PLAN, INVALID_TYPE, INVALID_VALUE, INTERNAL_ERROR, INVALID_SIZE, NOT_SUPPORTED = 1, 3, 4, 5, 8, 16
CUFFT = Library(
    "cuFFT",
    "cufft",
    ("libcufft.so.12", "libcufft.so.11"),
    Statuses(INVALID_PLAN, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED),
)
C2C, R2C, C2R, Z2Z, D2Z, Z2D = 0x29, 0x2A, 0x2C, 0x69, 0x6A, 0x6C
# cufftType: what is read and what is written, and whether the transform is from or to real numbers.
TYPES = {
    C2C: ("c8", "c8", ""),
    R2C: ("f4", "c8", "from"),
    C2R: ("c8", "f4", "to"),
    Z2Z: ("c16", "c16", ""),
    D2Z: ("f8", "c16", "from"),
    Z2D: ("c16", "f8", "to"),
}
# cudaDataType of cufftXtMakePlanMany: what is read and what is written.
_DATATYPES = {(4, 4): C2C, (0, 4): R2C, (4, 0): C2R, (5, 5): Z2Z, (1, 5): D2Z, (5, 1): Z2D}


@dataclass(frozen=True)
class Layout:
    """How one side of a plan lies in memory, in elements: extents around it, steps, the next batch."""

    embed: tuple[int, ...]
    stride: int
    distance: int

    def steps(self) -> tuple[int, ...]:
        """The step of each dimension."""
        inner = [self.stride]
        for extent in reversed(self.embed[1:]):
            inner.append(inner[-1] * extent)
        return tuple(reversed(inner))


@dataclass(eq=False)
class Plan(Context):
    """A plan; `kind` is its cufftType, 0 before it is made; `callbacks` are Callbacks, by side."""

    kind: int = 0
    extents: tuple[int, ...] = ()
    batch: int = 0
    sides: tuple[Layout, ...] = field(default=())
    callbacks: dict[str, Any] = field(default_factory=dict[str, Any])


def plan_of(s: Session, handle: int) -> Plan:
    """The plan of a handle; raises Failed if there is none."""
    return s.get(handle, Plan)


def halved(extents: Sequence[int]) -> tuple[int, ...]:
    """The extents of the complex numbers that stand for real ones."""
    return (*extents[:-1], extents[-1] // 2 + 1)
