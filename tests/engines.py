"""Runs PTX on one engine by name: "reference", "kinds", or "gpu" where there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Backend, Launch
from warpglass.source.compiled import Compiled

CPU_ENGINES = ("reference", "kinds")
ENGINES = (*CPU_ENGINES, pytest.param("gpu", marks=pytest.mark.gpu))

Extent = int | tuple[int, ...]


@contextmanager
def engine_mode(engine: str) -> Iterator[None]:
    """Choose the CPU engine's implementation of the lanes for a while."""
    with _set("WARPGLASS_ENGINE", engine):
        yield


@contextmanager
def worker_threads(count: int) -> Iterator[None]:
    """Let launches have so many threads for a while."""
    with _set("WARPGLASS_THREADS", str(count)):
        yield


@contextmanager
def _set(variable: str, value: str) -> Iterator[None]:
    before = os.environ.get(variable)
    os.environ[variable] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


def run_ptx(
    text: str,
    grid: Extent,
    block: Extent,
    args: Sequence[object],
    *,
    engine: str,
    name: str = "k",
    shared: int = 0,
    timeout: float = 20.0,
) -> None:
    """Run an entry of a PTX text; results are in the arrays."""
    launch = Launch(
        Compiled(text, name, name, "ptx"), _dim3(grid), _dim3(block), tuple(args), shared, timeout
    )
    if engine == "gpu":
        _gpu().run(launch)
        return
    with engine_mode(engine):
        CpuBackend().run(launch)


def _dim3(extent: Extent) -> tuple[int, int, int]:
    x, y, z = ((extent,) if isinstance(extent, int) else extent) + (1, 1, 1)[
        : 2 if isinstance(extent, int) else 3 - len(extent)
    ]
    return x, y, z


def _gpu() -> Backend:
    from warpglass import lab

    return lab.backend("gpu")
