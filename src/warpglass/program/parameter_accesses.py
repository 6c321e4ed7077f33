"""Accesses to a kernel's parameters: by name, within the parameter, or through an address.

What names its parameter is read from the parameter block without a check at run time, so this is where reads
beyond it are refused. Where a kernel takes the address of a parameter (`__grid_constant__`), the block can be
reached as constant memory too, as on a GPU, and accesses through registers go there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..errors import CompileError, Diagnostic
from ..ptx import tree
from .decode import Decoded, Step
from .layout import symbols_in, variable_size


def takes_addresses(function: tree.Function) -> bool:
    """Whether a kernel uses a parameter's name as anything but the address of a `ld.param`."""
    names = {variable.name for variable in function.parameters}
    items = (item for item in function.body or () if isinstance(item, tree.Instruction))
    return any(not names.isdisjoint(symbols_in(item)) and item.modifiers[:1] != ("param",) for item in items)


def read_through_addresses(function: tree.Function) -> tree.Function:
    """The same kernel, in which accesses through registers read the parameters from constant memory."""

    def rewrite(item: tree.Instruction | tree.Label) -> tree.Instruction | tree.Label:
        if not isinstance(item, tree.Instruction) or (item.opcode, *item.modifiers[:1]) != ("ld", "param"):
            return item
        address = next((one for one in item.operands if isinstance(one, tree.Address)), None)
        if address is None or not isinstance(address.base, tree.Register):
            return item
        return replace(item, modifiers=("const", *item.modifiers[1:]))

    return replace(function, body=tuple(rewrite(item) for item in function.body or ()))


def check_parameter_accesses(function: tree.Function, decoded: Iterable[Decoded]) -> None:
    """Raise CompileError naming every access that leaves its parameter, or that names none."""
    sizes = {variable.name: variable_size(variable) for variable in function.parameters}
    wrong: list[Diagnostic] = []
    for step in decoded:
        if isinstance(step, Step) and step.match.row.access == "parameter":
            wrong += _problem(step, sizes)
    if wrong:
        raise CompileError(
            f"kernel {function.name} does not access its parameters as PTX allows", tuple(wrong)
        )


def _problem(step: Step, sizes: dict[str, int]) -> Iterable[Diagnostic]:
    address, access = step.address, step.match.access
    assert access is not None
    known = ", ".join(sizes) or "none"
    if not isinstance(address.base, tree.Symbol) or address.base.name not in sizes:
        yield _at(step, f"an address in .param names a parameter of the kernel; it has: {known}")
        return
    size, first = sizes[address.base.name], address.offset
    last = first + access.size - 1
    if first < 0 or last >= size:
        yield _at(step, f"reads bytes {first} to {last} of parameter {address.base.name}, which has {size}")


def _at(step: Step, message: str) -> Diagnostic:
    item = step.instruction
    place = item.source
    text = f"{'.'.join([item.opcode, *item.modifiers])} (PTX line {item.line}): {message}"
    return Diagnostic(text, file=place.file if place else None, line=place.line if place else None)
