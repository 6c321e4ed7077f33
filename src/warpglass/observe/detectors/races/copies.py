"""Asynchronous copies: what they write is there for a thread only once it has waited for them.

The stamp of a copy's write names a place of its own, which nobody may meet, until the
thread waits for the copy's group: then the write gets the next place, and the time of the wait. So whoever
reads before, the thread itself included, races with the copy.
"""

from __future__ import annotations

import numpy as np

from ....codegen import Emission
from ....codegen.memory.sites import Site
from ....codegen.values.value import Value
from ....program import Step
from ....ptx import tree
from .. import layout
from ..detector import Detector, Watched
from ..intrinsics import load, load_byte, store
from ..native import exported, native
from ..recorder import set_word, word

EVERY_GROUP = -1  # wait for all copies, committed or not


@native
def under_way(S, stamp):
    """Whether a stamp is that of a copy that nobody has waited for."""
    table = word(S, layout.UNCOPIED)
    return table != 0 and load_byte(table + ((stamp >> layout.PLACE_SHIFT) & (layout.PLACES - 1))) != 0


@native
def drop_copies(S):
    """No copy is under way."""
    for warp in range(word(S, layout.WARP_COUNT)):
        set_word(S, layout.COPIES + warp, 0)


@native
def note_copy(S, cell, stamp):
    """Remember a copy's write until it is waited for.

    Where there is no room, it counts as waited for: its races are missed, which the check says, and nobody is
    told of one that there is not.
    """
    warp, lane = (stamp >> layout.WARP_SHIFT) & 31, (stamp >> layout.LANE_SHIFT) & 31
    count = word(S, layout.COPIES + warp)
    if count == layout.COPY_SLOTS:
        set_word(S, layout.OVERRUN, 1)
        store(cell, stamp + (1 << layout.PLACE_SHIFT))
        return
    row = word(S, layout.COPY_TABLE) + (warp * layout.COPY_SLOTS + count) * (8 * layout.COPY_WORDS)
    store(row, cell)
    store(row + 8, stamp)
    store(row + 16, word(S, layout.COMMITTED + warp * layout.LANES + lane))
    set_word(S, layout.COPIES + warp, count + 1)


@exported
def commit(S, warp, mask):
    """Lanes put their copies so far into a group."""
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            at = S + 8 * (layout.COMMITTED + warp * layout.LANES + lane)
            store(at, load(at) + 1)


@exported
def wait_copies(S, warp, mask, left):
    """Lanes wait until no more than `left` of their latest groups are under way."""
    kept = 0
    table = word(S, layout.COPY_TABLE) + warp * layout.COPY_SLOTS * (8 * layout.COPY_WORDS)
    time = word(S, layout.TIMES + warp)
    for number in range(word(S, layout.COPIES + warp)):
        row = table + number * (8 * layout.COPY_WORDS)
        cell, stamp, group = load(row), load(row + 8), load(row + 16)
        lane = (stamp >> layout.LANE_SHIFT) & 31
        done = left == EVERY_GROUP or group < word(S, layout.COMMITTED + warp * layout.LANES + lane) - left
        if (mask >> lane) & 1 != 0 and done:
            if load(cell) == stamp:
                who = stamp & ((1 << layout.TIME_SHIFT) - 1)
                store(cell, word(S, layout.TAG) | time << layout.TIME_SHIFT | who + (1 << layout.PLACE_SHIFT))
        else:
            target = table + kept * (8 * layout.COPY_WORDS)
            store(target, cell)
            store(target + 8, stamp)
            store(target + 16, group)
            kept += 1
    set_word(S, layout.COPIES + warp, kept)


class AsynchronousCopies(Detector):
    """Copies that are put into groups and waited for."""

    def begin(self, watched: Watched) -> None:
        if not self.code.copies:
            return
        uncopied = np.zeros(layout.PLACES, np.uint8)
        uncopied[list(self.code.copies)] = 1
        watched.kept.append(uncopied)
        warps = watched.begun.scene.executable.shape.warps
        for state in watched.memory.states:
            state[layout.COPY_TABLE] = watched.memory.take((warps * layout.COPY_SLOTS, layout.COPY_WORDS))
            state[layout.UNCOPIED] = uncopied.ctypes.data

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if self.code.steps[site.step].control == "copy-arrive":
            self._wait(at, EVERY_GROUP)

    def fence(self, at: Emission, step: Step) -> None:
        if step.control == "copy-commit":
            self.code.call(at, commit, *self.code.who(at))
        if step.control == "copy-wait":
            counts = (one.value for one in step.instruction.operands if isinstance(one, tree.Integer))
            self._wait(at, next(counts, EVERY_GROUP))

    def _wait(self, at: Emission, left: int) -> None:
        self.code.call(at, wait_copies, *self.code.who(at), str(left))
