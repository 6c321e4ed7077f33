"""The driver API of the virtual device, through cuda.bindings. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import importlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from warpglass import lab
from warpglass.host.source_lines import lines_of
from warpglass.numba_device import active_device

driver: Any = importlib.import_module("cuda.bindings.driver")

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .entry add(.param .u64 data, .param .u32 count) {
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [data]; ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p bra done;
    mad.wide.u32 %d2, %r2, 4, %d1; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.global.u32 [%d2], %r3;
    atom.global.add.u32 %r3, [total], 1;
done:
    ret;
}
.visible .entry read_total(.param .u64 data) {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [data]; ld.global.u32 %r1, [total]; st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry sums(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b32 %r<5>; .reg .b64 %d<7>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; mov.u32 %r1, %tid.x;
    mad.wide.u32 %d4, %r1, 4, %d1; mad.wide.u32 %d5, %r1, 4, %d2; mad.wide.u32 %d6, %r1, 4, %d3;
    ld.global.u32 %r2, [%d4]; ld.global.u32 %r3, [%d5]; add.u32 %r4, %r2, %r3; st.global.u32 [%d6], %r4;
    ret;
}
"""
RESULT = driver.CUresult


def ask(function: Any, *arguments: Any) -> Any:
    """The result of a call that succeeds."""
    status, *results = function(*arguments)
    assert int(status) == 0, (function.__name__, status)
    return results[0] if len(results) == 1 else results or None


def status_of(function: Any, *arguments: Any) -> Any:
    return function(*arguments)[0]


@pytest.fixture(autouse=True)
def context() -> Iterator[Any]:
    ask(driver.cuInit, 0)
    made = ask(driver.cuDevicePrimaryCtxRetain, 0)
    ask(driver.cuCtxPushCurrent, made)
    yield made
    driver.cuCtxPopCurrent()


def test_programs_find_functions_by_the_names_that_the_header_gives_them() -> None:
    library = ctypes.CDLL("libcuda.so.1")
    place, size, text = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_char_p()
    module = ask(driver.cuModuleLoadData, PTX)
    given = ctypes.byref(place), ctypes.byref(size), ctypes.c_uint64(int(module))
    assert library.cuModuleGetGlobal_v2(*given, b"total") == 0
    assert size.value == 4
    status = library.cuModuleGetGlobal_v2(*given, b"missing")
    assert status == RESULT.CUDA_ERROR_NOT_FOUND
    assert library.cuGetErrorString(status, ctypes.byref(text)) == 0
    assert text.value == b"named symbol not found: the module has no variable 'missing'"
    assert not hasattr(library, "cuModuleGetGlobal_v3")


def test_kernels_of_one_module_reach_variables_of_another() -> None:
    modules = [ask(driver.cuModuleLoadData, PTX) for _ in range(3)]
    first, second, third = (ask(driver.cuModuleGetGlobal, module, b"total")[0] for module in modules)
    add = ask(driver.cuModuleGetFunction, modules[1], b"add")
    for place in (first, second, third):  # counted from 5; the second module counts launches, too
        given = ((int(place), 1), (ctypes.c_uint64, ctypes.c_uint32))
        ask(driver.cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, 0, given, 0)
    found = np.zeros(3, "u4")
    for number, place in enumerate((first, second, third)):
        ask(driver.cuMemcpyDtoH, found[number:].ctypes.data, place, 4)
    assert found.tolist() == [6, 9, 6]
    ask(driver.cuModuleUnload, modules[2])
    given = ((int(third), 1), (ctypes.c_uint64, ctypes.c_uint32))
    ask(driver.cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, 0, given, 0)
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
    ask(driver.cuDevicePrimaryCtxReset, 0)


@pytest.fixture
def module() -> Any:
    return ask(driver.cuModuleLoadData, PTX)


def launch(kernel: Any, threads: int, *values: Any, shared: int = 0) -> None:
    kinds = tuple(ctypes.c_uint64 if k == 0 else ctypes.c_uint32 for k in range(len(values)))
    ask(driver.cuLaunchKernel, kernel, 1, 1, 1, threads, 1, 1, shared, 0, (values, kinds), 0)


