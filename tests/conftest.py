"""What all tests share: the `gpu` marker, whose tests are skipped where there is no GPU."""

from __future__ import annotations

import ctypes
import sys

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU; skipped where there is none")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and not has_gpu():
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))


def has_gpu() -> bool:
    """Ask the driver itself: no CUDA package needs to be importable for that."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
