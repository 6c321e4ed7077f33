"""What a detector is: the probe of one family of findings, with its part before and after a launch.

A family's file has its events and its words for its findings; its native functions lie beside it. A kind of
finding has a row in records/kinds.py, whose place is the code that native functions record (recorder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...codegen import Emission, Probe
from ...codegen.memory.sites import Site
from ...engine.cpu.backend import Begun
from ...program import Step
from ...records.check import Finding
from .diagnostics.recorded import Recorded, Words
from .shadow_memory import ShadowMemory

if TYPE_CHECKING:
    from .instrumentation import Instrumentation


@dataclass(frozen=True, slots=True)
class Watched:
    """A launch under the checker; `purposes` says of arguments by position what they are for (marks.py)."""

    begun: Begun
    memory: ShadowMemory
    purposes: Mapping[int, str]
    kept: list[object] = field(default_factory=list)  # alive as long as the launch is watched

    def marked(self, purpose: str) -> set[int]:
        """The allocations of the arrays that are for a purpose."""
        arrays = self.begun.scene.bound.arrays
        return {array.allocation for array in arrays if self.purposes.get(array.position) == purpose}


class Detector(Probe):
    """A family of findings in one kernel's code, which several launches share.

    Where several watch one event, they do so in the order in which the checker lists them.
    """

    alone, any_order = True, True  # as Instrumentation's
    kinds: ClassVar[Mapping[str, Callable[[Recorded], Words]]] = {}  # what is said of what is recorded

    def __init__(self, code: Instrumentation):
        self.code = code

    def access_bits(self, at: Emission, site: Site, step: Step) -> int:
        """The family's fields of an access word (layout.py)."""
        return 0

    def begin(self, watched: Watched) -> None:
        """Make what the family needs for a launch and tell its workers where it is."""

    def finish(self, watched: Watched) -> None:
        """Record what shows only when the launch has come to its end."""

    def notes(self, watched: Watched) -> list[str]:
        """What the family could not look at."""
        return []

    def findings(self, watched: Watched) -> list[Finding]:
        """What is found, beside what is recorded, in a launch that has come to its end."""
        return []
