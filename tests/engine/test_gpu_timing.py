"""Timing on a GPU, on a stand-in driver: what is submitted, in which order, and when it is done once more."""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

import numpy as np
import pytest

from tests.engine.fake_driver import FakeDriver
from tests.engine.test_gpu_backend import double_all, launch
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.engine.gpu.clocks import Clocks, reasons_in
from warpglass.engine.launch.backend import Clock, DeviceBackend
from warpglass.errors import ArgumentError, LaunchError


class Held(FakeDriver):
    """The device is held until `late` tries have come too late."""

    def __init__(self, late: int = 0):
        super().__init__({"double_all": double_all, "hold": self.hold})
        self.late = late
        self.order: list[str] = []

    def hold(self, driver: FakeDriver, block: bytes) -> int:
        return 0

    def cuModuleLoadDataEx(self, image: bytes, count: int, options: Any, values: Any) -> tuple[int, Any]:
        held = b"hold" in image
        return (0, "module") if held else super().cuModuleLoadDataEx(image, count, options, values)

    def cuDeviceGetPCIBusId(self, length: int, device: Any) -> tuple[int, bytes]:
        return 0, b"0000:01:00.0".ljust(length, b"\0")

    def cuLaunchKernel(self, function: str, *args: Any) -> tuple[int]:
        self.order.append(function)
        if function == "hold":
            return (0,)
        return super().cuLaunchKernel(function, *args)

    def cuMemsetD8Async(self, *args: Any) -> tuple[int]:
        self.order.append("flush")
        return (0,)

    def cuEventRecord(self, event: Any, stream: Any) -> tuple[int]:
        self.order.append("event")
        return (0,)

    def cuEventQuery(self, event: Any) -> tuple[int]:
        self.late -= 1
        return (0 if self.late >= 0 else 600,)

    def cuMemsetD8(self, address: int, value: int, count: int) -> tuple[int]:
        ctypes.memset(address, value, count)
        return (0,)


def place(late: int = 0) -> tuple[GpuBackend, Held]:
    driver = Held()
    gpu = GpuBackend(0, driver)
    driver.late = late
    return gpu, driver


def test_a_gpu_is_a_device() -> None:
    assert isinstance(place()[0], DeviceBackend)


@pytest.mark.parametrize(("late", "tries"), [(0, 1), (2, 3)])
def test_work_is_submitted_while_the_device_is_held(late: int, tries: int) -> None:
    gpu, driver = place(late)
    watch = gpu.timer().stopwatch()
    driver.order.clear()
    assert watch.time(lambda: driver.order.append("work"), 2) == pytest.approx(2.5e-3 / 2)
    assert driver.order == ["flush", "hold", "event", "work", "work", "event"] * tries


def test_work_that_waits_for_the_device_is_tried_three_times_once() -> None:
    gpu, driver = place(10**6)
    watch = gpu.timer().stopwatch()
    driver.order.clear()
    for _ in range(2):
        watch.time(lambda: driver.order.append("work"))
    assert driver.order.count("work") == 3 + 1


def recorded(gpu: GpuBackend, *, read: bool = False) -> tuple[Any, Any, Any]:
    x, out = gpu.to_device(np.arange(8.0)), gpu.zeros(8, np.dtype(np.float64))
    gpu._driver.api.late = 10**6  # the launches below are waited for, and have ended

    def work() -> None:
        gpu.copy(np.arange(8.0) + 1, x)
        gpu.run(launch(x, out, 8))
        if read:
            gpu.to_host(out)
            gpu.run(launch(out, x, 8))

    return gpu.record(work), x, out


def test_a_recording_is_submitted_again_with_what_the_host_copied() -> None:
    gpu, driver = place()
    driver.cuMemcpyDtoDAsync = lambda to, of, size, stream: driver.cuMemcpyDtoD(to, of, size)  # type: ignore
    submit, x, out = recorded(gpu)
    gpu.clear(x)
    gpu.clear(out)
    assert not gpu.to_host(out).any()
    submit()
    assert np.array_equal(gpu.to_host(out), 2 * (np.arange(8.0) + 1))


def test_a_program_that_decides_on_the_way_is_not_recorded() -> None:
    assert recorded(place()[0], read=True)[0] is None


def test_launches_with_arrays_of_the_host_are_not_recorded() -> None:
    gpu, _ = place(10**6)
    assert gpu.record(lambda: gpu.run(launch(np.zeros(2), np.zeros(2), 2))) is None


def test_arrays_of_the_device() -> None:
    gpu, _ = place()
    x = gpu.to_device(np.arange(6.0).reshape(2, 3))
    copy = gpu.clone(x)
    gpu.clear(x)
    assert not gpu.to_host(x).any()
    flat = gpu.flat(copy)
    assert np.array_equal(gpu.to_host(gpu.part(flat, 4)), [4, 5])
    assert flat.shape == (6,)


def test_no_room_on_the_device_says_how_much_there_is() -> None:
    gpu, driver = place()
    driver.cuMemAlloc = lambda size: (2, 0)  # type: ignore[method-assign]
    with pytest.raises(LaunchError, match=r"no room for an array of 8 GB: 3 of its 80 GB are free"):
        gpu.zeros(10**9, np.dtype(np.float64))


def test_an_array_with_gaps_is_not_flat() -> None:
    gpu, _ = place()
    x = gpu.to_device(np.zeros((4, 4)))
    gaps = types.SimpleNamespace(__cuda_array_interface__={**x.__cuda_array_interface__, "strides": (64, 8)})
    with pytest.raises(ArgumentError, match="contiguous"):
        gpu.flat(gaps)


# ------------------------------------------------------------------------------------------ clocks
def test_reasons_are_words_and_idleness_is_none() -> None:
    assert reasons_in(0x1 | 0x2) == ()
    assert reasons_in(0x4 | 0x20) == ("power cap", "temperature")


class FakeNvml(types.ModuleType):
    NVML_CLOCK_SM = 1

    def nvmlInit(self) -> None: ...

    def nvmlDeviceGetHandleByPciBusId(self, bus: bytes) -> bytes:
        return bus

    def nvmlDeviceGetClockInfo(self, device: bytes, which: int) -> int:
        return 1980 if device == b"0000:01:00.0" and which == 1 else 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, device: bytes) -> int:
        return 4


def test_the_clock_is_read_by_either_binding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvml", None)
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml("pynvml"))
    clocks = Clocks("0000:01:00.0")
    assert clocks.problem == ""
    assert clocks.read() == Clock(1980, ("power cap",))


def test_without_a_binding_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cuda.bindings.nvml", "pynvml"):
        monkeypatch.setitem(sys.modules, name, None)
    clocks = Clocks("0000:01:00.0")
    assert clocks.read() is None
    assert "pip install" in clocks.problem


def test_a_driver_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = FakeNvml("pynvml")
    silent.nvmlInit = lambda: (_ for _ in ()).throw(RuntimeError("NVML Shared Library Not Found"))  # type: ignore
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvml", None)
    monkeypatch.setitem(sys.modules, "pynvml", silent)
    assert "NVML says NVML Shared Library Not Found" in Clocks("0").problem
