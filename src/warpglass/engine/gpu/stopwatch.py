"""How long submitted work takes on the device, with cold caches and without the host's pace in it.

Belongs here: one measurement. How many there are, and of what, is for the bench (ladders/measure_device.py).

All goes to the legacy stream, to which libraries submit too: the caches are flushed by a store over all of
them, a kernel waits for a while, then stand the first event, the work, and the second. While that kernel
waits the host submits the rest, so that the device finds all of it ready: what lies between the events is the
device's time alone. If the device came to the first event before the host had submitted all, the wait was too
short: the next try waits longer. Work that itself waits for the device is never early enough; its time has
the host's in it, as it has for whoever calls it.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ..launch.backend import Clock
from .clocks import Clocks
from .driver import NOT_READY, Driver
from .submission import LEGACY_STREAM

_PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry hold(.param .u64 nanoseconds)
{
    .reg .u64 %now, %end, %span;
    .reg .pred %more;
    ld.param.u64 %span, [nanoseconds];
    mov.u64 %now, %globaltimer;
    add.u64 %end, %now, %span;
AGAIN:
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %more, %now, %end;
    @%more bra AGAIN;
    ret;
}
\0"""
_SHORTEST, _LONGEST = 20e-6, 20e-3  # seconds that the device is held
_TRIES = 3


class Holder:
    """What the measurements of one context share: the kernel that holds the device, a buffer, two events."""

    def __init__(self, driver: Driver, l2_bytes: int):
        self.driver = driver
        self.flushed = 2 * l2_bytes
        self.buffer = int(driver.call("cuMemAlloc", self.flushed))
        self._module = driver.call("cuModuleLoadDataEx", _PTX, 0, [], [])
        self.function = driver.call("cuModuleGetFunction", self._module, b"hold")
        timed = driver.api.CUevent_flags.CU_EVENT_DEFAULT
        self.start, self.end = (driver.call("cuEventCreate", timed) for _ in range(2))
        self._span = ctypes.c_uint64()
        self._places = (ctypes.c_void_p * 1)(ctypes.addressof(self._span))

    def flush(self) -> None:
        """Store over twice the second-level cache; does not wait."""
        self.driver.call("cuMemsetD8Async", self.buffer, 0, self.flushed, LEGACY_STREAM)

    def hold(self, seconds: float) -> None:
        """Keep the device waiting for so long; does not wait for it."""
        self._span.value = round(1e9 * seconds)
        where = ctypes.addressof(self._places)
        self.driver.call("cuLaunchKernel", self.function, 1, 1, 1, 1, 1, 1, 0, LEGACY_STREAM, where, 0)


class Stopwatch:
    """Measures one kind of work again and again, and learns how long the host takes to submit it."""

    def __init__(self, holder: Holder, entered: Callable[[str], AbstractContextManager[None]]):
        self._holder = holder
        self._entered = entered
        self._held = _SHORTEST
        self._waits = False  # the work itself waits for the device

    def time(self, work: Callable[[], object], times: int = 1) -> float:
        """Seconds of the device for each of `times` runs of the work in a row, the first with cold caches."""
        seconds = 0.0
        for _ in range(1 if self._waits else _TRIES):
            with self._entered("timing"):
                seconds, in_time, submitting = self._try(work, times)
            if in_time or self._waits:
                return seconds
            self._held = min(_LONGEST, max(2 * self._held, 1.5 * submitting))
        self._waits, self._held = True, _SHORTEST
        return seconds

    def _try(self, work: Callable[[], object], times: int) -> tuple[float, bool, float]:
        """Seconds of one, whether all was submitted before it began, and how long submitting took."""
        holder, call = self._holder, self._holder.driver.call
        holder.flush()
        holder.hold(self._held)
        call("cuEventRecord", holder.start, LEGACY_STREAM)
        began = time.perf_counter()
        for _ in range(times):
            work()
        call("cuEventRecord", holder.end, LEGACY_STREAM)
        submitting = time.perf_counter() - began
        in_time = holder.driver.status("cuEventQuery", holder.start) == NOT_READY
        call("cuEventSynchronize", holder.end)
        return float(call("cuEventElapsedTime", holder.start, holder.end)) * 1e-3 / times, in_time, submitting


class GpuTimer:
    """Measures on one GPU; `entered` makes its context current and turns driver errors into ours."""

    def __init__(
        self, holder: Holder, clocks: Clocks, entered: Callable[[str], AbstractContextManager[None]]
    ):
        self._holder = holder
        self._clocks = clocks
        self._entered = entered
        self.unwatched = clocks.problem

    def stopwatch(self) -> Stopwatch:
        """A new one, for one kind of work."""
        return Stopwatch(self._holder, self._entered)

    def warm_up(self, work: Sequence[Callable[[], object]], seconds: float) -> None:
        """Run work, one after the other, until the clocks have had so long to rise."""
        began = time.perf_counter()
        with self._entered("warm-up"):
            while time.perf_counter() - began < seconds:
                for one in work:
                    self._holder.flush()
                    one()
                self._holder.driver.call("cuStreamSynchronize", LEGACY_STREAM)

    def clock(self) -> Clock | None:
        """The clock now."""
        return self._clocks.read()
