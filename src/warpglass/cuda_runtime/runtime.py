"""The state of the CUDA runtime: last errors, launch configurations, and what programs have registered.

A thread that calls the runtime uses the device's primary context, which is made when it is needed first.
Threads are told apart by their number: one that is not Python's gets a new Python thread state at each call.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from ..numba_device.behind import Behind
from ..numba_device.calls import CALLS as DRIVER
from ..numba_device.device import Context, VirtualDevice
from ..numba_device.launch_calls import Configuration
from ..numba_device.results import Refusal, Result
from ..numba_device.shortcuts import Shortcuts
from .registered import Registered
from .results import Status


class Runtime:
    """The runtime on a device."""

    def __init__(self, device: VirtualDevice):
        self.device = device
        self.registered = Registered(device)
        self.configurations: dict[int, list[Configuration]] = {}  # by thread
        self.described: dict[int, tuple[bytes, ...]] = {}  # what objects were created with, by handle
        self._errors: dict[int, int] = {}  # the last of each thread
        self._told: set[str] = set()

    def driver(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver API. Raises Refusal."""
        DRIVER[name].function(self.device, *arguments)

    # ------------------------------------------------------------------------------------ as calls ask
    @property
    def forked(self) -> bool:
        """Whether the process was forked off one that had begun to use the device."""
        return self.device.forked

    @property
    def shortcuts(self) -> Shortcuts:
        """What C gets without Python."""
        return self.device.shortcuts

    @property
    def behind(self) -> Behind:
        """Work that is not done yet."""
        return self.device.behind

    def check(self) -> None:
        """Make the primary context the calling thread's if it has none; Refusal if the device is broken."""
        try:
            self.device.check()
        except Refusal as refusal:
            if refusal.result not in (Result.NOT_INITIALIZED, Result.INVALID_CONTEXT):
                raise
            self.use_primary()
            self.device.check()

    def use_primary(self) -> None:
        """Make the primary context the calling thread's if it has none."""
        device = self.device
        stack = device.stack
        if stack and device.has(stack[-1], Context):
            return
        device.check_visible()
        device.initialized = True
        stack[:] = [device.primary_context()]
        device.shortcuts.change()

    def note(self, refusal: Refusal) -> None:
        """Remember that a call of this thread has failed."""
        self.device.note(refusal)
        self.failed(refusal.result)

    # ------------------------------------------------------------------------------------ errors
    def failed(self, status: int) -> int:
        """Remember a status of this thread, and return it."""
        self._errors[threading.get_ident()] = int(status)
        self.shortcuts.set_wrong(True)
        return int(status)

    def last_error(self, *, forget: bool) -> int:
        """The status that this thread's last failed call had; one that broke the device stays."""
        thread = threading.get_ident()
        sticky = self.device.sticky
        found = self._errors.get(thread, Status.SUCCESS)
        if forget:
            self._errors.pop(thread, None)
            if not self._errors and sticky is None:
                self.shortcuts.set_wrong(False)
        return found if sticky is None else int(sticky)

    def missing(self, name: str) -> None:
        """Say once that there is no such function."""
        if name not in self._told:
            self._told.add(name)
            sys.stdout.flush()
            sys.stderr.write(f"warpglass: {name} is not supported: it returns cudaErrorNotSupported\n")
