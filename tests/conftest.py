"""What all tests share: the `gpu` marker, skipped where there is no GPU, and the tier of the engine's code.

Tests launch most kernels once, for which quick code is made (engine/cpu/tiers.py). One test in twenty, the
same in every run, has its kernels optimised; with WARPGLASS_TESTS=full all of them have.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import zlib

import pytest

FULL = os.environ.get("WARPGLASS_TESTS") == "full"
TIER = "WARPGLASS_TIER"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU; skipped where there is none")
    os.environ.setdefault(TIER, "optimised" if FULL else "quick")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a shell's background job
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests send it to themselves


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and not has_gpu():
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))


@pytest.fixture(autouse=True)
def _optimise_a_sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get(TIER) == "quick" and zlib.crc32(request.node.nodeid.encode()) % 20 == 0:
        monkeypatch.setenv(TIER, "optimised")


def has_gpu() -> bool:
    """Ask the driver itself: no CUDA package needs to be importable for that."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
