"""Launches that a device refuses are refused with CUDA's error and a text that names the limit."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass import devices
from warpglass.engine.launch.backend import Dim3
from warpglass.engine.launch.limits import as_dim3, check_launch
from warpglass.errors import LaunchError

CONFIGURATION = "cudaErrorInvalidConfiguration"
VALUE = "cudaErrorInvalidValue"
RESOURCES = "cudaErrorLaunchOutOfResources"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, (5, 1, 1)),
        ((5,), (5, 1, 1)),
        ([2, 3], (2, 3, 1)),
        ((2, 3, 4), (2, 3, 4)),
        (np.int64(7), (7, 1, 1)),
        ((np.uint32(7), 2), (7, 2, 1)),
    ],
)
def test_extents(value: object, expected: Dim3):
    assert as_dim3(value, "grid") == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "at least 1"),
        ((4, -1), "extent of -1"),
        (2.0, r"no integer; use \(n"),
        ("4", "no integer"),
        (None, "no integer"),
        (True, "no integer"),
        ((), "0 dimensions"),
        ((1, 1, 1, 1), "4 dimensions"),
        (np.zeros(2), "no integer"),
    ],
)
def test_bad_extents_are_refused(value: object, text: str):
    with pytest.raises(LaunchError, match=f"{CONFIGURATION}: the block .*{text}") as caught:
        as_dim3(value, "block")
    assert (caught.value.cuda_name, caught.value.synchronous, caught.value.sticky) == (
        CONFIGURATION,
        True,
        False,
    )


FITS: list[tuple[str, Dim3, Dim3, int]] = [
    ("h100", (2**31 - 1, 65535, 65535), (1024, 1, 1), 227 * 1024),
    ("h100", (1, 1, 1), (16, 1, 64), 0),
    ("8800gtx", (65535, 65535, 1), (512, 1, 1), 16 * 1024),
    ("gtx980", (1, 1, 1), (32, 32, 1), 48 * 1024),
]


@pytest.mark.parametrize(("name", "grid", "block", "shared"), FITS)
def test_launch_at_the_limit_passes(name: str, grid: Dim3, block: Dim3, shared: int):
    check_launch(devices.get(name), grid, block, 0, shared)


REFUSED: list[tuple[str, Dim3, Dim3, str]] = [
    ("h100", (1, 1, 1), (1025, 1, 1), r"block \(1025, 1, 1\): x is 1025, but NVIDIA H100 .* at most 1024"),
    ("h100", (1, 1, 1), (1, 1, 65), "z is 65, .* at most 64"),
    ("h100", (1, 1, 1), (32, 33, 1), "has 1056 threads, .* at most 1024 per block"),
    ("h100", (1, 65536, 1), (1, 1, 1), r"grid \(1, 65536, 1\): y is 65536, .* at most 65535"),
    ("h100", (2**31, 1, 1), (1, 1, 1), "at most 2147483647"),
    (
        "gtx980",
        (1, 1, 1),
        (64, 64, 1),
        r"4096 threads, but NVIDIA GeForce GTX 980 \(compute capability 5.2\)",
    ),
    ("m2070", (65536, 1, 1), (1, 1, 1), "at most 65535"),
    ("8800gtx", (1, 1, 2), (1, 1, 1), "z is 2, .* at most 1"),
    ("8800gtx", (1, 1, 1), (513, 1, 1), "at most 512"),
]


@pytest.mark.parametrize(("name", "grid", "block", "text"), REFUSED)
def test_launch_beyond_the_limit_is_refused(name: str, grid: Dim3, block: Dim3, text: str):
    with pytest.raises(LaunchError, match=text) as caught:
        check_launch(devices.get(name), grid, block)
    assert (caught.value.cuda_name, caught.value.synchronous, caught.value.sticky) == (
        CONFIGURATION,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("name", "most"), [("h100", 232448), ("a100", 166912), ("t4", 65536), ("gtx980", 49152)]
)
def test_shared_memory_limit(name: str, most: int):
    check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), 1024, most - 1024)
    with pytest.raises(LaunchError, match=f"at most {most} per block") as caught:
        check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), 1024, most - 1023)
    assert caught.value.cuda_name == VALUE


def test_negative_shared_memory_is_refused():
    with pytest.raises(LaunchError, match="-4 bytes"):
        check_launch(devices.get("h100"), (1, 1, 1), (32, 1, 1), 0, -4)


def test_register_limit():
    h100 = devices.get("h100")
    check_launch(h100, (1, 1, 1), (1024, 1, 1), registers=64)
    with pytest.raises(LaunchError, match="1024 threads of 65 registers need 73728 .* has 65536") as caught:
        check_launch(h100, (1, 1, 1), (1024, 1, 1), registers=65)
    assert caught.value.cuda_name == RESOURCES
    check_launch(devices.get("8800gtx"), (1, 1, 1), (512, 1, 1), registers=16)
    with pytest.raises(LaunchError):
        check_launch(devices.get("8800gtx"), (1, 1, 1), (512, 1, 1), registers=17)


def test_static_shared_memory_limit():
    for name, most, hint in (("h100", 49152, "may have 232448"), ("8800gtx", 16384, "16384$")):
        check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), most)
        with pytest.raises(LaunchError, match=f"{most + 4} bytes of static .*{hint}") as caught:
            check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), most + 4)
        assert caught.value.cuda_name == "cudaErrorInvalidPtx"
        assert not caught.value.sticky


@pytest.mark.parametrize(
    ("name", "wide", "most"), [("h100", True, 32764), ("h100", False, 4352), ("p100", True, 4352)]
)
def test_parameter_limit(name: str, wide: bool, most: int):
    check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), parameters=most, wide_parameters=wide)
    with pytest.raises(LaunchError, match=f"{most + 1} bytes of parameters.*at most {most}"):
        check_launch(devices.get(name), (1, 1, 1), (32, 1, 1), parameters=most + 1, wide_parameters=wide)


def test_kernel_directives():
    h100 = devices.get("h100")
    bounds = (("maxntid", (16, 16)), ("minnctapersm", (2,)))
    check_launch(h100, (1, 1, 1), (256, 1, 1), directives=bounds)
    with pytest.raises(LaunchError, match="at most 256"):
        check_launch(h100, (1, 1, 1), (257, 1, 1), directives=bounds)
    required = (("reqntid", (8, 8)),)
    check_launch(h100, (1, 1, 1), (8, 8, 1), directives=required)
    with pytest.raises(LaunchError, match=r"requires exactly \(8, 8, 1\)"):
        check_launch(h100, (1, 1, 1), (64, 1, 1), directives=required)
