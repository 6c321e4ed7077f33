"""Checking a launch's arguments and binding them to the PTX parameters; both back ends do it here.

Belongs here: which argument meets which parameter, what each must be, which arrays share memory, and the
packed parameter block. What an array is stands in arrays.py, what it must be in array_checks.py, how scalars
convert in values.py, the block's layout in parameters.py. Where memory lies on a device is the back end's
business: Bound refers to arrays by number, and `pack` puts the addresses in.

How it works: a Binder is made once per kernel. It holds one Slot per argument (a pointer or a descriptor with
shape and strides, a value, or either for an untyped 64-bit PTX parameter) and is then called per launch.
Arrays whose owners overlap share one Allocation: a back end places allocations, and each array keeps its
offset. Every refusal is an ArgumentError that names the argument, what it got and what would be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...source.compiled import Argument, Compiled
from .array_checks import PLAIN, alignment, check_array, misaligned
from .arrays import ArrayView, Misfit, view_of
from .declared_types import declared_converter, taken
from .parameters import Layout, layout_of
from .values import Parameter, Value, converter, describe


# ---------------------------------------------------------------------------------------- the result
@dataclass(frozen=True, slots=True)
class Allocation:
    """A stretch of memory that one or more arrays of a launch are views of.

    `address` and `nbytes` are the owner's, in host memory (`device` None) or on a CUDA device. It is
    `readonly` if every array in it is. `name` is the first argument that lies in it.
    """

    name: str
    address: int
    nbytes: int
    readonly: bool
    device: int | None


@dataclass(frozen=True, slots=True, eq=False)
class BoundArray:
    """An array argument: `offset` bytes into allocation number `allocation` of the launch."""

    name: str
    position: int  # among the arguments, from 0
    original: object = field(repr=False)
    view: ArrayView
    allocation: int
    offset: int

    @property
    def address(self) -> int:
        """The address of the first element where the array lies now (host or device)."""
        return self.view.address

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The element type; None where NumPy has none for it."""
        return self.view.dtype

    @property
    def nbytes(self) -> int:
        """Bytes from the lowest to the highest element."""
        return self.view.high - self.view.low

    @property
    def readonly(self) -> bool:
        """Whether the array's owner forbids writing through it."""
        return self.view.readonly

    @property
    def device(self) -> int | None:
        """The ordinal of the CUDA device that the array lies on; None: host memory."""
        return self.view.device


@dataclass(frozen=True, slots=True)
class Reference:
    """A parameter that holds the address of the first element of array number `array`."""

    array: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A launch's arguments, checked: one value or Reference per PTX parameter, in order."""

    arrays: tuple[BoundArray, ...]
    allocations: tuple[Allocation, ...]
    values: tuple[Value | Reference, ...]
    layout: Layout

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The PTX parameters, one per value."""
        return self.layout.parameters


def pack(bound: Bound, bases: Sequence[int]) -> bytes:
    """The parameter block, given the device address of each allocation's first byte (0: a null pointer)."""
    values: list[Value] = []
    for value in bound.values:
        if type(value) is Reference:
            array = bound.arrays[value.array]
            base = bases[array.allocation]
            values.append(base + array.offset if base else 0)
        else:
            values.append(value)  # type: ignore[arg-type]
    return _packed(values, bound.layout)


def _packed(values: Sequence[Value], layout: Layout) -> bytes:
    items = [
        value if mask is None else value & mask  # type: ignore[operator]  # masks stand beside integers only
        for value, mask in zip(values, layout.masks, strict=True)
    ]
    return layout.format.pack(*items)


# ---------------------------------------------------------------------------------------- binding
@dataclass(frozen=True, slots=True)
class _Slot:
    """What one argument must be: `value` is None for arrays only, `fill` is () for values only."""

    argument: Argument
    value: Callable[[object], Value] | None
    fill: tuple[Callable[[ArrayView], int] | None, ...]  # one per field; None: the address
    strided: bool
    complex: bool = False  # one number, passed as its real and its imaginary part
    plain: frozenset[str] = PLAIN  # what elements may be, by dtype.char


def bind(compiled: Compiled, parameters: Sequence[Parameter], args: Sequence[object]) -> Bound:
    """Check the arguments of one launch and bind them; a back end keeps a Binder per kernel instead."""
    return Binder(compiled, parameters).bind(args)


class _Place(NamedTuple):
    """Where a number goes: the argument, its first parameter, and what makes one or several values of it."""

    position: int
    first: int
    value: Callable[[object], Value] | None
    values: Callable[[object], list[Value | Reference]]