def test_the_device_is_the_model() -> None:
    assert ask(driver.cuDeviceGetCount) == 1
    assert ask(driver.cuDeviceTotalMem, 0) == 80_000_000_000
    attribute = driver.CUdevice_attribute
    assert ask(driver.cuDeviceGetAttribute, attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) == 132
    assert ask(driver.cuDeviceGetAttribute, attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) == 9
    for name, value in (("MAX_REGISTERS_PER_BLOCK", 65536), ("SHARED_MEMORY_PER_BLOCK", 49152)):
        asked = getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}")  # each has an older name for the same
        assert ask(driver.cuDeviceGetAttribute, asked, 0) == value
    assert status_of(driver.cuDeviceGet, 1) == RESULT.CUDA_ERROR_INVALID_DEVICE


def test_work_needs_a_context(context: Any) -> None:
    ask(driver.cuCtxPopCurrent)
    assert status_of(driver.cuMemAlloc, 16) == RESULT.CUDA_ERROR_INVALID_CONTEXT
    assert int(ask(driver.cuCtxGetCurrent)) == 0
    ask(driver.cuCtxPushCurrent, context)
    assert int(ask(driver.cuCtxGetCurrent)) == int(context)


def test_known_answers_take_no_python(context: Any) -> None:
    entered: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    ask(driver.cuCtxGetCurrent)
    ask(driver.cuMemFree, ask(driver.cuMemAlloc, 16))  # whoever is current stays so
    sys.setprofile(note)
    try:
        status, found = driver.cuCtxGetCurrent()
    finally:
        sys.setprofile(None)
    assert (int(status), int(found), entered) == (0, int(context), [])


def test_bytes_come_back() -> None:
    data = np.arange(1000, dtype=np.int32)
    back = np.zeros_like(data)
    place = ask(driver.cuMemAlloc, data.nbytes)
    ask(driver.cuMemcpyHtoD, place, data.ctypes.data, data.nbytes)
    ask(driver.cuMemsetD32, int(place) + 40, 7, 2)
    ask(driver.cuMemcpyDtoH, back.ctypes.data, place, data.nbytes)
    data[10:12] = 7
    np.testing.assert_array_equal(back, data)
    base, size = ask(driver.cuMemGetAddressRange, int(place) + 100)
    assert (int(base), size) == (int(place), data.nbytes)


def test_copies_and_frees_beyond_memory_are_refused() -> None:
    place = ask(driver.cuMemAlloc, 64)
    host = bytearray(128)
    assert status_of(driver.cuMemcpyDtoH, host, place, 65) == RESULT.CUDA_ERROR_INVALID_VALUE
    assert status_of(driver.cuMemcpyDtoH, host, 12345, 4) == RESULT.CUDA_ERROR_INVALID_VALUE
    assert status_of(driver.cuMemFree, int(place) + 4) == RESULT.CUDA_ERROR_INVALID_VALUE
    ask(driver.cuMemFree, place)
    assert status_of(driver.cuMemFree, place) == RESULT.CUDA_ERROR_INVALID_VALUE
    assert status_of(driver.cuMemAlloc, 1 << 50) == RESULT.CUDA_ERROR_OUT_OF_MEMORY


def test_pinned_and_managed_memory_has_one_address(module: Any) -> None:
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    for place in (ask(driver.cuMemHostAlloc, 64, 0), ask(driver.cuMemAllocManaged, 64, 1)):
        seen = np.ctypeslib.as_array((ctypes.c_int32 * 16).from_address(int(place)))
        seen[:] = 4
        launch(kernel, 16, int(place), 16)
        assert seen.tolist() == [5] * 16
        kind = ask(driver.cuPointerGetAttribute, driver.CUpointer_attribute(2), place)
        assert int(kind) in (1, 2)


