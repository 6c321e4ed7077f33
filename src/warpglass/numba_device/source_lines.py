"""Line numbers for the kernels of programs that are watched.

Belongs here: the import hook by which `jit` of numba.cuda and numba_cuda_mlir asks for line information where
the program does not say, so that findings and counters name lines of the source. It changes no instruction.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Modules that define the decorator, and its name there.
_DECORATORS = {
    "numba.cuda.decorators": "jit",
    "numba_cuda.numba.cuda.decorators": "jit",
    "numba_cuda_mlir.decorators": "mlir_jit",
}
# By these numba turns full debug information on, which brings lines itself and goes with nothing else.
_DEBUG = ("NUMBA_CUDA_DEBUGINFO", "NUMBA_DEBUGINFO")


@contextmanager
def asked_for() -> Iterator[None]:
    """Ask for lines in what is imported meanwhile."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path[:] = [one for one in sys.meta_path if one is not finder]


class _Finder:
    """Finds what the other finders find, and has the decorators changed once they are loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the modules above; None for all others."""
        if name not in _DECORATORS:
            return None
        for other in sys.meta_path:
            spec = other.find_spec(name, path, target) if not isinstance(other, _Finder) else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, _DECORATORS[name])
                return spec
        return None


class _Loader(Loader):
    """Another loader, after whose work a module's decorator asks for lines."""

    def __init__(self, loader: Any, decorator: str):
        self._loader = loader
        self._decorator = decorator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create what the other loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module, then change its decorator."""
        self._loader.exec_module(module)
        setattr(module, self._decorator, _with_lines(getattr(module, self._decorator)))


def _with_lines(jit: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(jit)
    def asking(*arguments: Any, **options: Any) -> Any:
        debug = options.get("debug", any(os.environ.get(name, "0") not in ("", "0") for name in _DEBUG))
        if not debug:
            options.setdefault("lineinfo", True)
        return jit(*arguments, **options)

    return asking
