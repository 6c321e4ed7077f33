"""Names of a package that are looked up when they are first used (PEP 562).

For packages whose front is used by who needs nothing of what is behind it: `warpglass run ./program` must not
wait for compilers' front ends and the engine.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def deferred(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: `homes` says in which of its modules each of its names is found."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