def test_kernels_of_a_module_share_its_variables_with_the_host(module: Any) -> None:
    add, read = (ask(driver.cuModuleGetFunction, module, name) for name in (b"add", b"read_total"))
    place = ask(driver.cuMemAlloc, 64)
    ask(driver.cuMemsetD32, place, 0, 16)
    launch(add, 32, int(place), 16)
    launch(read, 1, int(place))
    seen = np.zeros(1, np.int32)
    ask(driver.cuMemcpyDtoH, seen.ctypes.data, place, 4)
    assert seen[0] == 5 + 16
    variable, size = ask(driver.cuModuleGetGlobal, module, b"total")
    ask(driver.cuMemsetD32, variable, 100, 1)
    launch(read, 1, int(place))
    ask(driver.cuMemcpyDtoH, seen.ctypes.data, place, 4)
    assert (seen[0], size) == (100, 4)


def test_a_kernels_attributes_and_occupancy(module: Any) -> None:
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    registers = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
    assert 4 <= ask(driver.cuFuncGetAttribute, registers, kernel) <= 32
    assert ask(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, kernel, 1024, 0) == 2
    assert status_of(driver.cuModuleGetFunction, module, b"sub") == RESULT.CUDA_ERROR_NOT_FOUND


def test_events_measure_time(module: Any) -> None:
    stream = ask(driver.cuStreamCreate, 0)
    start, end = ask(driver.cuEventCreate, 0), ask(driver.cuEventCreate, 0)
    assert status_of(driver.cuEventElapsedTime, start, end) == RESULT.CUDA_ERROR_INVALID_HANDLE
    ask(driver.cuEventRecord, start, stream)
    time.sleep(0.02)
    ask(driver.cuEventRecord, end, stream)
    assert 15 < ask(driver.cuEventElapsedTime, start, end) < 2000
    ask(driver.cuStreamDestroy, stream)
    assert status_of(driver.cuStreamSynchronize, stream) == RESULT.CUDA_ERROR_INVALID_HANDLE


