"""What a GPU's clock is at, and what holds it back: NVML, by its binding in cuda-bindings or nvidia-ml-py.

Belongs here: one reading. Both bindings are NVIDIA's; where neither is there, or the driver answers nothing,
there is a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..launch.backend import Clock

# nvml.h, nvmlClocksEventReason*: what makes a clock lower than the load asks for. Idle (1) and the user's own
# setting (2) are no such reasons.
_HOLDING_BACK = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "temperature",
    0x40: "hardware temperature",
    0x80: "power brake",
}


def reasons_in(bits: int) -> tuple[str, ...]:
    """What holds a clock back, in words."""
    return tuple(word for bit, word in _HOLDING_BACK.items() if bits & bit)


class Clocks:
    """Reads the clock of one GPU, by its PCI bus; `problem` says why it cannot, if it cannot."""

    def __init__(self, bus: str):
        self.problem = ""
        self._read: Callable[[], tuple[int, int]] | None = None
        for attempt in (_by_cuda_bindings, _by_nvidia_ml_py):
            try:
                self._read = attempt(bus)
                self._read()
                return
            except ImportError:
                continue
            except Exception as error:  # each binding has its own, and the driver may lack a function
                self.problem = f"the clock is not watched: NVML says {error}"
                self._read = None
        self.problem = self.problem or "the clock is not watched: pip install 'warpglass[gpu]' does it"

    def read(self) -> Clock | None:
        """The clock now; None where it cannot be read."""
        if self._read is None:
            return None
        mhz, bits = self._read()
        return Clock(mhz, reasons_in(bits))


def _by_cuda_bindings(bus: str) -> Callable[[], tuple[int, int]]:
    nvml = import_module("cuda.bindings.nvml")

    return _reader(
        nvml.init_v2,
        lambda: nvml.device_get_handle_by_pci_bus_id_v2(bus),
        lambda device: nvml.device_get_clock_info(device, nvml.ClockType.CLOCK_SM),
        nvml.device_get_current_clocks_event_reasons,
    )


def _by_nvidia_ml_py(bus: str) -> Callable[[], tuple[int, int]]:
    pynvml = import_module("pynvml")

    return _reader(
        pynvml.nvmlInit,
        lambda: pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode()),
        lambda device: pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM),
        pynvml.nvmlDeviceGetCurrentClocksThrottleReasons,
    )


def _reader(
    begin: Callable[[], Any], find: Callable[[], Any], clock: Callable[[Any], Any], why: Callable[[Any], Any]
) -> Callable[[], tuple[int, int]]:
    begin()
    device = find()
    return lambda: (int(clock(device)), int(why(device)))