class Renumber:
    """The parameters of launches that differ in numbers."""

    def __init__(
        self,
        layout: Layout,
        block: bytes,
        places: Sequence[_Place],
        refusal: Callable[[int, Misfit], ArgumentError],
    ):
        """`block` is that of one of them; `refusal` is what to raise of an argument that does not fit."""
        self._usual: list[Any] = list(layout.format.unpack(block))
        self._masks, self._pack = layout.masks, layout.format.pack
        self._places, self._refusal = places, refusal

    def __call__(self, args: Sequence[object]) -> bytes:
        """The block of parameters; raises ArgumentError."""
        return self._pack(*self.values(args))

    def values(self, args: Sequence[object]) -> list[Any]:
        """The values of the parameters, integers by their bits; raises ArgumentError."""
        values, masks = self._usual.copy(), self._masks
        position = 0
        try:
            for position, first, value, several in self._places:
                if value is not None:  # nearly all: a call less is a twentieth of a launch
                    one, mask = value(args[position]), masks[first]
                    values[first] = one if mask is None else one & mask  # type: ignore[operator]
                    continue
                for place, one in enumerate(several(args[position]), first):
                    mask = masks[place]
                    values[place] = one if mask is None else one & mask  # type: ignore[operator]
        except Misfit as problem:
            raise self._refusal(position, problem) from None
        return values


class Binder:
    """Binds arguments to the parameters of one kernel, launch after launch."""

    def __init__(self, compiled: Compiled, parameters: Sequence[Parameter]):
        self.layout = layout_of(parameters)
        self._kernel = compiled.name
        self._python = compiled.language == "python"
        self._slots = tuple(self._slots_of(compiled, parameters))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(slot.argument.name for slot in self._slots)

    def bind(self, args: Sequence[object]) -> Bound:
        """Check and bind the arguments of one launch; raises ArgumentError."""
        if len(args) != len(self._slots):
            wanted = ", ".join(str(slot.argument) for slot in self._slots)
            raise ArgumentError(
                f"{self._kernel} takes {len(self._slots)} arguments ({wanted}), got {len(args)}"
            )
        values: list[Value | Reference] = []
        found: list[tuple[str, int, object, ArrayView]] = []
        position = 0
        try:
            for position, (slot, arg) in enumerate(zip(self._slots, args, strict=True)):
                view = view_of(arg) if slot.fill else None
                if view is None:
                    values += self._bind_value(slot, arg)
                    continue
                check_array(slot.argument, slot.strided, slot.plain, view, arg)
                reference = Reference(len(found))
                found.append((slot.argument.name, position, arg, view))
                values += [reference if fill is None else fill(view) for fill in slot.fill]
        except Misfit as problem:
            raise self._refusal(position, problem) from None
        arrays, allocations = self._allocate(found)
        return Bound(arrays, allocations, tuple(values), self.layout)

    def renumber(self, block: bytes, args: Sequence[object]) -> Renumber:
        """What gives the blocks of launches that differ from one with this block and arguments in numbers."""
        places: list[_Place] = []
        first = 0
        for position, (slot, arg) in enumerate(zip(self._slots, args, strict=True)):
            if isinstance(arg, np.ndarray):
                first += len(slot.fill)
                continue
            bind = partial(self._bind_value, slot)
            places.append(_Place(position, first, None if slot.fill or slot.complex else slot.value, bind))
            first += len(bind(arg))
        return Renumber(self.layout, block, places, self._refusal)

    def _bind_value(self, slot: _Slot, arg: object) -> list[Value | Reference]:
        if arg is None and slot.fill and not self._python:
            return [0]  # nullptr
        if slot.complex:
            if not isinstance(arg, complex | float | int | np.number) or isinstance(arg, bool):
                raise Misfit(f"got {describe(arg)}; needs a complex number ({slot.argument.dtype})")
            number = complex(arg)
            return [number.real, number.imag]
        if slot.value is not None:
            return [slot.value(arg)]
        raise Misfit(f"got {describe(arg)}; needs an array{_array_hint(arg)}")

    def _refusal(self, position: int, problem: Misfit) -> ArgumentError:
        name = self._slots[position].argument.name
        which = f"argument {position + 1}"
        named = "" if name == which else f" ({name})"
        return ArgumentError(f"{self._kernel}: {which} of {len(self._slots)}{named} {problem}")

    def _slots_of(self, compiled: Compiled, parameters: Sequence[Parameter]) -> list[_Slot]:
        arguments = compiled.arguments
        if arguments is None:
            return [_untyped_slot(Argument(one.name, ("any",)), one) for one in parameters]
        if sum(len(argument.fields) for argument in arguments) != len(parameters):
            raise ValueError(f"{compiled.name}: {len(parameters)} PTX parameters do not match {arguments}")
        slots: list[_Slot] = []
        first = 0
        for argument in arguments:
            slots.append(_typed_slot(argument, parameters[first]))
            first += len(argument.fields)
        return slots

    # ------------------------------------------------------------------------------------ shared memory
    def _allocate(
        self, found: list[tuple[str, int, object, ArrayView]]
    ) -> tuple[tuple[BoundArray, ...], tuple[Allocation, ...]]:
        """Group arrays whose owners overlap; allocations come in the order of their first array."""
        groups: list[_Group] = []
        for index, (_, _, _, view) in enumerate(found):
            group = _Group(view.owner_low, view.owner_high, view.device, [index])
            hits = [other for other in groups if other.overlaps(group)]
            if not hits:
                groups.append(group)
                continue
            for other in (group, *hits[1:]):
                hits[0].absorb(other)
            groups = [other for other in groups if other not in hits[1:]]
        arrays: list[BoundArray | None] = [None] * len(found)
        allocations: list[Allocation] = []
        for number, group in enumerate(groups):
            readonly = True
            for index in group.members:
                name, position, original, view = found[index]
                offset = view.address - group.low
                if offset % alignment(view):
                    raise self._refusal(
                        position, Misfit(misaligned(view, offset, "in the memory that owns it"))
                    )
                arrays[index] = BoundArray(name, position, original, view, number, offset)
                readonly &= view.readonly
            name = found[min(group.members)][0]
            allocations.append(Allocation(name, group.low, group.high - group.low, readonly, group.device))
        return tuple(array for array in arrays if array is not None), tuple(allocations)