def test_a_fault_is_told_and_sticks_until_reset(
    module: Any, context: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    place = ask(driver.cuMemAlloc, 64)
    launch(kernel, 32, int(place), 17)  # the launch itself succeeds
    assert "64 elements" in capsys.readouterr().err
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
    assert status_of(driver.cuMemAlloc, 64) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
    ask(driver.cuDevicePrimaryCtxReset, 0)
    ask(driver.cuMemAlloc, 64)


@pytest.fixture
def made_by_python(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The launches that machine code has left to Python."""
    device = active_device()
    assert device is not None
    made: list[Any] = []
    run = device.run
    monkeypatch.setattr(device, "run", lambda launch: (made.append(launch), run(launch))[1])
    return made


def test_a_short_launch_that_repeats_is_made_by_machine_code(module: Any, made_by_python: list[Any]) -> None:
    add = ask(driver.cuModuleGetFunction, module, b"add")
    place, other = int(ask(driver.cuMemAlloc, 128)), int(ask(driver.cuMemAlloc, 128))
    ask(driver.cuMemsetD32, place, 0, 32)
    ask(driver.cuMemsetD32, other, 0, 32)
    for repeat in range(12):
        launch(add, 32, place if repeat % 3 else other, 10 + repeat)
    assert len(made_by_python) == 2
    found = np.zeros((2, 32), np.uint32)
    for row, address in zip(found, (place, other), strict=True):
        ask(driver.cuMemcpyDtoH, row.ctypes.data, address, 128)
    counts = [10 + repeat for repeat in range(12)]
    wanted = [sum(count > thread for count in counts) for thread in range(32)]
    np.testing.assert_array_equal(found.sum(0), wanted)
    np.testing.assert_array_equal(found[1], [sum(c > thread for c in counts[::3]) for thread in range(32)])
    ask(driver.cuMemAlloc, 64)  # there is more memory now: Python looks at it again
    launch(add, 32, place, 1)
    assert len(made_by_python) == 3
    launch(add, 32, place, 1)
    launch(add, 16, place, 1)  # another launch
    assert len(made_by_python) == 5


def test_what_goes_wrong_in_machine_code_is_told(
    module: Any, made_by_python: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    add = ask(driver.cuModuleGetFunction, module, b"add")
    place = int(ask(driver.cuMemAlloc, 64))
    for _ in range(4):
        launch(add, 32, place, 16)
    launch(add, 32, place, 18)
    assert len(made_by_python) == 2
    told = capsys.readouterr().err
    assert "64 elements" in told
    assert "thread (16, 0, 0)" in told
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
    again = ((place, 16), (ctypes.c_uint64, ctypes.c_uint32))
    status = status_of(driver.cuLaunchKernel, add, 1, 1, 1, 32, 1, 1, 0, 0, again, 0)
    assert status == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS


def test_the_thread_to_blame_in_machine_code_is_that_of_warps_one_by_one(
    module: Any, made_by_python: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Together, the second warp leaves the first array before the first warp leaves the second array."""
    sums = ask(driver.cuModuleGetFunction, module, b"sums")
    a, b, c = (int(ask(driver.cuMemAlloc, 512)) for _ in range(3))
    kinds = (ctypes.c_uint64,) * 3
    for short, shorter in ((0, 0),) * 4 + ((4 * 88, 4 * 123),):
        given = ((a + short, b + shorter, c), kinds)
        ask(driver.cuLaunchKernel, sums, 1, 1, 1, 128, 1, 1, 0, 0, given, 0)
    assert len(made_by_python) == 2
    assert "thread (5, 0, 0)" in capsys.readouterr().err
    ask(driver.cuDevicePrimaryCtxReset, 0)


def test_memory_freed_between_launches_that_repeat(module: Any) -> None:
    add = ask(driver.cuModuleGetFunction, module, b"add")
    place = ask(driver.cuMemAlloc, 64)
    for _ in range(4):
        launch(add, 1, int(place), 1)
    ask(driver.cuMemFree, place)
    launch(add, 1, int(place), 1)
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS


def test_who_begins_to_watch_sees_every_launch(module: Any) -> None:
    add = ask(driver.cuModuleGetFunction, module, b"add")
    place = int(ask(driver.cuMemAlloc, 64))
    seen: list[Any] = []

    def watch(backend: Any, launch: Any) -> Any:
        seen.append(launch)
        return backend.run(launch)

    for _ in range(4):
        launch(add, 1, place, 1)
    with lab.watching(watch):
        for _ in range(5):
            launch(add, 1, place, 1)
    assert len(seen) == 5


def test_threads_take_turns_with_launches_of_machine_code(module: Any, context: Any) -> None:
    add = ask(driver.cuModuleGetFunction, module, b"add")
    place = int(ask(driver.cuMemAlloc, 128))
    ask(driver.cuMemsetD32, place, 0, 32)

    def work(number: int) -> None:
        ask(driver.cuCtxSetCurrent, context)
        for repeat in range(200):
            launch(add, 32, place, 32)
            if repeat % (20 + number) == 0:  # what machine code knows no longer holds
                ask(driver.cuMemFree, ask(driver.cuMemAlloc, 64))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = np.zeros(32, np.uint32)
    ask(driver.cuMemcpyDtoH, found.ctypes.data, place, 128)
    np.testing.assert_array_equal(found, 800)


def test_other_gpus_are_answered_for_as_on_a_machine_with_one(module: Any, context: Any) -> None:
    assert ask(driver.cuDeviceGetCount) == 1
    assert status_of(driver.cuDeviceGet, 1) == RESULT.CUDA_ERROR_INVALID_DEVICE
    assert ask(driver.cuDeviceCanAccessPeer, 0, 0) == 0
    attribute = driver.CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
    assert status_of(driver.cuDeviceGetP2PAttribute, attribute, 0, 0) == RESULT.CUDA_ERROR_INVALID_DEVICE
    assert status_of(driver.cuCtxDisablePeerAccess, context) == RESULT.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    data, back = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    place, other = ask(driver.cuMemAlloc, 64), ask(driver.cuMemAlloc, 64)
    ask(driver.cuMemcpyHtoD, place, data.ctypes.data, 64)
    ask(driver.cuMemcpyPeer, other, context, place, context, 64)
    ask(driver.cuMemcpyDtoH, back.ctypes.data, other, 64)
    np.testing.assert_array_equal(back, data)


def test_use_after_free_is_a_fault(module: Any) -> None:
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    place = ask(driver.cuMemAlloc, 64)
    ask(driver.cuMemFree, place)
    ask(driver.cuMemAlloc, 64)  # does not get the address again
    launch(kernel, 1, int(place), 1)
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS


def test_what_cannot_be_launched_fails_at_the_launch(module: Any) -> None:
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    for block, shared in ((1025, 0), (0, 0), (1, 300_000)):
        configuration = (
            kernel,
            1,
            1,
            1,
            block,
            1,
            1,
            shared,
            0,
            ((0, 0), (ctypes.c_uint64, ctypes.c_uint32)),
            0,
        )
        assert status_of(driver.cuLaunchKernel, *configuration) == RESULT.CUDA_ERROR_INVALID_VALUE
    ask(driver.cuCtxSynchronize)


def test_images_without_ptx_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(driver.cuModuleLoadData, b".version 8.0\n.target sm_80\nnonsense") == (
        RESULT.CUDA_ERROR_INVALID_PTX
    )
    assert status_of(driver.cuModuleLoadData, b"neither") == RESULT.CUDA_ERROR_INVALID_IMAGE
    assert "neither PTX nor a cubin" in capsys.readouterr().err


def test_entry_points_are_found_by_name_as_on_a_gpu(capfd: pytest.CaptureFixture[str]) -> None:
    """An H100's driver 580 answers so; what it has and we lack says that when it is called."""
    find = ctypes.CDLL("libcuda.so.1").cuGetProcAddress_v2

    def entry(name: bytes) -> tuple[int, int | None, int]:
        place, status = ctypes.c_void_p(5), ctypes.c_int(7)
        result = find(name, ctypes.byref(place), 13000, ctypes.c_uint64(0), ctypes.byref(status))
        return result, place.value, status.value

    assert entry(b"cuFooBar") == (0, None, 1)
    result, place, status = entry(b"cuMemAlloc")
    assert (result, status) == (0, 0)
    assert place
    result, place, status = entry(b"cuMulticastCreate")
    assert (result, status) == (0, 0)
    assert place
    assert ctypes.CFUNCTYPE(ctypes.c_int)(place)() == RESULT.CUDA_ERROR_NOT_SUPPORTED
    assert "cuMulticastCreate is not supported" in capfd.readouterr().err


def test_names_have_the_versions_of_nvidias_libraries() -> None:
    """As `readelf --dyn-syms` shows them: the driver's have none, the compiler's have its name."""
    libc = ctypes.CDLL(None)
    libc.dlvsym.restype = ctypes.c_void_p
    libc.dlvsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    for name, function, versioned in (
        ("libcuda.so.1", b"cuInit", False),
        ("libnvrtc.so.13", b"nvrtcGetCUBIN", True),
        ("libnvJitLink.so.13", b"nvJitLinkAddFile", True),
    ):
        handle = ctypes.CDLL(name)._handle
        assert libc.dlvsym(handle, function, name.encode()), name
        assert bool(libc.dlvsym(handle, function, b"another")) != versioned, name  # any will do where is none


def test_source_lines_of_compiled_programs_stay_though_their_files_do_not() -> None:
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
    text = b'extern "C" __global__ void k(int* x)\n{\n    x[0] = 1;\n}\n'
    program = ask(nvrtc.nvrtcCreateProgram, text, b"/gone/k.cu", 0, [], [])
    ask(nvrtc.nvrtcCompileProgram, program, 2, [b"-arch=sm_90", b"-lineinfo"])
    cubin = b" " * ask(nvrtc.nvrtcGetCUBINSize, program)
    ask(nvrtc.nvrtcGetCUBIN, program, cubin)
    assert lines_of("/gone/k.cu") == ()
    kernel = ask(driver.cuModuleGetFunction, ask(driver.cuModuleLoadData, cubin), b"k")
    assert lines_of("/gone/k.cu")[2] == "    x[0] = 1;"
    place = ask(driver.cuMemAlloc, 4)
    ask(driver.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, 0, ((int(place),), (ctypes.c_uint64,)), 0)
    found = np.zeros(1, "i4")
    ask(driver.cuMemcpyDtoH, found.ctypes.data, place, 4)
    assert found[0] == 1
