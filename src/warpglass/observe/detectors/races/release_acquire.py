"""What fences, atomic and volatile accesses order: who may know of whose accesses by reading a value.

Only kernels that have fences, or accesses that are ones, follow it, as events (causality.py). The rules are
PTX's, taken as programs rely on them:

* A fence notes what its thread knows. What the thread then stores or updates by a strong access **releases**
  that: it goes with the value. A barrier passes on to its threads what each of them knows and has fenced.
* Who reads the value by an atomic update, or by a load with acquire or followed by a fence, **acquires** it.
* An update continues the chain of what it replaces, a store begins a new one.

Fences and accesses of the block's scope count within the block.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ....codegen import Emission
from ....codegen.memory.sites import Site
from ....codegen.values.value import Value
from ....isa.ordering import Ordering
from ....program import Barrier, Step
from .. import layout
from ..detector import Detector, Watched
from . import causality


class ReleaseAcquire(Detector):
    """Fences, and the accesses that publish and read behind them."""

    def begin(self, watched: Watched) -> None:
        if not self.code.communicates:
            return
        causes = Causes(watched, near=self._orders_near(watched))
        watched.kept.append(causes)
        for state in watched.memory.states:
            state[layout.CAUSES] = causes.words.ctypes.data

    def notes(self, watched: Watched) -> list[str]:
        if any(one.words[layout.GAVE_UP] for one in watched.kept if isinstance(one, Causes)):
            return ["threads ordered one another more often than is remembered: races may be missing"]
        return []

    def access(self, at: Emission, site: Site, address: Value) -> None:
        ordering = self.code.orderings[site.step]
        if (
            self.code.communicates
            and ordering.strong
            and site.space in layout.SPACES
            and site.space != "local"
        ):
            addresses = self.code.keep_addresses(at, address)
            info = self.code.access_word(at, site) if self.code.is_chained(site) else 0
            update = info & (layout.PLACES - 1) << layout.PLACE_FIELD
            mark = (update >> layout.PLACE_FIELD << layout.PLACE_SHIFT | layout.ATOMIC) if info else 0
            self.code.call(at, causality.order, *self.code.who(at), str(_how(ordering)), addresses, str(mark))

    def fence(self, at: Emission, step: Step) -> None:
        ordering = self.code.orderings[step.number]
        if self.code.communicates and ordering.fence:
            self.code.call(at, causality.fence, *self.code.who(at), str(_how(ordering)))

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        """Lanes meet: they pass on what some of them know."""
        if self.code.communicates:
            masks = self.code.room(at, self.code.members)  # which Synchronisation has filled
            self.code.call(at, causality.meet_causes, *self.code.who(at), masks)

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        if self.code.communicates and self.code.uncounted:
            self.code.call(at, causality.leave_interval, self.code.warp(at))

    def arrive(self, at: Emission, barrier: str, count: str | None, *, wait: bool) -> None:
        if self.code.communicates:
            self.code.call(at, causality.leave_meeting, self.code.warp(at))

    def resume(self, at: Emission) -> None:
        if self.code.communicates:
            take = causality.take_interval if self.code.uncounted else causality.take_meeting
            self.code.call(at, take, self.code.warp(at))

    def _orders_near(self, watched: Watched) -> bool:
        """Whether fences or accesses of global memory order threads of one block only."""
        shared = {site.step for site in watched.begun.scene.executable.code.sites if site.space == "shared"}
        return any(
            one.block and (one.fence or one.strong) and number not in shared
            for number, one in self.code.orderings.items()
        )


def _how(ordering: Ordering) -> int:
    """What of an access or a fence orders threads, as causality.py takes it."""
    facts = {
        layout.ATOMICALLY: ordering.atomic,
        layout.ACQUIRING: ordering.acquires,
        layout.RELEASING: ordering.releases,
        layout.READING: ordering.reads,
        layout.WRITING: ordering.writes,
        layout.WITHIN_BLOCK: ordering.block,
    }
    return sum(bit for bit, holds in facts.items() if holds)


class Causes:
    """Memory for the events of one launch, made as it is touched; `words` have its addresses (layout.py)."""

    def __init__(self, watched: Watched, *, near: bool):
        x, y, z = watched.begun.scene.launch.grid
        blocks, warps = x * y * z, watched.begun.scene.executable.shape.warps
        self.words = np.zeros(layout.CAUSES_WORDS, np.int64)
        sizes = {
            layout.EVENTS: layout.MOST_EVENTS * layout.EVENT_BYTES // 8,
            layout.KNOWLEDGE: layout.MOST_KNOWLEDGE,
            layout.VALUES: layout.VALUE_SLOTS * layout.VALUE_BYTES // 8,
            layout.TO_SEARCH: layout.MOST_EVENTS // 2,
            layout.REACHED: blocks * warps,
            layout.BLOCK_KNOWN: 2 * blocks,
            layout.FIRST_EVENTS: blocks,
        }
        self._arrays = {which: np.zeros(size, np.int64) for which, size in sizes.items()}
        for which, array in self._arrays.items():
            self.words[which] = array.ctypes.data
        self.words[layout.EVENT_COUNT] = self.words[layout.KNOWLEDGE_COUNT] = 1  # number 0 is none
        self.words[layout.NEAR] = near
