"""What the engine stops a kernel for, as findings: bounds, permissions, traps, deadlock and the like."""

from __future__ import annotations

from ....errors import FaultPlace, KernelFault, KernelTimeout
from ....records.check import Finding, Place
from .recorded import Words, finding_of

_BELOW = "guard the access against indices below 0 (if (i >= 0))"


def fault_finding(error: BaseException) -> Finding:
    """The finding for an error that ended a kernel; an exception that a Python kernel raises is a trap."""
    if not isinstance(error, KernelFault | KernelTimeout):
        return finding_of("trap", Words(f"the kernel raises {type(error).__name__}: {error}"))
    place = error.place or FaultPlace("timeout")
    return finding_of(
        place.kind,
        Words(_without_advice(str(error)), _BELOW if place.index is not None and place.index < 0 else ""),
        source=Place(place.file, place.line) if place.file is not None and place.line is not None else None,
        block=place.block,
        thread=place.thread,
        array=place.array,
        index=place.index,
    )


def _without_advice(message: str) -> str:
    """The message without the part about the device's state: a check leaves the device usable."""
    return message.partition(" (cudaError")[0].partition(" (the device needs")[0]
