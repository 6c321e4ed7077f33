"""The runtime by its exported functions, without a compiler. Run under pytest in a process of its own."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from warpglass.cuda_runtime import activate, active_runtime, addresses
from warpglass.cuda_runtime.calls import Dim3
from warpglass.cuda_runtime.exports import answering, exported
from warpglass.cuda_runtime.properties import PROPERTIES, PROPERTIES_12

activate("h100")
PLACES = {release: addresses(release) for release in (12, 13)}
HEAD = ".version 8.0\n.target sm_{}\n.address_size 64\n"
STORE = """
.visible .entry store(.param .u64 data) {
    .reg .b64 %d<2>; .reg .b32 %r<2>;
    ld.param.u64 %d1, [data]; mov.u32 %r1, VALUE; st.global.u32 [%d1], %r1;
    ret;
}
"""
CALLING = """
.extern .func (.param .b32 result) given();
.visible .entry calls(.param .u64 data) {
    .reg .b64 %d<2>; .reg .b32 %r<2>;
    ld.param.u64 %d1, [data];
    { .param .b32 result; call.uni (result), given; ld.param.b32 %r1, [result]; }
    st.global.u32 [%d1], %r1;
    ret;
}
"""
GIVING = ".visible .func (.param .b32 result) given() {\n    st.param.b32 [result], 42; ret;\n}\n"
PTX, MACHINE_CODE = 1, 2
KEPT: list[Any] = []


def call(name: str, *arguments: Any, release: int = 13, result: Any = ctypes.c_int) -> Any:
    kinds = [ctypes.c_uint64 if isinstance(one, int) else type(one) for one in arguments]
    return ctypes.CFUNCTYPE(result, *kinds)(PLACES[release][name])(*arguments)


def ok(name: str, *arguments: Any, release: int = 13) -> None:
    assert call(name, *arguments, release=release) == 0, name


def wrapper(*entries: tuple[int, int, str]) -> int:
    """The address of a wrapper of a fatbin with entries: kind, architecture, content."""
    body = b""
    for kind, architecture, text in entries:
        content = text.encode() + b"\0"
        content += bytes(-len(content) % 8)
        body += struct.pack(
            "<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(content), 0, 0, 0, 8, architecture, 0, 0, 0, 0, 0
        )
        body += content
    fatbin = ctypes.create_string_buffer(struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(body)) + body)
    found = ctypes.create_string_buffer(struct.pack("<IIQQ", 0x466243B1, 1, ctypes.addressof(fatbin), 0))
    KEPT.extend((fatbin, found))
    return ctypes.addressof(found)


def named(text: str) -> int:
    KEPT.append(ctypes.create_string_buffer(text.encode()))
    return ctypes.addressof(KEPT[-1])


def kernel(binary: int, name: str) -> int:
    """Register a kernel of a fat binary; returns the address of its host function."""
    host = named("a host function")
    call("__cudaRegisterFunction", binary, host, host, named(name), -1, 0, 0, 0, 0, 0)
    return host


def launched(function: int, release: int = 13) -> int:
    """What a kernel stores to memory that is given to it."""
    data = ctypes.c_uint64()
    ok("cudaMalloc", ctypes.addressof(data), 4)
    arguments = (ctypes.c_uint64 * 1)(ctypes.addressof(data))
    one = Dim3(1, 1, 1)
    status = call("cudaLaunchKernel", function, one, one, ctypes.addressof(arguments), 0, 0, release=release)
    assert status == 0, call("cudaGetErrorString", status, result=ctypes.c_char_p)
    found = ctypes.c_int32()
    ok("cudaMemcpy", ctypes.addressof(found), data.value, 4, 2)
    ok("cudaFree", data.value)
    return found.value


def ptx(architecture: int, value: int) -> tuple[int, int, str]:
    return PTX, architecture, HEAD.format(architecture) + STORE.replace("VALUE", str(value))


def test_the_newest_ptx_that_the_device_takes_is_run() -> None:
    entries = ptx(70, 7), ptx(90, 9), ptx(100, 10), (MACHINE_CODE, 90, "code")
    binary = call("__cudaRegisterFatBinary", wrapper(*entries), result=ctypes.c_uint64)
    assert launched(kernel(binary, "store")) == 9
    assert launched(kernel(binary, "store"), release=12) == 9
    call("__cudaUnregisterFatBinary", binary)


@pytest.mark.parametrize(
    ("entry", "said"),
    [((MACHINE_CODE, 90, "code"), "holds machine code"), (ptx(100, 1), "capability 10.0 and newer")],
    ids=["code", "newer PTX"],
)
def test_what_the_device_cannot_run_has_no_kernel_image(
    entry: tuple[int, int, str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    binary = call("__cudaRegisterFatBinary", wrapper(entry), result=ctypes.c_uint64)
    one = Dim3(1, 1, 1)
    assert call("cudaLaunchKernel", kernel(binary, "store"), one, one, 0, 0, 0) == 209
    assert call("cudaGetLastError") == 209
    assert said in capfd.readouterr().err


def test_units_that_were_compiled_apart_are_linked() -> None:
    found: list[int] = []
    register = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(found.append)
    KEPT.append(register)
    address = ctypes.cast(register, ctypes.c_void_p).value or 0
    for text in (CALLING, GIVING):
        unit = wrapper((PTX, 90, HEAD.format(90) + text))
        call("__cudaRegisterLinkedBinary", address, unit, 0, 0)
    assert found[0] == found[1]
    assert launched(kernel(found[0], "calls")) == 42


def test_a_library_that_is_unloaded_takes_its_kernels_along() -> None:
    binary = call("__cudaRegisterFatBinary", wrapper(ptx(80, 3)), result=ctypes.c_uint64)
    host = kernel(binary, "store")
    assert launched(host) == 3
    call("__cudaUnregisterFatBinary", binary)
    assert call("cudaFuncSetCacheConfig", host, 0) == 98  # cudaErrorInvalidDeviceFunction
    assert call("cudaGetLastError") == 98


def test_configurations_come_back_in_reverse() -> None:
    for number in range(12):
        extents = Dim3(number + 1, 2, 3), Dim3(4, 5, number)
        ok("__cudaPushCallConfiguration", *extents, number, 100 + number)
    for number in reversed(range(12)):
        grid, block = Dim3(), Dim3()
        shared, stream = ctypes.c_uint64(), ctypes.c_uint64()
        places = (ctypes.addressof(one) for one in (grid, block, shared, stream))
        ok("__cudaPopCallConfiguration", *places)
        assert grid.extents == (number + 1, 2, 3)
        assert block.extents == (4, 5, number)
        assert (shared.value, stream.value) == (number, 100 + number)
    assert call("__cudaPopCallConfiguration", 0, 0, 0, 0) == 52  # cudaErrorMissingConfiguration
    assert call("cudaGetLastError") == 52


def test_a_launch_that_repeats_is_made_without_python() -> None:
    binary = call("__cudaRegisterFatBinary", wrapper(ptx(80, 5)), result=ctypes.c_uint64)
    host = kernel(binary, "store")
    runtime = active_runtime()
    assert runtime is not None
    made: list[object] = []
    run = runtime.device.run
    runtime.device.run = lambda launch: (made.append(launch), run(launch))[1]
    data = ctypes.c_uint64()
    ok("cudaMalloc", ctypes.addressof(data), 4)
    arguments, one = (ctypes.c_uint64 * 1)(ctypes.addressof(data)), Dim3(1, 1, 1)
    for _ in range(50):
        ok("cudaMemset", data.value, 0, 4)
        ok("cudaLaunchKernel", host, one, one, ctypes.addressof(arguments), 0, 0)
    runtime.device.run = run
    found = ctypes.c_int32()
    ok("cudaMemcpy", ctypes.addressof(found), data.value, 4, 2)
    assert found.value == 5
    assert len(made) <= 3


def test_releases_have_their_own_forms() -> None:
    seen = ctypes.create_string_buffer(4096)
    ok("cudaGetDeviceProperties_v2", ctypes.addressof(seen), 0, release=12)
    assert struct.unpack_from("<i", seen, 348)[0] > 10**6  # clockRate, which CUDA 13 has not
    number = ctypes.c_int32()
    ok("cudaRuntimeGetVersion", ctypes.addressof(number), release=12)
    assert number.value // 1000 == 12
    managed = ctypes.c_uint64()
    ok("cudaMallocManaged", ctypes.addressof(managed), 64, 1)
    ok("cudaMemAdvise", managed.value, 64, 1, 0, release=12)
    ok("cudaMemAdvise", managed.value, 64, 1, 1)


@pytest.mark.parametrize("release", [12, 13])
def test_all_names_lead_somewhere(release: int) -> None:
    assert set(exported(release)) == set(PLACES[release])
    assert all(PLACES[release].values())
    assert answering("cudaMemcpyAsync_ptsz", release) is answering("cudaMemcpyAsync", release) is not None


def test_properties_have_the_size_of_the_headers() -> None:
    assert (ctypes.sizeof(PROPERTIES), ctypes.sizeof(PROPERTIES_12)) == (1008, 1032)
