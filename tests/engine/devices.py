"""Runs CUDA C++ kernels on either implementation of the engine and, where there is one, a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import CPU_ENGINES, engine_mode

DEVICES = (*CPU_ENGINES, pytest.param("gpu", marks=pytest.mark.gpu))


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """What to give `lab.run` as its device."""
    if request.param == "gpu":
        yield "gpu"
        return
    with engine_mode(request.param):
        yield "cpu"
