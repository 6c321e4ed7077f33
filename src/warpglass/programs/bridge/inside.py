"""What Python does first in a program's process: it switches the virtual GPU on and fills the bridge's slots.

Runs once, called by bridge.c in the thread that made the program's first CUDA call.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import sys
import threading

from ...cuda_runtime import activate, addresses
from ...cuda_runtime.exports import RELEASES
from ...numba_device import hook
from ...numba_device.activation import active_library
from ..records import Wish
from . import driver_names
from .exports import digest_of, libraries
from .standard_output import share
from .watching import watch


def fill(slots: int, digest: str, python: int) -> None:
    """Fill the slots at an address with our functions.

    `digest` tells for which functions the slots are, `python` whether this was a Python process before.
    """
    found = libraries()
    if digest_of(found) != digest:
        sys.exit("warpglass was replaced by another version while this program was running; start it again")
    if not python:
        share()
        _leave_signals()
    model = os.environ.get(hook.MODEL) or "h100"
    wish = Wish.read()
    if wish is not None and not python:
        watch(wish, model)
    activate(model)
    driver = active_library()
    assert driver is not None, "the runtime has switched the driver on"
    ours = driver_names.addresses(driver.address)
    places = [ours[name] for name in found[0].names]
    for release, library in zip(RELEASES, found[1:], strict=True):
        known = addresses(release)
        places += [known[name] for name in library.names]
    (ctypes.c_uint64 * len(places)).from_address(slots)[:] = places


def leave() -> None:
    """Do what Python does at its end: the process ends by exit()."""
    with contextlib.suppress(Exception):
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]  # as Py_FinalizeEx does
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _leave_signals() -> None:
    """Let Ctrl-C do what it does in the program: the module `signal` has taken it, by being imported."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
