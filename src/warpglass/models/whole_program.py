"""How long a whole program takes on a GPU: what goes there, its kernels with their launches, what comes back.

Belongs here: the arithmetic over modelled kernels and copied bytes. A copy from memory that the driver has to
copy first (pageable, as malloc gives it) is slower than one from pinned memory (cudaMallocHost).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..devices import Device
from .kernel_time import rates_of

# Shares of the link's bandwidth that a copy reaches, and what a host copies into the driver's buffer: those
# of an H200's host, where nobody measured.
_PINNED, _PAGEABLE, _HOST = 55 / 63, 0.5, 14.0
_START = 8e-6  # seconds until a copy begins: stated from memory of PCI Express systems


@dataclass(frozen=True, slots=True)
class Copies:
    """1e9 bytes per second of copies between host and GPU, and whether they were measured there."""

    pinned: float
    pageable: float
    measured: bool


@dataclass(frozen=True, slots=True)
class WholeTime:
    """Seconds of a program: its kernels without their launches, the launches, both copies; their sum."""

    kernels: float
    launches: float
    to_device: float
    to_host: float

    @property
    def seconds(self) -> float:
        """All of it, one after the other."""
        return self.kernels + self.launches + self.to_device + self.to_host


def copies_of(device: Device) -> Copies | None:
    """How fast copies between a GPU and its host are; None if its link is not known."""
    own, link = device.kernel_time, device.host_link_gb_s
    if "pinned_gb_s" in own and "pageable_gb_s" in own:
        return Copies(own["pinned_gb_s"], own["pageable_gb_s"], True)
    if link is None:
        return None
    pinned = _PINNED * link
    return Copies(pinned, min(_PAGEABLE * pinned, _HOST), False)


def whole_time(
    device: Device, seconds: float, launches: int, to_device: int, to_host: int, *, pinned: bool = True
) -> WholeTime | None:
    """The time of a program whose launches take `seconds` together, as modelled; bytes that are copied."""
    copies = copies_of(device)
    if copies is None:
        return None
    rate = 1e9 * (copies.pinned if pinned else copies.pageable)
    overhead = min(seconds, launches * rates_of(device).launch)
    there, back = ((_START + size / rate) if size else 0.0 for size in (to_device, to_host))
    return WholeTime(seconds - overhead, overhead, there, back)
