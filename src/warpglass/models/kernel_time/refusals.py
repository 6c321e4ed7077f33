"""What the model of kernel times does not cover, and what it says then."""

from __future__ import annotations

from ...devices import Device
from ...errors import WarpglassError
from .load import Load


class Refused(WarpglassError):
    """A launch that the model has no time for; the text says why."""


# Operations by name, the first compute capability that has them, and what they are called.
_SINCE = (
    (("SHFL",), (3, 0), "shuffles"),
    (("ATOMS",), (1, 2), "atomics in shared memory"),
    (("ATOMG", "ATOM", "RED"), (1, 1), "atomics in global memory"),
    (("MATCH",), (7, 0), "match instructions"),
    (("REDUX",), (8, 0), "redux instructions"),
    (("DADD", "DMUL", "DFMA", "DSETP"), (1, 3), "double precision"),
)
_UNKNOWN = "?"  # what the decoder calls an operation that it has no row for


def refuse(load: Load, device: Device) -> None:
    """Raise Refused for what the model does not cover."""
    if load.waits:
        raise Refused(
            "its blocks wait for other blocks, so its time depends on the order in which they start"
        )
    if load.pipes.get("tensor") and not device.limits.timing["tensor"]:
        raise Refused(f"it uses tensor cores, which {device.name} does not have")
    if _UNKNOWN in load.operations:
        raise Refused("it uses instructions that the model has no rates for, as of textures and surfaces")
    if not load.resident:
        raise Refused(f"a block asks for more than a multiprocessor of {device.name} has")
    for names, since, what in _SINCE:
        if device.capability < since and load.operations.intersection(names):
            raise Refused(
                f"it needs {what}, which {device.name} does not have "
                f"(compute capability {'.'.join(map(str, device.capability))}; "
                f"{'.'.join(map(str, since))} has them)"
            )
