"""The GPU back end's bookkeeping, on a stand-in driver: transfers, caching, errors, PTX versions.

What a real driver does with the same calls is tests/gpu/'s question.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from tests.engine.fake_driver import FakeDriver
from warpglass.engine.gpu import bandwidth as gpu_bandwidth
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.engine.gpu.detection import problem
from warpglass.engine.gpu.driver import header_of, lower_version, newest_isa, target_problem
from warpglass.engine.launch.backend import Launch
from warpglass.engine.launch.timing import time_launches
from warpglass.errors import (
    ArgumentError,
    CompileError,
    KernelFault,
    KernelTimeout,
    LaunchError,
    WarpglassError,
)
from warpglass.source.compiled import Compiled

PTX = """
.version 9.5
.target sm_90
.address_size 64

.visible .entry double_all(
    .param .u64 double_all_param_0,
    .param .u64 double_all_param_1,
    .param .u32 double_all_param_2
)
.maxntid 256, 1, 1
{
    ret;
}
"""


def double_all(driver: FakeDriver, block: bytes) -> int:
    """out[i] = 2 * x[i] on doubles."""
    source, target, count = struct.unpack("<QQI", block)
    kind = ctypes.c_double * count
    kind.from_address(target)[:] = [2 * value for value in kind.from_address(source)]
    return 0


def backend(kernel: Any = double_all, version: int = 13000) -> tuple[GpuBackend, FakeDriver]:
    driver = FakeDriver({"double_all": kernel}, version)
    return GpuBackend(0, driver), driver


def launch(*args: object, ptx: str = PTX, **options: Any) -> Launch:
    return Launch(Compiled(ptx, "double_all", "double_all", "ptx"), (1, 1, 1), (32, 1, 1), args, **options)


# ---------------------------------------------------------------------------------------- running
def test_results_come_back_and_time_is_the_events():
    gpu, driver = backend()
    x, out = np.arange(8.0), np.zeros(8)
    outcome = gpu.run(launch(x, out, 8))
    assert np.array_equal(out, 2 * x)
    assert (outcome.label, outcome.seconds) == ("gpu", pytest.approx(0.0025))
    assert outcome.transfer_seconds > 0
    assert not driver.memory
    assert "Fake H100" in gpu.description


def test_views_of_one_owner_share_a_buffer_and_travel_alone():
    gpu, driver = backend()
    owner = np.arange(1000.0)
    gpu.run(
        launch(owner[100:108], owner[104:112], 8)
    )  # the kernel's second half reads what its first half wrote
    assert [entry for entry in driver.log if "to" in entry] == ["HtoD 96", "DtoH 96"]
    assert np.array_equal(owner[104:108], 2 * np.arange(100.0, 104.0))
    assert np.array_equal(owner[:104], np.arange(104.0))
    assert np.array_equal(owner[112:], np.arange(112.0, 1000.0))


def test_views_apart_keep_their_distance():
    seen: list[int] = []

    def note(driver: FakeDriver, block: bytes) -> int:
        source, target, _ = struct.unpack("<QQI", block)
        seen.extend((source % 512, target - source))
        return 0

    gpu, _ = backend(note)
    owner = np.zeros(1000)
    gpu.run(launch(owner[3:5], owner[500:505], 2))
    assert seen == [24, 497 * 8]


def test_read_only_arrays_are_not_copied_back():
    gpu, driver = backend()
    x, out = np.arange(8.0), np.zeros(8)
    x.flags.writeable = False
    gpu.run(launch(x, out, 8))
    assert [entry for entry in driver.log if "DtoH" in entry] == ["DtoH 64"]


def test_empty_array_is_a_null_pointer():
    seen: list[bytes] = []
    gpu, _ = backend(lambda driver, block: seen.append(block) or 0)
    gpu.run(launch(np.zeros(0), np.zeros(4)[2:2], 0))
    assert seen == [bytes(20)]


def test_device_arrays_stay_in_place():
    gpu, driver = backend()
    x, out = gpu.to_device(np.arange(8.0)), gpu.to_device(np.zeros((2, 4)))
    driver.log.clear()
    outcome = gpu.run(launch(x, out, 8))
    assert not [entry for entry in driver.log if "to" in entry]
    assert outcome.transfer_seconds < 0.1
    assert np.array_equal(gpu.to_host(out), 2 * np.arange(8.0).reshape(2, 4))
    gpu.copy(x, out)
    assert gpu.to_host(out)[1, 3] == 7
    del x, out
    assert not driver.memory


def test_to_device_takes_any_layout_and_records():
    gpu, _ = backend()
    matrix = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(gpu.to_host(gpu.to_device(matrix.T)), matrix.T)
    assert gpu.to_host(gpu.to_device(np.array(3.5))).shape == ()
    records = np.array([(1, 2.0)], np.dtype([("a", "i4"), ("b", "f8")], align=True))
    assert gpu.to_host(gpu.to_device(records)) == records


def test_copy_refuses_what_does_not_fit():
    gpu, _ = backend()
    with pytest.raises(ArgumentError, match="source has 32 bytes, the target 16"):
        gpu.copy(np.zeros(4), np.zeros(2))
    with pytest.raises(ArgumentError, match="read-only"):
        gpu.copy(np.zeros(2), np.frombuffer(bytes(16)))
    with pytest.raises(ArgumentError, match="contiguous"):
        gpu.copy(np.zeros((4, 2))[:, 0], np.zeros(4))


def test_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(WarpglassError, match="no GPU gpu:2: there are 2 GPUs, from gpu:0"):
        GpuBackend(2, FakeDriver({}))


def test_array_of_another_gpu_is_refused():
    gpu, _ = backend()
    x = gpu.to_device(np.zeros(4))
    x.device = type(x.device)(1)
    with pytest.raises(ArgumentError, match="lies on CUDA device 1"):
        gpu.run(launch(x, np.zeros(4), 4))


def test_timing_restores_flushes_and_takes_the_median():
    gpu, driver = backend()
    restored: list[int] = []
    timing = time_launches(gpu, [launch(np.zeros(2), np.zeros(2), 2)] * 2, 3, lambda: restored.append(1))
    assert (len(restored), driver.log.count("cuMemsetD8")) == (4, 4)
    assert timing.seconds == pytest.approx((0.005,) * 3)
    assert (timing.median, timing.label) == (pytest.approx(0.005), "gpu")


# ---------------------------------------------------------------------------------------- loading
def test_ptx_is_stamped_down_to_the_driver_and_loaded_once():
    gpu, driver = backend()
    for _ in range(2):
        gpu.run(launch(np.zeros(2), np.zeros(2), 2))
    assert len(driver.loaded) == 1
    assert b".version 9.0" in driver.loaded[0]


def test_refused_ptx_says_what_was_tried():
    gpu, driver = backend(version=13010)
    driver.version = 13000  # the driver reads less than it should
    with pytest.raises(CompileError, match=r"lowered to 9\.1, .*old!"):
        gpu.run(launch(np.zeros(2), np.zeros(2), 2))


@pytest.mark.parametrize(
    ("driver", "isa"),
    [
        (11080, (7, 8)),
        (12000, (8, 0)),
        (12040, (8, 4)),
        (12060, (8, 5)),
        (12080, (8, 7)),
        (13000, (9, 0)),
        (13010, (9, 1)),
    ],
)
def test_newest_isa_of_a_driver(driver: int, isa: tuple[int, int]):
    assert newest_isa(driver) == isa


def test_old_versions_are_left_alone():
    assert lower_version(".version 7.0\n", (8, 0)) == ".version 7.0\n"


@pytest.mark.parametrize(
    ("target", "capability", "problem"),
    [
        ("sm_90", (9, 0), None),
        ("sm_75", (9, 0), None),
        ("sm_90a", (9, 0), None),
        ("sm_100", (9, 0), "pass target='sm_90'"),
        ("sm_90a", (10, 0), "that architecture alone"),
        ("sm_120", (12, 0), None),
    ],
)
def test_targets(target: str, capability: tuple[int, int], problem: str | None):
    found = target_problem(f".version 8.0\n.target {target}, debug\n", capability)
    assert found == problem if problem is None else problem in str(found)


def test_header_is_read_without_the_body():
    text = PTX.replace("ret;", "wgmma.nonsense %x;")
    header = header_of(text, "double_all")
    assert header is not None
    assert [parameter.type for parameter in header.parameters] == ["u64", "u64", "u32"]
    assert header.directives == (("maxntid", (256, 1, 1)),)
    assert header_of(PTX, "double") is None


def test_launch_beyond_the_limits_never_reaches_the_driver():
    gpu, _ = backend(lambda driver, block: pytest.fail("launched"))
    big = Launch(launch().compiled, (1, 1, 1), (2048, 1, 1), (np.zeros(1), np.zeros(1), 1))
    with pytest.raises(LaunchError, match="Fake H100 .* at most 1024") as caught:
        gpu.run(big)
    assert caught.value.cuda_name == "cudaErrorInvalidConfiguration"
    with pytest.raises(LaunchError, match="at most 256"):
        gpu.run(Launch(launch().compiled, (1, 1, 1), (512, 1, 1), (np.zeros(1), np.zeros(1), 1)))


def test_cooperative_kernels_are_launched_as_such():
    gpu, _ = backend()
    out = np.zeros(2)
    gpu.run(launch(np.ones(2), out, 2, ptx=PTX.replace("ret;", "mov.u32 %r1, %envreg1; ret;")))
    assert np.array_equal(out, [2, 2])


# ---------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        (700, "cudaErrorIllegalAddress", "out-of-bounds"),
        (716, "cudaErrorMisalignedAddress", "misaligned"),
        (710, "cudaErrorAssert", "trap"),
    ],
)
def test_fault_breaks_the_device_until_reset(code: int, name: str, kind: str):
    codes = iter([code, 0])
    gpu, _ = backend(lambda driver, block: next(codes))
    kept = gpu.to_device(np.zeros(2))
    with pytest.raises(KernelFault, match=name) as caught:
        gpu.run(launch(np.zeros(2), np.zeros(2), 2))
    assert (caught.value.cuda_name, caught.value.synchronous, caught.value.sticky) == (name, False, True)
    assert caught.value.place.kind == kind
    with pytest.raises(LaunchError, match="refuses all work until it is reset") as again:
        gpu.run(launch(np.zeros(2), np.zeros(2), 2))
    assert (again.value.cuda_name, again.value.synchronous, again.value.sticky) == (name, True, True)
    gpu.reset()
    with pytest.raises(ArgumentError, match="lost when the device was reset"):
        gpu.run(launch(kept, np.zeros(2), 2))
    gpu.run(launch(np.zeros(2), np.zeros(2), 2))


def test_launch_failure_is_sticky_and_out_of_memory_is_not():
    gpu, _ = backend(lambda driver, block: 719)
    with pytest.raises(LaunchError, match="cudaErrorLaunchFailure") as caught:
        gpu.run(launch(np.zeros(2), np.zeros(2), 2))
    assert caught.value.sticky
    gpu, driver = backend()
    driver.cuMemAlloc = lambda size: (2, 0)  # type: ignore[method-assign]
    with pytest.raises(LaunchError, match="cudaErrorMemoryAllocation") as full:
        gpu.to_device(np.zeros(2))
    assert (full.value.synchronous, full.value.sticky) == (True, False)


def test_timeout_leaves_the_buffers_to_the_kernel():
    gpu, driver = backend(lambda driver, block: 600)
    with pytest.raises(KernelTimeout, match=r"did not end within 0\.01 s"):
        gpu.run(launch(np.zeros(2), np.zeros(2), 2, timeout=0.01))
    assert len(driver.memory) == 2
    with pytest.raises(KernelTimeout, match="still running"):
        gpu.reset()
    driver.pending = 0  # it ended after all
    gpu.reset()
    assert not driver.memory


def test_reset_without_an_error_keeps_arrays():
    gpu, _ = backend()
    x = gpu.to_device(np.arange(4.0))
    gpu.reset()
    assert np.array_equal(gpu.to_host(x), np.arange(4.0))


def test_bandwidth_is_that_of_a_copy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gpu_bandwidth, "COPIED", 2**20)
    gpu, driver = backend()
    driver.attributes |= {"MEMORY_CLOCK_RATE": 2_619_000, "GLOBAL_MEMORY_BUS_WIDTH": 5120}
    found = gpu.bandwidth()
    assert found.theoretical == pytest.approx(3352.32e9)  # 2 * 2619 MHz * 5120 bit / 8
    assert found.measured == pytest.approx(2 * 2**20 / 2.5e-3)  # it reads and writes each byte
    assert not driver.memory
    driver.attributes["MEMORY_CLOCK_RATE"] = 0
    assert gpu.bandwidth().theoretical is None


def test_detection_never_raises(monkeypatch: pytest.MonkeyPatch):
    problem()
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    assert problem() == "WARPGLASS_DEVICE=cpu hides the GPUs"
    with pytest.raises(WarpglassError, match="no GPU: WARPGLASS_DEVICE=cpu"):
        GpuBackend()
