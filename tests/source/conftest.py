"""What tests of front ends share: caches of their own, both numba packages, launches on every engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
import warpglass.source
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.source import numba_cuda, numba_mlir
from warpglass.source.numba_package import Package, version_of

Launch = Callable[..., None]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a cache of its own, so that it compiles what it says it compiles."""
    folder = tmp_path_factory.mktemp("cache")
    folder.chmod(0o700)
    monkeypatch.setenv("WARPGLASS_CACHE", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(Path(warpglass.source.__file__).parents[2]))  # for fresh processes
    return folder


@pytest.fixture(autouse=True)
def usable_device() -> Iterator[None]:
    """Clear a sticky error that the test provoked."""
    yield
    lab.reset("cpu")


def _if_installed(package: Package) -> Any:
    missing = pytest.mark.skip(reason=f"{package.name} is not installed")
    return pytest.param(package, id=package.name, marks=[missing] if version_of(package) is None else [])


@pytest.fixture(params=[_if_installed(numba_mlir.PACKAGE), _if_installed(numba_cuda.PACKAGE)])
def package(request: pytest.FixtureRequest) -> Package:
    """Each package that compiles Python kernels, if it is installed."""
    return request.param


@pytest.fixture
def cuda(package: Package) -> Any:
    """The package's module `cuda`."""
    return importlib.import_module(package.modules["cuda"])


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def launch(request: pytest.FixtureRequest, cuda: Any) -> Launch:
    """Launch a kernel; on the CPU on both engines, whose results must be the same to the bit."""

    def made(kernel: Any) -> wg.Kernel:
        return wg.from_numba(kernel if hasattr(kernel, "py_func") else cuda.jit(kernel))

    def on_gpu(kernel: Any, grid: Any, block: Any, *args: Any, shared: int = 0) -> None:
        lab.run(made(kernel), grid, block, args, shared, device="gpu")

    def on_cpu(kernel: Any, grid: Any, block: Any, *args: Any, shared: int = 0) -> None:
        ready = made(kernel)
        other = _copied(args, {})
        for engine, given in zip(CPU_ENGINES, (other, args), strict=True):
            with engine_mode(engine):
                lab.run(ready, grid, block, given, shared, device="cpu", timeout=20)
        for first, second in zip(_arrays(other), _arrays(args), strict=True):
            assert _content(first) == _content(second), "the engines differ"

    return on_gpu if request.param == "gpu" else on_cpu


def _copied(args: tuple[Any, ...], owners: dict[int, np.ndarray[Any, Any]]) -> tuple[Any, ...]:
    """Copy arguments; views of one array stay views of one array, with the strides that they have."""
    return tuple(_copy(arg, owners) for arg in args)


def _copy(arg: Any, owners: dict[int, np.ndarray[Any, Any]]) -> Any:
    if isinstance(arg, tuple):
        items = _copied(arg, owners)
        return type(arg)(*items) if hasattr(arg, "_fields") else items
    if isinstance(arg, np.void):
        return np.array(arg)[()]
    if not isinstance(arg, np.ndarray):
        return arg
    owner = arg
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    kept = owners.setdefault(id(owner), owner.copy("K"))
    offset = arg.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(arg.shape, arg.dtype, kept.reshape(-1, order="A"), offset, arg.strides)


def _content(array: np.ndarray[Any, Any]) -> object:
    """An array's bits; of records the fields', since what lies between them is not copied."""
    if array.dtype.names is None:
        return array.tobytes()
    return [_content(np.ascontiguousarray(array[name])) for name in array.dtype.names]


def _arrays(args: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays among arguments, in tuples too."""
    found: list[np.ndarray[Any, Any]] = []
    for arg in args:
        if isinstance(arg, tuple):
            found += _arrays(arg)
        elif isinstance(arg, np.ndarray):
            found.append(arg)
    return found
