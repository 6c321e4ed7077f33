"""Variables of a kernel's file, __constant__ and __device__: their values from and to Python.

Belongs here: which variable a name means, what a value must be, and which values a back end has yet to be
told. A back end keeps the variables of kernels that are loaded apart, as CUDA does those of modules; values
travel with the next launch and stay until a kernel or the author changes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.launch.backend import Backend
from ..engine.launch.declared_types import element_kinds
from ..errors import ArgumentError
from ..records.spelling import did_you_mean
from ..source import Compiled
from ..source.compiled import ModuleVariable


class Variables:
    """The values that the author has set for one kernel's variables, and which back ends know them."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._told: dict[str, set[str]] = {}  # symbols, by back end
        self._last: Backend | None = None

    def set(self, compiled: Compiled, name: str, value: object) -> None:
        """Set a variable for all launches to come; raises ArgumentError if name or value do not fit."""
        variable = find(compiled, name)
        self._values[variable.symbol] = encode(compiled.name, variable, value)
        for told in self._told.values():
            told.discard(variable.symbol)

    def get(self, compiled: Compiled, name: str, default: Callable[[], Backend]) -> np.ndarray[Any, Any]:
        """A copy of what a variable holds where the kernel ran last (`default` if nowhere), or as it was set.

        Raises ArgumentError.
        """
        variable = find(compiled, name)
        place = self._last or default()
        content = self._values.get(variable.symbol)
        if content is None or variable.symbol in self._told.get(_key(place), ()):
            content = place.read_variable(compiled, variable.symbol) or content
        if content is None:
            raise ArgumentError(f"{compiled.name} does not use {variable}, and it was not set")
        return decode(variable, content)

    def for_launch(self, place: Backend) -> tuple[tuple[str, bytes], ...]:
        """What a launch on a back end has to write first."""
        self._last = place
        if not self._values:
            return ()
        told = self._told.setdefault(_key(place), set())
        news = tuple((symbol, value) for symbol, value in self._values.items() if symbol not in told)
        told.update(symbol for symbol, _ in news)
        return news


def _key(place: Backend) -> str:
    return f"{place.name}{getattr(place, 'ordinal', '')}"


def find(compiled: Compiled, name: str) -> ModuleVariable:
    """The variable of a kernel's file that a name means; namespaces may be left out where that is clear."""
    known = compiled.variables
    exact = [one for one in known if name.strip() in (one.name, one.symbol)]
    found = exact or [one for one in known if one.name.endswith(f"::{name.strip()}")]
    if len(found) == 1:
        return found[0]
    if compiled.language == "python":
        raise ArgumentError(f"{compiled.name}: kernels in Python have no variables that can be set or read")
    names = [one.name for one in known]
    hint = did_you_mean(name, [*names, *(one.rpartition("::")[2] for one in names)])
    listed = ", ".join(map(str, known)) or "none"
    what = (
        f"{len(found)} variables are named {name}"
        if found
        else f"no __constant__ or __device__ variable {name}"
    )
    raise ArgumentError(f"{compiled.name}: {what}{hint}; its file has {listed}")


def encode(kernel: str, variable: ModuleVariable, value: object) -> bytes:
    """The bytes of a value for a variable; raises ArgumentError where it has another type or size."""
    element = variable.element
    array = np.asarray(value)
    if element is not None and element.dtype is not None and not isinstance(value, np.ndarray | np.generic):
        array = _converted(kernel, variable, array, element.dtype)
    kinds = element_kinds(element)
    if array.dtype.hasobject or (
        kinds is not None and array.dtype.char not in kinds and not array.dtype.names
    ):
        wanted = "bytes" if element is None or element.dtype is None else str(element.dtype)
        raise ArgumentError(
            f"{kernel}: {variable} needs {wanted}, got {array.dtype}; pass x.astype(np.{wanted}), or "
            f"x.view(np.{wanted}) if its bytes are meant"
        )
    if array.nbytes != variable.size:
        raise ArgumentError(
            f"{kernel}: {variable} has {variable.size} bytes, got {array.nbytes} (shape {array.shape} of "
            f"{array.dtype})"
        )
    return array.tobytes()


def _converted(
    kernel: str, variable: ModuleVariable, array: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Python numbers as elements of a type that holds them."""
    try:
        found = array.astype(dtype, casting="unsafe")
        fits = dtype.kind == "f" or np.array_equal(found, array)
    except (TypeError, ValueError, OverflowError):
        found, fits = array, False
    if array.dtype.kind not in "biuf" or not fits:
        raise ArgumentError(f"{kernel}: {variable} cannot hold {str(array.tolist())[:60]}")
    return found


def decode(variable: ModuleVariable, content: bytes) -> np.ndarray[Any, Any]:
    """The array that a variable's bytes are: of bytes where its type has no counterpart in NumPy."""
    element = variable.element
    if element is None or element.dtype is None:
        return np.frombuffer(content, np.uint8).copy()
    lanes = (element.count,) if element.count > 1 else ()
    return np.frombuffer(content, element.dtype).reshape((*variable.shape, *lanes)).copy()
