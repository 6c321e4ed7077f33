"""IR that several detectors write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...codegen.builder import Builder


@contextmanager
def where(b: Builder, condition: str, *, unlikely: bool = False) -> Iterator[None]:
    """What is emitted within runs where an i1 holds."""
    inside, behind = b.label("inside"), b.label("behind")
    b.branch(condition, inside, behind, unlikely=unlikely)
    b.place(inside)
    yield
    b.jump(behind)
    b.place(behind)


def of_warp(b: Builder, state: str, warp: str, word: int) -> str:
    """Where a warp's word is of those that each has."""
    return b.offset(b.value(f"getelementptr i64, ptr {state}, i64 {warp}"), 8 * word)
