"""sync-mask: lanes of a warp that do not come together where they should.

A member mask is wrong if it does not say which lanes execute an instruction of the warp, or if a lane is read
that does not take part.

What is found is recorded by the native functions of clocks.py.
"""

from __future__ import annotations

from typing import ClassVar

from ....codegen import Emission, WorkerWords
from ....codegen.values.value import Value
from ....program import Program, Step
from .. import layout, native
from ..detector import Detector, Watched
from ..diagnostics.recorded import Recorded, Words
from . import clocks
from .stuck_lanes import NAME_WHO_COMES

# Instructions that need a value of every lane in their mask. A vote or a warp barrier does without lanes that
# have ended.
_EXCHANGES = ("shuffle", "lane reduction")


def _sync_mask(found: Recorded) -> Words:
    if found.variant == clocks.ABSENT:
        return _absent(found)
    here = f"{found.one} is lane {found.one.lane} of its warp and"
    if found.variant == clocks.OUTSIDER:
        return Words(
            f"{here} executes an instruction {found.one.where} whose mask {found.mask & 0xFFFFFFFF:#010x} "
            "does not name it",
            "add the lane to the mask, or keep it out of the branch",
        )
    return Words(
        f"{here} reads {found.one.where} from lane {found.mask}, which does not take part",
        "let every lane that is read from take part: do not let it return before, give it a neutral value",
    )


def _absent(found: Recorded) -> Words:
    message = (
        f"{found.one} waits {found.one.where} for {found.lanes} of warp {found.one.warp}, which the mask "
        "names and which never come"
    )
    if found.other is not None:
        message += f": they were there when others were still {found.other.where}"
    return Words(message, NAME_WHO_COMES)


class Synchronisation(Detector):
    """Instructions with a member mask."""

    kinds: ClassVar = {"sync-mask": _sync_mask}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._met: dict[int, str] = {}  # step -> where its member masks are

    def begin(self, watched: Watched) -> None:
        for state in watched.memory.states:
            state[layout.COUNTED] = int(not self.code.uncounted)

    def finish(self, watched: Watched) -> None:
        for state in watched.memory.states:
            native.run(clocks.report_absent, state.ctypes.data)

    def notes(self, watched: Watched) -> list[str]:
        if any(state[layout.OVERRUN] for state in watched.memory.states):
            return [
                "a thread synchronised more often, or had more copies under way, than is remembered: races "
                "may be missing"
            ]
        return []

    def park(self, at: Emission, step: Step, members: Value, others: str) -> None:
        code = self.code
        place = str(code.place_of(step))
        code.call(at, clocks.park, *code.who(at), code.keep_masks(at, members), code.wide(at, others), place)

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        code = self.code
        self._met[step.number] = masks = code.keep_masks(at, members)
        place, exchanges = str(code.place_of(step)), str(int(step.match.row.operation in _EXCHANGES))
        code.call(at, clocks.meet, *code.who(at), masks, place, exchanges)

    def exchange(self, at: Emission, sources: Value) -> None:
        code = self.code
        step = code.steps[at.lanes.access.step]
        if step.match.row.operation != "shuffle" or step.number not in self._met:
            return
        lanes = at.lanes.as_vector(at.lanes.extend(sources, "i64", False)).ir
        kept = code.keep(at, code.values, lanes)
        chosen, place = "1" if step.match.mode == "idx" else "0", str(code.place_of(step))
        code.call(at, clocks.exchange, *code.who(at), kept, self._met[step.number], place, chosen)
