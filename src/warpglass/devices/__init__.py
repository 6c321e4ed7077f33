"""The GPUs that warpglass knows, by name.

Belongs here: looking a device up. The records and the reading of the tables are device.py.
"""

from __future__ import annotations

import re
from functools import cache

from ..errors import WarpglassError
from ..records.spelling import did_you_mean
from .device import Device, Limits, all_devices, limits_of

__all__ = ["Device", "Limits", "UnknownDevice", "get", "limits_of", "names"]


class UnknownDevice(WarpglassError, KeyError):
    """A device name that no table has; the text lists those that exist."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


def names() -> tuple[str, ...]:
    """The short names of all known GPUs, oldest compute capability first."""
    return tuple(all_devices())


def get(name: str) -> Device:
    """The GPU of this name: a short name ("h100"), an alias, or the name its driver reports.

    Case, spaces, hyphens and the words NVIDIA, GeForce and Tesla do not matter. Raises UnknownDevice.
    """
    device = _by_name().get(_plain(name))
    if device is None:
        raise UnknownDevice(
            f"no GPU is called {name!r}{did_you_mean(name, names())}; known: {', '.join(names())}"
        )
    return device


@cache
def _by_name() -> dict[str, Device]:
    return {
        _plain(name): device
        for device in all_devices().values()
        for name in (device.key, device.name, *device.aliases)
    }


def _plain(name: str) -> str:
    return re.sub(r"nvidia|geforce|tesla|[^a-z0-9]", "", name.lower())
