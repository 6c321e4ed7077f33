"""The accesses of generated code, and the ranges of memory that they are checked against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """One access in the generated code: the step it belongs to, and what it does."""

    step: int
    space: str
    write: bool
    size: int  # bytes per lane, the whole vector

    def at(self, step: int) -> Site:
        """The same access of another step."""
        return self if step == self.step else Site(step, self.space, self.write, self.size)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range as LLVM scalars: first address, elements of the access's size, distance to host memory."""

    low: str
    limit: str
    delta: str


# What accesses to shared memory that the kernel declares, known to be such, are not checked against.
DECLARED = Bounds("0", "0", "%shared_address")
