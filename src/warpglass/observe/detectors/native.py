"""The native functions: Python compiled by numba, called by one another and, if exported, by generated code.

All arguments are 64-bit words; the first, `S`, is the address of a worker's state (layout.py). What generated
code calls is registered where it is written, under its name; the checker gives workers the addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cfunc, njit, types

_exported: dict[str, Any] = {}

native: Callable[[Any], Any] = njit(cache=True)
inlined: Callable[[Any], Any] = njit(cache=True, forceinline=True)


def exported(function: Callable[..., None]) -> Any:
    """A native function that generated code may call by its name."""
    assert function.__name__ not in _exported, f"two native functions are named {function.__name__}"
    _exported[function.__name__] = function
    return native(function)


def names() -> list[str]:
    """The names of the exported functions, in an order that does not depend on who is imported first."""
    return sorted(_exported)


@cache
def compiled() -> dict[str, Any]:
    """The exported functions, compiled when first asked for; numba keeps them on disk."""
    found: dict[str, Any] = {}
    for name, function in _exported.items():
        words = function.__code__.co_argcount
        found[name] = cfunc(types.void(*[types.int64] * words), cache=True)(function)
    return found


def run(function: Any, *words: int) -> None:
    """Call an exported function from the host."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(words))
    kind(addresses()[function.__name__])(*words)


@cache
def addresses() -> dict[str, int]:
    """Where they are."""
    return {name: function.address for name, function in compiled().items()}
