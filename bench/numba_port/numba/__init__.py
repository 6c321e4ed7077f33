"""The names of numba and numba.cuda, with numba-cuda-mlir behind them.

With this folder's parent on the path an unmodified program for numba.cuda runs through numba-cuda-mlir:
`numba.cuda` is `numba_cuda_mlir.cuda`, and a module below it is the one of the same name in numba-cuda-mlir.
Only `numba.cuda.tests` are numba-cuda's own files. Nothing of either package is copied or changed on disk.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

TESTS = "numba.cuda.tests"
SUPPORT = f"{TESTS}.support"
# Where a module of numba.cuda may be; names of the first shadow those of the next.
PLACES = ("numba_cuda_mlir.cuda", "numba_cuda_mlir", "numba_cuda_mlir.numba_cuda")

SPLIT = ("vector_types",)  # modules whose other half is in a later place


class Absent:
    """Stands for a name that numba-cuda-mlir does not have, so that a file which asks for it can be imported.

    It decorates functions, which then are absent as well; any other use is an AbsentError.
    """

    def __init__(self, name: str):
        self.__name__ = name

    def __call__(self, *given: Any, **options: Any) -> Absent:
        if len(given) == 1 and callable(given[0]) and not options:
            return Absent(f"{self.__name__}({getattr(given[0], '__name__', '...')})")
        raise AbsentError(f"numba-cuda-mlir has no {self.__name__}")

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentError(f"numba-cuda-mlir has no {self.__name__}.{name}")


class AbsentError(NotImplementedError):
    """The program uses what numba-cuda-mlir does not have."""


class AbsentModule(ModuleType):
    """A module that numba-cuda-mlir does not have."""

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class View(ModuleType):
    """A module whose names are those of several, the first that has one deciding."""

    def __init__(self, name: str, modules: Sequence[ModuleType]):
        super().__init__(name)
        self.__path__ = []
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        for module in self._modules:
            if hasattr(module, name):
                return getattr(module, name)
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"
        return importlib.import_module(whole) if behind(whole) else Absent(whole)


class Loader(importlib.abc.Loader):
    """Puts a module of numba-cuda-mlir, a view of several, or an absent one, under a name of numba's."""

    def __init__(self, modules: Sequence[ModuleType]):
        self._modules = modules

    def exec_module(self, module: ModuleType) -> None:
        """Let what is behind the name take its place."""
        name = module.__name__
        if self._modules:
            one = len(self._modules) == 1
            sys.modules[name] = self._modules[0] if one else View(name, self._modules)
        else:
            sys.modules[name] = AbsentModule(name)
            sys.modules[name].__path__ = []


class Finder(importlib.abc.MetaPathFinder):
    """Finds every module below numba; as the last finder, what else is asked of numba-cuda-mlir's `cuda`."""

    def __init__(self, last: bool):
        self._last = last

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module of numba-cuda-mlir of this name; a file of numba-cuda's for its tests."""
        if name.startswith(f"{PLACES[0]}."):  # of `from numba.cuda import name`, and nobody else found it
            other = f"numba.cuda{name.removeprefix(PLACES[0])}"
            loader = Loader([importlib.import_module(other)]) if self._last else None
            return importlib.machinery.ModuleSpec(name, loader) if loader else None
        if self._last or not name.startswith("numba."):
            return None
        if name == TESTS:
            folder = tests_folder()
            return importlib.util.spec_from_file_location(
                name, folder / "__init__.py", submodule_search_locations=[str(folder)]
            )
        if name.startswith(f"{TESTS}.") and name != SUPPORT:
            return importlib.machinery.PathFinder.find_spec(name, path, target)
        return importlib.machinery.ModuleSpec(name, Loader(behind(name)), is_package=True)


def tests_folder() -> Path:
    """The folder of numba-cuda's own tests."""
    spec = importlib.util.find_spec("numba_cuda")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("numba-cuda is not installed", name="numba_cuda")
    return Path(spec.origin).parent / "numba" / "cuda" / "tests"


def behind(name: str) -> list[ModuleType]:
    """The modules of numba-cuda-mlir that a module of numba's is, the one that decides first."""
    rest = name.removeprefix("numba.").removeprefix("cuda").lstrip(".")
    if not rest:
        return [importlib.import_module(PLACES[0])]
    found = [importlib.import_module(f"{place}.{rest}") for place in PLACES if exists(f"{place}.{rest}")]
    if not found and rest.startswith("core."):
        return behind(f"numba.{rest.removeprefix('core.')}")
    if rest == "core":  # of which some modules have moved
        return [*found, importlib.import_module(PLACES[-1])]
    if rest == "extending":
        return [with_registry(found[0]), *found]
    if found and found[0].__name__.startswith(f"{PLACES[0]}.") and rest not in SPLIT:
        return found[:1]  # kernels know this very module
    return found


def exists(name: str) -> bool:
    """Whether numba-cuda-mlir has such a module; imports the packages that it would be in."""
    if name in sys.modules:
        return True
    parent = name.rpartition(".")[0]
    if not exists(parent):
        return False
    path = getattr(importlib.import_module(parent), "__path__", None)
    return path is not None and importlib.machinery.PathFinder.find_spec(name, path) is not None


def with_registry(extending: Any) -> ModuleType:
    """The decorators of numba.extending, which name the registry that numba-cuda-mlir's want named."""
    module = ModuleType("numba.extending")

    def registering(name: str) -> Any:
        def decorator(*given: Any, **options: Any) -> Any:
            register = getattr(extending, name)(*given, typing_registry=extending.typing_registry, **options)

            def registered(function: Any) -> Any:
                done = register(function)
                extending.refresh_registries()
                return done

            return registered

        return decorator

    for name in ("overload", "overload_attribute", "overload_method"):
        setattr(module, name, registering(name))
    return module


def prepare_tests() -> None:
    """Give the tests their data, and decorators for numba's simulator their meaning where there is none."""
    config: Any = importlib.import_module("numba_cuda_mlir.numba_cuda.core.config")
    testing: Any = importlib.import_module("numba_cuda_mlir.numba_cuda.testing")
    config.ENABLE_CUDASIM = 0
    testing.test_data_dir = tests_folder() / "data"
    testing.skip_on_cudasim = lambda reason: lambda test: test
    testing.skip_unless_cudasim = unittest.skip
    testing.xfail_unless_cudasim = unittest.expectedFailure


def __getattr__(name: str) -> Any:
    """What numba re-exports of its types, and of numba.cuda."""
    for place in ("numba_cuda_mlir.types", *PLACES, "numba_cuda_mlir.numba_cuda.typing.typeof"):
        module = importlib.import_module(place)
        if hasattr(module, name):
            return getattr(module, name)
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"numba.{name}")


sys.meta_path.insert(0, Finder(last=False))
sys.meta_path.append(Finder(last=True))
prepare_tests()