@dataclass(slots=True, eq=False)
class _Group:
    """Arrays whose owners overlap, while they are being gathered."""

    low: int
    high: int
    device: int | None
    members: list[int]

    def overlaps(self, other: _Group) -> bool:
        """Whether they share a byte; empty arrays share none."""
        shared = min(self.high, other.high) - max(self.low, other.low)
        return shared > 0 and self.device == other.device

    def absorb(self, other: _Group) -> None:
        """Become the union of both."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.members += other.members


# ---------------------------------------------------------------------------------------- slots
def _untyped_slot(argument: Argument, parameter: Parameter) -> _Slot:
    """The slot of a parameter of which only the PTX type is known: a 64-bit integer may be a pointer."""
    wide = parameter.size == 8 and parameter.type[0] in "bus" and not parameter.aggregate
    value = None if parameter.pointer else _converter(parameter, argument)
    return _Slot(argument, value, (None,) if wide else (), strided=False)


def _converter(parameter: Parameter, argument: Argument) -> Callable[[object], Value]:
    if argument.declared is not None:
        return declared_converter(parameter, argument.declared)
    return converter(parameter, argument.dtype)


def _typed_slot(argument: Argument, first: Parameter) -> _Slot:
    """The slot of an argument whose front end says what its parameters hold."""
    if argument.fields == ("any",):
        return _untyped_slot(argument, first)
    if argument.fields == ("real", "imag"):
        return _Slot(argument, None, (), strided=False, complex=True)
    if argument.fields == ("value",):
        return _Slot(argument, _converter(first, argument), (), strided=False)
    fill = tuple(_filler(field) for field in argument.fields)
    strided = any("stride" in field for field in argument.fields)
    return _Slot(argument, None, fill, strided, plain=taken(argument.declared, PLAIN))


def _filler(field: str) -> Callable[[ArrayView], int] | None:
    """How a field of a descriptor is computed (see Argument.fields); None: it is the address."""
    kind, _, text = field.partition(":")
    dimension = int(text or 0)
    fillers: dict[str, Callable[[ArrayView], int] | None] = {
        "pointer": None,
        "offset": lambda view: 0,
        "null": lambda view: 0,
        "shape": lambda view: view.shape[dimension],
        "stride": lambda view: view.strides[dimension] // view.itemsize,
        "byte_stride": lambda view: view.strides[dimension],
        "size": lambda view: view.size,
        "itemsize": lambda view: view.itemsize,
    }
    return fillers[kind]


def _array_hint(arg: object) -> str:
    if arg is None:
        return ""
    if isinstance(arg, list | tuple):
        return ": pass np.array(x, dtype)"
    if isinstance(arg, int | float | np.number):
        return ": pass np.array([x], dtype) if the kernel reads or writes one element"
    return " (NumPy, DLPack or __cuda_array_interface__)"
