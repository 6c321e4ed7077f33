"""Both implementations of the engine, each test leaving the device usable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from warpglass import lab


@pytest.fixture(params=["kinds", "reference"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on either implementation of the engine."""
    monkeypatch.setenv("WARPGLASS_ENGINE", request.param)
    return request.param


@pytest.fixture(autouse=True)
def usable_device() -> Iterator[None]:
    """Clear a sticky error that the test provoked."""
    yield
    lab.reset("cpu")
