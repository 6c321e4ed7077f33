"""Tests that need a GPU: `pytest -m gpu`. Without one they are skipped, with the reason."""

from __future__ import annotations

import pytest

from warpglass.engine.gpu.backend import GpuBackend
from warpglass.engine.gpu.detection import problem


@pytest.fixture(scope="session")
def gpu() -> GpuBackend:
    """The GPU, one context for the whole session."""
    reason = problem()
    if reason is not None:
        pytest.skip(reason)
    return GpuBackend()
