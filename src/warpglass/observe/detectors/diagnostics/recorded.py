"""A recorded finding in the kernel author's terms, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....engine.launch.backend import lane_list
from ....program import Step
from ....records.check import Dim3, Finding, Place
from ....records.kinds import KINDS

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class Party:
    """A thread at a place in the program."""

    source: Place | None
    block: Dim3
    thread: Dim3
    warp: int
    lane: int
    epoch: int | None  # barriers of the block that it has passed

    def __str__(self) -> str:
        return f"block {self.block} thread {self.thread}"

    @property
    def where(self) -> str:
        """Its place, as a clause."""
        return f"at {self.source}" if self.source is not None else "at an unknown line"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded finding.

    `other` is the second thread, None where there is none. `element` names the place in memory (`s[3]`), ""
    where there is none; `variant` is what the kind tells apart, `access` which
    access of a race followed which. `copied` says that the other is an
    asynchronous copy that nobody has waited for.
    """

    kind: str
    one: Party
    other: Party | None
    array: str | None
    index: int | None
    element: str
    variant: int
    access: int
    same_value: bool
    copied: bool
    mask: int  # of other lanes of the warp
    count: int
    steps: tuple[Step | None, Step | None] = (None, None)  # of both threads
    writers: tuple[bool, bool] = (False, False)  # of both threads, whether they write

    @property
    def lanes(self) -> str:
        """`lanes 0-3, 7` for the mask."""
        return lane_list(self.mask)


@dataclass(frozen=True, slots=True)
class Words:
    """What is told of a finding; severity and hint are its kind's unless said."""

    message: str
    hint: str = ""
    severity: str = ""


def finding_of(kind: str, words: Words, **known: Any) -> Finding:
    """A finding of a kind, with what is known of it."""
    row = KINDS[kind]
    severity, hint = words.severity or row.severity, words.hint or row.hint
    return Finding(kind, severity, words.message, hint=hint, **known)
