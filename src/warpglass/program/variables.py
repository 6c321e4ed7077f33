"""Module-level variables that a kernel uses: `.global` and `.const`, with their initial bytes.

Each variable gets an offset in the module's part of the address space, far enough from its neighbours that a
wrong index does not reach them. Initial values that hold addresses are left open here as relocations: only
the engine knows where the module lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import Diagnostic, LaunchError, UnsupportedError
from ..host.budget import MEMORY, in_units, memory_limit
from ..isa.types import BITS, LLVM_TYPE, convert_float
from ..ptx import tree
from .layout import element_size, symbols_of, variable_size

_SPACES = ("global", "const")
_ALIGN = 512
_GUARD = 1 << 24


@dataclass(frozen=True, slots=True)
class Relocation:
    """The 64-bit word at `position` holds the address of a variable plus `addend`."""

    position: int
    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """One variable: its place in the module's memory, its size in bytes, its initial bytes."""

    name: str
    offset: int
    size: int
    element: int  # bytes of one element
    writable: bool
    initial: bytes
    relocations: tuple[Relocation, ...] = ()
    managed: bool = False  # host and device use one address


def find_variables(
    module: tree.Module, function: tree.Function, functions: Mapping[str, int]
) -> tuple[ModuleVariable, ...]:
    """The module variables that a function names, and those that their initial values point to.

    `functions` are those that have addresses. Raises UnsupportedError for symbols that are neither variables
    nor functions nor labels of the function.
    """
    declared = {v.name: v for v in (*module.variables, *function.variables) if v.space in _SPACES}
    found: dict[str, ModuleVariable] = {}
    end = 0
    work = [name for name in symbols_of(function) if name in declared]
    while work:
        name = work.pop(0)
        if name in found:
            continue
        _check_size(declared[name], sum(one.size for one in found.values()))
        variable = _lay_out(declared[name], end)
        found[name] = variable
        end = -(-(variable.offset + variable.size + _GUARD) // _ALIGN) * _ALIGN
        work += [one.symbol for one in variable.relocations if one.symbol not in functions]
    _check(module, function, [*found, *functions])
    return tuple(found.values())


def all_variables(module: tree.Module) -> tuple[ModuleVariable, ...]:
    """The variables of a whole module, in their order."""
    found: list[ModuleVariable] = []
    end = total = 0
    inner = (variable for function in module.functions for variable in function.variables)
    for declared in (*module.variables, *inner):
        if declared.space in _SPACES and declared.linkage != "extern":
            _check_size(declared, total)
            variable = _lay_out(declared, end)
            found.append(variable)
            total += variable.size
            end = -(-(variable.offset + variable.size + _GUARD) // _ALIGN) * _ALIGN
    return tuple(found)


def _lay_out(variable: tree.Variable, offset: int) -> ModuleVariable:
    size = variable_size(variable)
    width = BITS[LLVM_TYPE[variable.type]] // 8
    content = bytearray(size)
    relocations: list[Relocation] = []
    for index, value in enumerate(variable.initial or ()):
        place = slice(index * width, (index + 1) * width)
        symbol = _symbol(value)
        if symbol is not None:
            relocations.append(Relocation(place.start, *symbol))
        else:
            content[place] = _pattern(value, width).to_bytes(width, "little")
    writable = variable.space == "global"
    element = element_size(variable)
    return ModuleVariable(
        variable.name,
        offset,
        size,
        element,
        writable,
        bytes(content),
        tuple(relocations),
        variable.managed,
    )


def _check_size(variable: tree.Variable, others: int) -> None:
    size, limit = variable_size(variable), memory_limit()
    if 3 * (size + others) > limit:  # initial bytes, the same as they are laid out, and the variable itself
        raise LaunchError(
            f"cudaErrorMemoryAllocation: the module variable {variable.name} has {in_units(size)} and needs "
            f"three times as much on the engine, but {in_units(limit)} are allowed; {MEMORY}=16G, for "
            "instance, allows more",
            cuda_name="cudaErrorMemoryAllocation",
            synchronous=True,
            sticky=False,
        )


def _symbol(value: tree.Operand) -> tuple[str, int] | None:
    if isinstance(value, tree.Symbol):
        return value.name, 0
    if isinstance(value, tree.Displaced) and isinstance(value.base, tree.Symbol):
        return value.base.name, value.offset
    return None


def _pattern(value: tree.Operand, width: int) -> int:
    match value:
        case tree.Integer(number):
            return number & (1 << 8 * width) - 1
        case tree.Float(bits, have) if have == 8 * width:
            return bits
        case tree.Float(bits, have):
            return convert_float(bits, have, 8 * width)
        case _:
            raise UnsupportedError(f"an initial value that the engine does not support: {value}")


def _check(module: tree.Module, function: tree.Function, found: Iterable[str]) -> None:
    known = {v.name for v in (*module.variables, *function.variables, *function.parameters)} | set(found)
    known |= {item.name for item in function.body or () if isinstance(item, tree.Label)}
    known |= set(function.branch_targets)
    missing = sorted({name for name in symbols_of(function) if name not in known})
    if missing:
        places = tuple(Diagnostic(f"{name} is used as an address") for name in missing)
        raise UnsupportedError(
            f"kernel {function.name} uses addresses that the engine does not support yet", places
        )
