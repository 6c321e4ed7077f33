"""To optimise the large kernels of the last rungs takes minutes: here they keep quick code."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from warpglass.engine.cpu import tiers


@pytest.fixture(autouse=True)
def optimised_where_possible(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where tests are to have optimised code, a kernel goes without after ten seconds, as in a bench."""
    if os.environ.get(tiers.VARIABLE) != tiers.OPTIMISED:
        yield
        return
    monkeypatch.delenv(tiers.VARIABLE)
    monkeypatch.setenv("WARPGLASS_OPTIMISE_TIMEOUT", "10")
    with tiers.only(tiers.OPTIMISED):
        yield
