"""sync-mask: instructions of a warp whose member mask does not say which lanes execute them."""

from __future__ import annotations

from . import layout
from .detector import Detector, Recorded, Words


def _absent(found: Recorded) -> Words:
    message = (
        f"{found.one} waits {found.one.where} for {found.lanes} of warp {found.one.warp}, which the mask "
        "names and which never come"
    )
    if found.other is not None:
        message += f": they were there when others were still {found.other.where}"
    return Words(
        message,
        "name only the lanes that come here (compute the mask before the branch with __ballot_sync), or take "
        "the instruction out of the branch",
    )


def _outsider(found: Recorded) -> Words:
    return Words(
        f"{found.one} is lane {found.one.lane} of its warp and executes an instruction {found.one.where} "
        f"whose mask {found.mask & 0xFFFFFFFF:#010x} does not name it",
        "add the lane to the mask, or keep it out of the branch",
    )


def _inactive(found: Recorded) -> Words:
    return Words(
        f"{found.one} is lane {found.one.lane} of its warp and reads {found.one.where} from lane "
        f"{found.mask}, which does not take part",
        "let every lane that is read from take part: do not let it return before, give it a neutral value",
    )


ABSENT = Detector("sync-mask", lambda found: found.code == layout.ABSENT, _absent)
OUTSIDER = Detector("sync-mask", lambda found: found.code == layout.OUTSIDER, _outsider)
INACTIVE = Detector("sync-mask", lambda found: found.code == layout.INACTIVE, _inactive)
