"""A value of which each lane has one of several that have a form."""

from __future__ import annotations

from dataclasses import dataclass

from .value import Offsets, Value, one_value


@dataclass(frozen=True, slots=True)
class Choice:
    """The first value whose condition, a vector of i1, holds in a lane; else the last, which has none."""

    conditions: tuple[str, ...]
    values: tuple[Value, ...]

    def has_runs(self, size: int) -> bool:
        """Whether each value, as addresses of so many bytes, is one for all lanes or lies side by side."""
        return all(one_value(one.offsets) or _side_by_side(one.offsets, size) for one in self.values)


def _side_by_side(offsets: Offsets | None, size: int) -> bool:
    return offsets is not None and all(
        offset - offsets[0] == size * lane for lane, offset in enumerate(offsets)
    )
