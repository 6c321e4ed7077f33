"""Buggy and clean twins: a kernel with a hole in it, found with the hole empty and silent with it filled.

The line that is to blame ends in `// BUG: kind`; `@` is the hole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import warpglass as wg
from tests.engines import engine_mode

Arrays = Callable[[], tuple[object, ...]]


@dataclass(frozen=True)
class Twins:
    """A kernel `k`; `hole` is what the buggy twin has at `@`, `fix` what the clean one has."""

    text: str
    args: Arrays
    fix: str
    hole: str = ""
    grid: int | tuple[int, ...] = 1
    block: int | tuple[int, ...] = 64
    shared: int = 0
    severity: str = "error"

    @property
    def marked(self) -> tuple[int, str]:
        """The marked line and the kind that it says."""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if found := re.search(r"// BUG: ([\w-]+)", line):
                return number, found[1]
        raise AssertionError("a twin marks its bug")

    def check(self, engine: str, *, fixed: bool) -> wg.Check:
        """Check one of the two."""
        text = self.text.replace("@", self.fix if fixed else self.hole)
        kernel = wg.compile(text, "k")
        with engine_mode(engine):
            return wg.check(kernel, self.grid, self.block, self.args(), shared=self.shared, timeout=30)

    def verify(self, engine: str) -> None:
        """The bug is found at its line, nothing else is, and the clean twin is silent."""
        line, kind = self.marked
        found = self.check(engine, fixed=False).findings
        assert {finding.kind for finding in found} == {kind}, found
        assert {finding.severity for finding in found} == {self.severity}, found
        places = {place.line for one in found for place in (one.source, one.other_source) if place}
        assert line in places, found
        assert all(finding.hint for finding in found)
        assert self.check(engine, fixed=True).findings == ()


def floats(*sizes: int) -> Arrays:
    """Arrays of single precision with different values."""
    return lambda: tuple(np.arange(1, size + 1, dtype=np.float32) for size in sizes)


def integers(*sizes: int) -> Arrays:
    """Arrays of 32-bit zeros."""
    return lambda: tuple(np.zeros(size, np.int32) for size in sizes)
