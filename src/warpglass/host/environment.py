"""Reading environment variables where every launch asks for them.

`os.environ.get` encodes the name and, for a variable that is not set, raises and catches an exception: with
some ten questions a launch that took longer than the launch. Here an answer is one look into the dictionary
that `os.environ` keeps and writes to, so changes show at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_KEPT: Mapping[Any, Any] | None = getattr(os.environ, "_data", None)  # CPython's and PyPy's name for it
_encode: Callable[[str], Any] = cache(getattr(os.environ, "encodekey", str))
_decode: Callable[[Any], str] = cache(getattr(os.environ, "decodevalue", str))


def read(name: str) -> str:
    """The text of a variable; "" if it is not set."""
    if _KEPT is None:
        return os.environ.get(name, "")
    value = _KEPT.get(_encode(name))
    return "" if value is None else _decode(value)


def reader(*names: str) -> Callable[[], tuple[object, ...]]:
    """What returns the texts of variables as one value to compare, None for those that are not set."""
    if _KEPT is None:
        return lambda: tuple([os.environ.get(name) for name in names])
    keys, get = [_encode(name) for name in names], _KEPT.get
    return lambda: tuple(map(get, keys))
