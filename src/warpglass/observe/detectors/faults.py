"""What the engine stops a kernel for, as findings: bounds, permissions, traps, deadlock and the like."""

from __future__ import annotations

from ...errors import FaultPlace, KernelFault, KernelTimeout
from ...records.check import Finding, Place

_HINTS = {
    "out-of-bounds": "guard the access with the array's size (if (i < n)), or pass a larger array",
    "misaligned": "start wide accesses at a multiple of their size",
    "read-only-write": "pass a writable array, or write elsewhere",
    "use-after-free": "free the memory after its last use, once",
    "trap": "look at the condition that the kernel itself checks",
    "deadlock": "let all threads that a barrier waits for come to it",
    "timeout": "check that the loop's condition becomes false; give timeout= if the kernel is only slow",
}


def fault_finding(error: BaseException) -> Finding:
    """The finding for an error that ended a kernel; an exception that a Python kernel raises is a trap."""
    if not isinstance(error, KernelFault | KernelTimeout):
        message = f"the kernel raises {type(error).__name__}: {error}"
        return Finding("trap", "error", message, hint=_HINTS["trap"])
    place = error.place or FaultPlace("timeout")
    return Finding(
        kind=place.kind,
        severity="error",
        message=_without_advice(str(error)),
        source=Place(place.file, place.line) if place.file is not None and place.line is not None else None,
        block=place.block,
        thread=place.thread,
        array=place.array,
        index=place.index,
        hint=_HINTS.get(place.kind, ""),
    )


def _without_advice(message: str) -> str:
    """The message without the part about the device's state: a check leaves the device usable."""
    return message.partition(" (cudaError")[0].partition(" (the device needs")[0]
