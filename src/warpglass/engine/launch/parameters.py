"""A kernel's parameters: where each lies in the parameter block, and how the block is packed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ArgumentError
from ...ptx.tree import Variable
from .values import Parameter

# PTX type -> (bytes, struct format); integers are packed by their bits.
_TYPES = {
    **{
        f"{kind}{8 * size}": (size, code)
        for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))
        for kind in "bus"
    },
    "f16": (2, "e"),
    "f32": (4, "f"),
    "f64": (8, "d"),
}


def parameters_of(variables: Sequence[Variable]) -> tuple[Parameter, ...]:
    """An entry's parameters with their offsets in the parameter block, as the CUDA ABI lays them out."""
    parameters: list[Parameter] = []
    offset = 0
    for variable in variables:
        size, align = _size_and_alignment(variable)
        offset = -(-offset // align) * align
        parameters.append(
            Parameter(
                variable.name,
                variable.type,
                size,
                align,
                offset,
                pointer=variable.pointer_space is not None,
                aggregate=bool(variable.shape),
            )
        )
        offset += size
    return tuple(parameters)


def _size_and_alignment(variable: Variable) -> tuple[int, int]:
    if variable.type not in _TYPES:
        raise ArgumentError(
            f"parameter {variable.name} has PTX type .{variable.type}, which cannot be passed"
        )
    natural = _TYPES[variable.type][0]
    size = natural * variable.vector
    for extent in variable.shape:
        size *= extent
    if variable.pointer_space is not None:  # `.ptr .align N` is the alignment of what it points to
        return size, natural
    return size, max(variable.align, natural * variable.vector)


@dataclass(frozen=True, slots=True)
class Layout:
    """The parameter block of a kernel: its parameters, struct format and one bit mask per parameter."""

    parameters: tuple[Parameter, ...]
    format: struct.Struct
    masks: tuple[int | None, ...]  # for integers, which are packed by their bits

    @property
    def size(self) -> int:
        """Bytes of the whole block."""
        return self.format.size


def layout_of(parameters: Sequence[Parameter]) -> Layout:
    """The block of an entry's parameters."""
    codes = ["<"]
    masks: list[int | None] = []
    end = 0
    for parameter in parameters:
        code = f"{parameter.size}s" if parameter.aggregate else _TYPES[parameter.type][1]
        codes.append(f"{parameter.offset - end}x{code}")
        masks.append((1 << 8 * parameter.size) - 1 if code in "BHIQ" else None)
        end = parameter.offset + parameter.size
    return Layout(tuple(parameters), struct.Struct("".join(codes)), tuple(masks))
