"""The detectors' native functions (observe/natives/), and those of them that generated code calls.

All arguments are words; the first, `S`, is the address of a worker's state (layout.py). What generated code
calls is registered where it is written, under its name; the checker gives workers the addresses.
"""

from __future__ import annotations

import ctypes
from functools import cache
from types import FunctionType
from typing import Any

from ..natives import Library

_natives: dict[FunctionType, None] = {}
_inlined: dict[FunctionType, None] = {}
_exported: dict[str, FunctionType] = {}
_LIBRARY = Library("the detectors", _natives, _exported, _inlined)


def native(function: Any) -> Any:
    """A native function, for others to call."""
    _natives[function] = None
    return function


def inlined(function: Any) -> Any:
    """A native function that is put in place where it is called."""
    _inlined[function] = None
    return native(function)


def exported(function: Any) -> Any:
    """A native function that generated code may call by its name; it returns nothing."""
    symbol = _symbol(function.__name__)
    assert symbol not in _exported, f"two native functions are named {function.__name__}"
    _exported[symbol] = function
    return native(function)


def _symbol(name: str) -> str:
    """Not what the C library may have, or LLVM know."""
    return f"wg_{name}"


def names() -> list[str]:
    """The names of the exported functions, in an order that does not depend on who is imported first."""
    return sorted(function.__name__ for function in _exported.values())


def run(function: Any, *words: int) -> None:
    """Call an exported function from the host."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(words))
    kind(addresses()[function.__name__])(*words)


@cache
def addresses() -> dict[str, int]:
    """Where they are, compiled when first asked for."""
    return {name: _LIBRARY.address(_symbol(name)) for name in names()}
