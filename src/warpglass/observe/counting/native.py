"""The rules as machine code (observe/natives/). Generated code calls `@wg_access_cost`, Python `cost`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ..natives import Library
from . import rules
from .rules import LANES, SLOTS, Cost, Rule

SYMBOL = "wg_access_cost"
_NATIVES = [value for value in vars(rules).values() if isinstance(value, FunctionType)]
_LIBRARY = Library("the counting rules", _NATIVES, {SYMBOL: rules.cost})


@lru_cache(maxsize=1)
def register() -> int:
    """Let code that is linked from now on find the rules by their symbol; returns their address."""
    address = _LIBRARY.address(SYMBOL)
    llvm.add_symbol(SYMBOL, address)
    return address


@lru_cache(maxsize=1)
def _function() -> Any:
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(None, pointer, word, pointer, word, word, pointer)(register())


def cost(rule: Rule, addresses: Sequence[int], size: int, mask: int = (1 << LANES) - 1) -> Cost:
    """What an access of the lanes of a mask costs: `rules.cost`, compiled."""
    row, work, a = np.zeros(4, np.int64), np.zeros(SLOTS + 1, np.int64), np.array(addresses, np.int64)
    _function()(row.ctypes.data, rule, a.ctypes.data, mask, size, work.ctypes.data)
    first, second, third, fourth = row.tolist()
    return first, second, third, fourth
