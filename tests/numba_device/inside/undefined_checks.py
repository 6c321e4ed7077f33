"""Memory of the virtual device that nobody has written, under check. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.numba_device.inside.driver_checks import RESULT, ask, context, driver, launch, module, status_of  # noqa: F401
from warpglass import lab
from warpglass.lab.check import Launches
from warpglass.numba_device import active_device

N = 100
ONES = np.ones(N, np.int32)
POISON = np.array([0xFFF5A5A5], np.uint32).view(np.int32)[0]


@pytest.fixture
def found() -> Iterator[Callable[[], list[tuple[str, int | None, int]]]]:
    """What the launches until now have shown: kind, element (PTX has bytes), count."""
    launches = Launches("h100", ())
    with lab.watching(launches.make):
        yield lambda: [
            (finding.kind, None if finding.index is None else finding.index // 4, finding.count)
            for check in launches.checks()
            for finding in check.findings
        ]


@pytest.fixture
def add(module: Any) -> Callable[..., None]:  # noqa: F811
    """A kernel that adds 1 to the first elements."""
    kernel = ask(driver.cuModuleGetFunction, module, b"add")
    return lambda place, count=N: launch(kernel, 128, int(place), count)


def _array() -> int:
    return int(ask(driver.cuMemAlloc, 4 * N))


def _copied(count: int) -> int:
    """An array the first elements of which were copied to the device."""
    place = _array()
    if count:
        ask(driver.cuMemcpyHtoD, place, ONES.ctypes.data, 4 * count)
    return place


@pytest.mark.parametrize("count", [0, 1, 33, N - 1, N])
def test_what_was_not_copied_is_found(count: int, found: Any, add: Any) -> None:
    add(_copied(count))
    assert found() == ([("uninitialised-read", count, N - count)] if count < N else [])


def test_a_kernel_defines_what_it_writes(found: Any, add: Any) -> None:
    place = _copied(60)
    add(place, 60)
    assert not found()
    add(place)
    assert found() == [("uninitialised-read", 60, 40)]
    add(place)
    assert found() == [("uninitialised-read", 60, 40)]  # whose results are written now


@pytest.mark.parametrize(
    ("fill", "first", "count"),
    [("cuMemsetD8", 0, 37), ("cuMemsetD16", 2, 38), ("cuMemsetD32", 40, 60), ("cuMemsetD32Async", 0, N)],
)
def test_filling_defines(fill: str, first: int, count: int, found: Any, add: Any) -> None:
    place, width = _array(), {"8": 1, "6": 2, "2": 4}[fill.removesuffix("Async")[-1]]
    stream = (0,) if fill.endswith("Async") else ()
    ask(getattr(driver, fill), place + 4 * first, 0, 4 * count // width, *stream)
    add(place)
    missing = N - count
    assert found() == ([("uninitialised-read", count if first == 0 else 0, missing)] if missing else [])


def test_a_part_of_an_element_is_not_all_of_it(found: Any, add: Any) -> None:
    place = _copied(N - 1)
    ask(driver.cuMemsetD8, place + 4 * (N - 1), 0, 3)
    add(place)
    assert found() == [("uninitialised-read", N - 1, 1)]


@pytest.mark.parametrize("copy", ["cuMemcpyDtoD", "cuMemcpy"])
def test_copies_of_what_is_undefined_are_undefined(copy: str, found: Any, add: Any) -> None:
    source, target = _copied(60), _copied(N)
    ask(getattr(driver, copy), target, source + 40, 4 * 80)  # elements 10 to 89: 50 of them are ones
    assert not found()
    add(target)
    assert found() == [("uninitialised-read", 50, 30)]


def test_reading_back_is_no_finding_and_shows_the_pattern(found: Any) -> None:
    back = np.zeros(N, np.int32)
    ask(driver.cuMemcpyDtoH, back.ctypes.data, _copied(10), back.nbytes)
    assert back.tolist() == [1] * 10 + [POISON] * 90
    assert np.isnan(np.array([POISON]).view(np.float32))[0]
    assert not found()


def test_large_memory_is_undefined_zeros(found: Any, add: Any) -> None:
    back = np.ones(N, np.int32)
    place = ask(driver.cuMemAlloc, 64 << 20)
    ask(driver.cuMemcpyDtoH, back.ctypes.data, int(place) + 4096, back.nbytes)
    assert not back.any()
    add(place)
    assert found() == [("uninitialised-read", 0, N)]


def test_the_host_writes_managed_memory_unseen(found: Any, add: Any) -> None:
    place = int(ask(driver.cuMemAllocManaged, 4 * N, 1))
    seen = np.ctypeslib.as_array((ctypes.c_int32 * N).from_address(place))
    seen[:70] = 0
    add(place)
    assert found() == [("uninitialised-read", 70, 30)]


def test_memory_of_a_pool(found: Any, add: Any) -> None:
    place = ask(driver.cuMemAllocAsync, 4 * N, 0)
    add(place)
    ask(driver.cuMemFreeAsync, place, 0)
    assert found() == [("uninitialised-read", 0, N)]


def test_a_graph_defines_when_it_is_launched(found: Any, add: Any) -> None:
    place, stream = _array(), ask(driver.cuStreamCreate, 0)
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    ask(driver.cuStreamBeginCapture, stream, mode)
    ask(driver.cuMemsetD32Async, place, 0, N, stream)
    graph = ask(driver.cuGraphInstantiate, ask(driver.cuStreamEndCapture, stream), 0)
    ask(driver.cuGraphLaunch, graph, stream)
    add(place)
    assert not found()


def test_launches_that_nobody_saw_may_have_written_anything(add: Any) -> None:
    with lab.watching(Launches("h100", ()).make):
        place = _array()
    add(place)
    launches = Launches("h100", ())
    with lab.watching(launches.make):
        add(place)
        assert not launches.checks()[0].findings
        other = _array()
        with lab.watching(lambda backend, one: backend.run(one)):
            add(other)
        add(other)
    assert not launches.checks()[-1].findings


def test_freed_memory_is_named(found: Any, add: Any) -> None:
    place, _ = _copied(N), _copied(N)
    ask(driver.cuMemFree, place)
    add(place)
    assert status_of(driver.cuCtxSynchronize) == RESULT.CUDA_ERROR_ILLEGAL_ADDRESS
    assert [kind for kind, _, _ in found()] == ["use-after-free"]
    # Its number depends on which tests have run before.
    assert re.search(r"of allocation \d+ \(400 bytes\), which the program has freed", _notes())


def _notes() -> str:
    device = active_device()
    assert device is not None
    return " ".join(device.notes.values())
