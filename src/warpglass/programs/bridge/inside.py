"""What Python does first in a program's process: it switches the virtual GPU on and fills the bridge's slots.

Runs once, called by bridge.c in the thread that made the program's first CUDA call.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys

from ...cuda_runtime import activate, addresses
from ...cuda_runtime.exports import RELEASES
from ...numba_device import hook
from ...numba_device.activation import active_library
from .library import digest_of, libraries
from .standard_output import share


def fill(slots: int, digest: str, python: int) -> None:
    """Fill the slots at an address with our functions.

    `digest` tells for which functions the slots are, `python` whether this was a Python process before.
    """
    found = libraries()
    if digest_of(found) != digest:
        sys.exit("warpglass was replaced by another version while this program was running; start it again")
    if not python:
        share()
        _end_with_process()
    activate(os.environ.get(hook.MODEL) or "h100")
    driver = active_library()
    assert driver is not None, "the runtime has switched the driver on"
    places = [driver.address(name) for name in found[0].names]
    for release, library in zip(RELEASES, found[1:], strict=True):
        known = addresses(release)
        places += [known[name] for name in library.names]
    (ctypes.c_uint64 * len(places)).from_address(slots)[:] = [place or 0 for place in places]


_AT_EXIT = ctypes.CFUNCTYPE(None)


def _end_with_process() -> None:
    """Do what Python does at its end when the process ends by exit().

    That is called after what the program itself registers later, and before what it had registered before.
    """

    def finish() -> None:
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()

    _kept.append(_AT_EXIT(finish))
    ctypes.CDLL(None).__cxa_atexit(_kept[-1], None, None)


_kept: list[object] = []  # what C calls must live as long as the process
