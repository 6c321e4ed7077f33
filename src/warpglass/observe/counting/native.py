"""The rules as machine code: numba compiles them once, then their object code comes from the cache on disk.

So a process that finds it there never imports numba. Generated code calls `@wg_access_cost`, Python `cost`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ...codegen import MachineCode, chosen_target, compile_optimised, host_key, load_object
from ...source.cache import Cache, digest, versions
from . import rules
from .rules import LANES, SLOTS, Cost, Rule

SYMBOL = "wg_access_cost"
_OBJECTS = Cache("object")


@lru_cache(maxsize=1)
def register() -> MachineCode:
    """Let code that is linked from now on find the rules by their symbol."""
    machine = _load()
    llvm.add_symbol(SYMBOL, machine.address)
    return machine


def _load() -> MachineCode:
    """The rules' machine code, from the cache if it is there."""
    sources = [Path(file).read_bytes() for file in (rules.__file__, __file__)]
    key = digest(host_key(), sys.version, versions("numba") or "", *sources)
    code = _OBJECTS.get(key)
    if code is None:
        code = compile_optimised(_ir(), chosen_target())
        _OBJECTS.put(key, code)
    return load_object(code)


def _ir() -> str:
    """`rules.cost` as LLVM IR, under the name `run` and with numba's convention of calls.

    That is: a pointer to the result, one to what is raised, which is nothing, then the arguments.
    """
    from numba import njit, types

    word, words = types.int64, types.CPointer(types.int64)
    kinds = {"int": word, "bool": types.boolean, "Addresses": words, "Work": words}
    options = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    space = dict(vars(rules))  # where functions call each other's compiled counterparts
    for name, function in reversed(list(vars(rules).items())):  # each stands above those that it calls
        if isinstance(function, FunctionType):
            given = [kinds[kind] for place, kind in function.__annotations__.items() if place != "return"]
            own = FunctionType(function.__code__, space, name)
            space[name] = njit(tuple(given), **options)(own)
    (compiled,) = space["cost"].overloads.values()
    return compiled.library.get_llvm_str().replace(compiled.fndesc.llvm_func_name, "run")


@lru_cache(maxsize=1)
def _function() -> Any:
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, word, pointer, word, word, pointer)
    return kind(register().address)


def cost(rule: Rule, addresses: Sequence[int], size: int, mask: int = (1 << LANES) - 1) -> Cost:
    """What an access of the lanes of a mask costs: `rules.cost`, compiled."""
    row, work, a = np.zeros(4, np.int64), np.zeros(SLOTS + 1, np.int64), np.array(addresses, np.int64)
    _function()(row.ctypes.data, None, rule, a.ctypes.data, mask, size, work.ctypes.data)
    first, second, third, fourth = row.tolist()
    return first, second, third, fourth
