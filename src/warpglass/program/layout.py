"""Where a kernel's shared variables lie in its block's shared memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """Byte offsets by variable name; dynamic shared memory starts at `static`, the size of the rest."""

    offsets: Mapping[str, int] = field(default_factory=dict)
    static: int = 0


@dataclass(frozen=True, slots=True)
class LocalLayout:
    """Byte offsets of a thread's local variables by name, and how many bytes they take together."""

    offsets: Mapping[str, int] = field(default_factory=dict)
    size: int = 0


def lay_out_local(function: tree.Function) -> LocalLayout:
    """Place the local variables that the function declares, in order, in multiples of 16 bytes."""
    offsets: dict[str, int] = {}
    end = 0
    for variable in function.variables:
        if variable.space == "local":
            align = max(16, variable.align)
            offsets[variable.name] = -(-end // align) * align
            end = offsets[variable.name] + variable_size(variable)
    return LocalLayout(offsets, -(-end // 16) * 16)


def lay_out_shared(module: tree.Module, function: tree.Function) -> SharedLayout:
    """Place the shared variables that the function declares or names, in order; dynamic ones come last.

    A variable is dynamic if it is extern, or has no size: `buf[]`, and the size-less
    `.shared .align 16 .b8 __dynamic_shmem__0;` of numba-cuda-mlir.
    """
    named = set(symbols_of(function))
    variables = [v for v in module.variables if v.space == "shared" and v.name in named]
    variables += [v for v in function.variables if v.space == "shared"]
    offsets: dict[str, int] = {}
    end = 0
    dynamic = [v for v in variables if _is_dynamic(v)]
    for variable in variables:
        if variable not in dynamic:
            align = variable.align or element_size(variable)
            end = -(-end // align) * align
            offsets[variable.name] = end
            end += variable_size(variable)
    if dynamic:
        align = max(v.align or element_size(v) for v in dynamic)
        end = -(-end // align) * align
        offsets |= dict.fromkeys((v.name for v in dynamic), end)
    return SharedLayout(offsets, end)


def element_size(variable: tree.Variable) -> int:
    """Bytes of one element of a variable (a whole vector for `.v2`, `.v4`)."""
    return BITS[LLVM_TYPE[variable.type]] // 8 * variable.vector


def variable_size(variable: tree.Variable) -> int:
    """Bytes of a whole variable."""
    return element_size(variable) * math.prod(variable.shape)


def _is_dynamic(variable: tree.Variable) -> bool:
    return (
        variable.linkage == "extern" or 0 in variable.shape or variable.name.startswith("__dynamic_shmem__")
    )


def symbols_of(function: tree.Function) -> list[str]:
    """The names of variables, functions and labels in a function's instructions."""
    found: list[str] = []
    for item in function.body or ():
        if isinstance(item, tree.Instruction):
            found += symbols_in(item)
    return found


def symbols_in(instruction: tree.Instruction) -> list[str]:
    """The names of variables, functions and labels in an instruction."""
    found: list[str] = []
    for operand in instruction.operands:
        if type(operand) is tree.Register:  # as most are
            continue
        inner = operand.base if isinstance(operand, tree.Address) else operand
        inner = inner.base if isinstance(inner, tree.Displaced) else inner
        if isinstance(inner, tree.Symbol):
            found.append(inner.name)
    return found
