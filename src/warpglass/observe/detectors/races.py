"""shared-race, warp-race and global-race: accesses to one place that nothing orders, one of them a write."""

from __future__ import annotations

from . import layout
from .detector import WARNING, Detector, Recorded, Words

_VERBS = {
    layout.READ_AFTER_WRITE: ("reads", "writes"),
    layout.WRITE_AFTER_WRITE: ("writes", "writes"),
    layout.WRITE_AFTER_READ: ("writes", "reads"),
}


def _explain(found: Recorded, nothing: str, hint: str) -> Words:
    verb, other_verb = _VERBS[found.access]
    message = f"{found.one} {verb} {found.element} {found.one.where}"
    if found.other is not None:
        message += f", {found.other} {other_verb} it {found.other.where}"
    message += f", and {nothing}"
    if not found.same_value:
        return Words(message, hint)
    return Words(f"{message}; both write the same value", hint, WARNING)


def _lines(found: Recorded) -> str:
    """The two lines in the order of the text, which is most often that of the program."""
    places = [one.source for one in (found.other, found.one) if one is not None and one.source is not None]
    return " and ".join(map(str, sorted(places, key=lambda place: (place.file, place.line))))


def _warp_race(found: Recorded) -> Words:
    assert found.other is not None, "races have two threads"
    nothing = f"nothing makes lanes {found.other.lane} and {found.one.lane} of warp {found.one.warp} wait"
    if found.one.source == found.other.source and found.access == layout.WRITE_AFTER_WRITE:
        return _explain(found, nothing, "let one lane write it, or use an atomic operation")
    return _explain(
        found,
        nothing,
        f"add __syncwarp() (cuda.syncwarp()) between {_lines(found)}: lanes of a "
        "warp need not run in lockstep",
    )


def _shared_race(found: Recorded) -> Words:
    assert found.other is not None, "races have two threads"
    if found.copied:
        hint = (
            f"wait for the copy (__pipeline_wait_prior, cp.async.wait_group) and then add __syncthreads() "
            f"between {_lines(found)}"
        )
        return _explain(found, "no thread has waited for that asynchronous copy", hint)
    nothing = f"no barrier orders warps {found.other.warp} and {found.one.warp}"
    if found.one.source == found.other.source:
        hint = (
            f"add __syncthreads() (cuda.syncthreads()) between two passes over {found.one.source}, "
            "or use an atomic operation"
        )
    else:
        hint = f"add __syncthreads() (cuda.syncthreads()) between {_lines(found)}"
    return _explain(found, nothing, hint)


def _global_race(found: Recorded) -> Words:
    assert found.other is not None, "races have two threads"
    if found.one.block == found.other.block:
        nothing = f"no barrier orders warps {found.other.warp} and {found.one.warp}"
        hint = f"add __syncthreads() (cuda.syncthreads()) between {_lines(found)}"
        return _explain(found, nothing, hint)
    nothing = "nothing orders the two blocks"
    if found.one.source == found.other.source and found.access == layout.WRITE_AFTER_WRITE:
        hint = "let each block write elements of its own, or use an atomic operation"
    else:
        hint = (
            "write to another array than the one that is read, launch a second kernel, or put "
            "__threadfence() before and an atomic operation on a flag between the two accesses"
        )
    return _explain(found, nothing, hint)


WARP_RACE = Detector("warp-race", lambda found: found.code == layout.WARP_RACE, _warp_race)
SHARED_RACE = Detector(
    "shared-race", lambda found: found.shared and found.code == layout.BLOCK_RACE, _shared_race
)
GLOBAL_RACE = Detector(
    "global-race",
    lambda found: not found.shared and found.code in (layout.BLOCK_RACE, layout.GRID_RACE),
    _global_race,
)
