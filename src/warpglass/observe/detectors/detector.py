"""What a detector is: a row that knows its findings among the recorded ones and says what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...records.check import Dim3, Place

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
    """One recorded finding in the kernel author's terms.

    `code` is layout.py's; `element` names the place in memory (`s[3]`), `lanes` are other lanes of the warp.
    `other` is the second thread, None where there is none. `access` says which access followed which;
    `copied` that the other is an asynchronous copy that nobody has waited for.
    """

    code: int
    shared: bool
    one: Party
    other: Party | None
    array: str | None
    index: int | None
    element: str
    access: int
    same_value: bool
    copied: bool
    lanes: str
    mask: int
    count: int


@dataclass(frozen=True, slots=True)
class Words:
    """What is told of a finding."""

    message: str
    hint: str
    severity: str = ERROR


@dataclass(frozen=True, slots=True)
class Detector:
    """A kind of finding: which recorded ones are its, and its words for them."""

    kind: str
    takes: Callable[[Recorded], bool]
    explain: Callable[[Recorded], Words]
