"""Optimising the large kernels of the last rungs takes minutes: these tests have quick code of all."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def quick_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile as for kernels that are launched once."""
    monkeypatch.setenv("WARPGLASS_TIER", "quick")
