"""The bandwidth of a GPU that is present: what its clock and bus allow, and what a copy reaches.

Belongs here: the two numbers. The context is current when these functions are called (backend.py sees to it).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from .driver import Driver

COPIED = 2**28  # bytes: more than any L2 holds, so that it is memory that is measured
REPEATS = 10


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """In bytes per second: the theoretical bandwidth, and what a copy reads and writes together.

    The theoretical one is 2 * clock * bus width / 8, None if the driver does not tell the clock.
    """

    theoretical: float | None
    measured: float
    clock_khz: int
    bus_bits: int


def measure_bandwidth(driver: Driver, device: Any, stream: Any) -> Bandwidth:
    """Copy COPIED bytes within the device REPEATS times, timed by events; the median counts."""
    which = driver.api.CUdevice_attribute
    clock = int(driver.call("cuDeviceGetAttribute", which.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device))
    bus = int(driver.call("cuDeviceGetAttribute", which.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device))
    seconds = _time_copies(driver, stream)
    theoretical = 2e3 * clock * bus / 8 if clock and bus else None
    return Bandwidth(theoretical, 2 * COPIED / seconds, clock, bus)


def _time_copies(driver: Driver, stream: Any) -> float:
    call = driver.call
    start, end = (call("cuEventCreate", driver.api.CUevent_flags.CU_EVENT_DEFAULT) for _ in range(2))
    buffers: list[int] = []
    try:
        for _ in range(2):
            buffers.append(int(call("cuMemAlloc", COPIED)))
        times: list[float] = []
        for _ in range(1 + REPEATS):
            call("cuEventRecord", start, stream)
            call("cuMemcpyDtoDAsync", buffers[1], buffers[0], COPIED, stream)
            call("cuEventRecord", end, stream)
            call("cuEventSynchronize", end)
            times.append(float(call("cuEventElapsedTime", start, end)) * 1e-3)
        return median(times[1:])  # the first one touches the memory for the first time
    finally:
        for buffer in buffers:
            driver.status("cuMemFree", buffer)
        for event in (start, end):
            driver.status("cuEventDestroy", event)
