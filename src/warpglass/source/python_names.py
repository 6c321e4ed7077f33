"""What a Python kernel refers to, and the same kernel written for another package.

Belongs here: the names that a function takes from outside (globals, closure) and their translation. The same
kernel compiles with either package; only the objects behind its names differ. `transplant` copies a function
with these replaced: the module `cuda` (also where the function leaves it undefined), types, imported
intrinsics, device functions. Plain functions that a kernel calls become device functions.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from typing import Any

from .numba_cuda import PACKAGE as NUMBA_CUDA
from .numba_mlir import PACKAGE as NUMBA_MLIR
from .numba_package import Function, Package, version_of

PACKAGES = (NUMBA_MLIR, NUMBA_CUDA)  # in order of preference
_LIBRARIES = frozenset(
    {"numba", "numba_cuda", "numba_cuda_mlir", "numpy", "math", "cmath", "builtins", "cuda"}
)


def is_dispatcher(value: object) -> bool:
    """Whether this is what @cuda.jit of either package returns."""
    return hasattr(value, "py_func") and hasattr(value, "targetoptions")


def code_names(code: types.CodeType) -> Iterator[str]:
    """Yield the global (and attribute) names in a code object and the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_names(constant)


def references(function: Function) -> dict[str, object]:
    """Return the globals and closure variables that a function may use, by name; builtins are left out.

    `cuda` is there even if the function leaves it undefined: its value is then None.
    """
    found: dict[str, object] = {}
    for name in code_names(function.__code__):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
        elif name == "cuda":
            found[name] = None
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # a variable that is assigned later
    return found


def module_of(value: object) -> str:
    """Return the name of the module that a module, class, function or instance belongs to."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    own = getattr(value, "__module__", None)
    return own if isinstance(own, str) else type(value).__module__


def package_of(value: object) -> Package | None:
    """Return the package that an object comes from, None if from neither."""
    for module in (module_of(value), type(value).__module__):
        top = module.partition(".")[0]
        if top == "numba_cuda_mlir":
            return NUMBA_MLIR
        if top in ("numba", "numba_cuda"):
            return NUMBA_CUDA
    return None


def is_library(value: object) -> bool:
    """Whether an object belongs to Python, NumPy or one of the packages, not to the user."""
    return module_of(value).partition(".")[0] in _LIBRARIES


def choose_package(function: Function) -> Package:
    """Return the package that the names of a function come from, or the one that is installed."""
    cuda = references(function).get("cuda")
    preferred = (package_of(cuda) if cuda is not None else None) or NUMBA_MLIR
    if version_of(preferred) is None:
        return next((package for package in PACKAGES if version_of(package)), preferred)
    return preferred


def transplant(function: Function, package: Package, done: dict[int, Any] | None = None) -> Function:
    """Return the function with every name from outside meaning what it does in `package`."""
    done = {} if done is None else done
    replaced = {
        name: new
        for name, value in references(function).items()
        if (new := _translate(name, value, package, done)) is not value
    }
    if not replaced:
        return function
    closure = tuple(
        types.CellType(replaced[name]) if name in replaced else cell
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )
    copy = types.FunctionType(
        function.__code__,
        {**function.__globals__, **replaced},
        function.__name__,
        function.__defaults__,
        closure,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


def _translate(name: str, value: object, package: Package, done: dict[int, Any]) -> object:
    if value is None:
        return importlib.import_module(package.modules["cuda"]) if name == "cuda" else None
    if is_dispatcher(value):
        return _device_function(value, package, done)
    if isinstance(value, types.FunctionType) and not is_library(value):
        return _device_function(value, package, done)
    origin = package_of(value)
    if origin is None or origin is package:
        return value
    if isinstance(value, types.ModuleType):
        return _translate_module(value.__name__, origin, package) or value
    for place in ("types", "cuda"):
        module = importlib.import_module(package.modules[place])
        own = getattr(value, "__name__", None) or str(value)
        if hasattr(module, own):
            return getattr(module, own)
    return value


def _translate_module(name: str, origin: Package, package: Package) -> types.ModuleType | None:
    """Return the counterpart of a module; the top level counts as `types` (`numba.float32`)."""
    if name == origin.modules[""]:
        return importlib.import_module(package.modules["types"])
    for place in ("cuda", "types"):
        path = origin.modules[place]
        if name == path or name.startswith(path + "."):
            try:
                return importlib.import_module(package.modules[place] + name[len(path) :])
            except ImportError:
                return None
    if ".types" in name:  # numba.core.types
        return importlib.import_module(package.modules["types"])
    return None


def _device_function(value: Any, package: Package, done: dict[int, Any]) -> object:
    """Return the device function for a dispatcher or plain function, itself if nothing has to change."""
    if id(value) in done:
        return done[id(value)]
    done[id(value)] = value  # a recursive function refers to itself while it is being made
    function = value.py_func if is_dispatcher(value) else value
    moved = transplant(function, package, done)
    if moved is function and is_dispatcher(value) and package_of(value) is package:
        return value
    options = device_options(value)
    cuda = importlib.import_module(package.modules["cuda"])
    done[id(value)] = cuda.jit(moved, device=True, **options)
    return done[id(value)]


def device_options(value: Any) -> dict[str, object]:
    """Return the options of a device function that change its code and mean the same in both packages."""
    options: dict[str, Any] = getattr(value, "targetoptions", {})
    chosen = {name: options[name] for name in ("fastmath", "inline") if options.get(name)}
    return {name: option for name, option in chosen.items() if isinstance(option, (bool, str))}
