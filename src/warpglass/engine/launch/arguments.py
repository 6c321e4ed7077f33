"""Checking a launch's arguments and binding them to the PTX parameters; both back ends do it here.

Belongs here: which argument meets which parameter, what each must be, which arrays share memory, and the
packed parameter block. What an array is stands in arrays.py, how scalars convert in values.py. Where
memory lies on a device is the back end's business: Bound refers to arrays by number, and `pack` puts the
addresses in.

How it works: a Binder is made once per kernel. It holds one Slot per argument (a pointer or a descriptor with
shape and strides, a value, or either for an untyped 64-bit PTX parameter) and is then called per launch.
Arrays whose owners overlap share one Allocation: a back end places allocations, and each array keeps its
offset. Every refusal is an ArgumentError that names the argument, what it got and what would be right.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ptx.tree import Variable
from ...source.compiled import Argument, Compiled
from .arrays import ArrayView, Misfit, view_of
from .values import Parameter, Value, converter, describe

# ---------------------------------------------------------------------------------------- parameters
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
class Layout:
    """The parameter block of a kernel: its parameters, struct format and one bit mask per parameter."""

    parameters: tuple[Parameter, ...]
    format: struct.Struct
    masks: tuple[int | None, ...]  # for integers, which are packed by their bits

    @property
    def size(self) -> int:
        """Bytes of the whole block."""
        return self.format.size


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
    items: list[Value] = []
    for value, mask in zip(bound.values, bound.layout.masks, strict=True):
        if type(value) is Reference:
            array = bound.arrays[value.array]
            base = bases[array.allocation]
            items.append(base + array.offset if base else 0)
        elif mask is not None:
            items.append(value & mask)  # type: ignore[operator]  # masks stand beside integers only
        else:
            items.append(value)  # type: ignore[arg-type]
    return bound.layout.format.pack(*items)


def _layout_of(parameters: Sequence[Parameter]) -> Layout:
    codes = ["<"]
    masks: list[int | None] = []
    end = 0
    for parameter in parameters:
        code = f"{parameter.size}s" if parameter.aggregate else _TYPES[parameter.type][1]
        codes.append(f"{parameter.offset - end}x{code}")
        masks.append((1 << 8 * parameter.size) - 1 if code in "BHIQ" else None)
        end = parameter.offset + parameter.size
    return Layout(tuple(parameters), struct.Struct("".join(codes)), tuple(masks))


# ---------------------------------------------------------------------------------------- binding
@dataclass(frozen=True, slots=True)
class _Slot:
    """What one argument must be: `value` is None for arrays only, `fill` is () for values only."""

    argument: Argument
    value: Callable[[object], Value] | None
    fill: tuple[Callable[[ArrayView], int] | None, ...]  # one per field; None: the address
    strided: bool
    complex: bool = False  # one number, passed as its real and its imaginary part


def bind(compiled: Compiled, parameters: Sequence[Parameter], args: Sequence[object]) -> Bound:
    """Check the arguments of one launch and bind them; a back end keeps a Binder per kernel instead."""
    return Binder(compiled, parameters).bind(args)


class Binder:
    """Binds arguments to the parameters of one kernel, launch after launch."""

    def __init__(self, compiled: Compiled, parameters: Sequence[Parameter]):
        self.layout = _layout_of(parameters)
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
            wanted = ", ".join(slot.argument.name for slot in self._slots)
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
                _check_array(slot, view, arg)
                reference = Reference(len(found))
                found.append((slot.argument.name, position, arg, view))
                values += [reference if fill is None else fill(view) for fill in slot.fill]
        except Misfit as problem:
            raise self._refusal(position, problem) from None
        arrays, allocations = self._allocate(found)
        return Bound(arrays, allocations, tuple(values), self.layout)

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
        return ArgumentError(
            f"{self._kernel}: argument {position + 1} of {len(self._slots)} ({name}) {problem}"
        )

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
                if offset % _alignment(view):
                    raise self._refusal(
                        position, Misfit(_misaligned(view, offset, "in the memory that owns it"))
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
    value = None if parameter.pointer else converter(parameter, None)
    return _Slot(argument, value, (None,) if wide else (), strided=False)


def _typed_slot(argument: Argument, first: Parameter) -> _Slot:
    """The slot of an argument whose front end says what its parameters hold."""
    if argument.fields == ("any",):
        return _untyped_slot(argument, first)
    if argument.fields == ("real", "imag"):
        return _Slot(argument, None, (), strided=False, complex=True)
    if argument.fields == ("value",):
        return _Slot(argument, converter(first, argument.dtype), (), strided=False)
    fill = tuple(_filler(field) for field in argument.fields)
    strided = any("stride" in field for field in argument.fields)
    return _Slot(argument, None, fill, strided)


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


# ---------------------------------------------------------------------------------------- array checks
_PLAIN = frozenset("?bBhHiIlLqQefdFDmM")  # dtype.char: numbers, dates; V (records) has its own rule


def _check_array(slot: _Slot, view: ArrayView, arg: object) -> None:
    """Raise Misfit unless the array is what the slot's argument must be."""
    argument, dtype = slot.argument, view.dtype
    if argument.ndim is not None and len(view.shape) != argument.ndim:
        raise Misfit(f"got {describe(arg)}; needs {argument.ndim} dimensions, has {len(view.shape)}")
    if argument.dtype is not None:
        if dtype != argument.dtype:
            raise Misfit(f"got {describe(arg)}; needs {argument.dtype}: pass x.astype(np.{argument.dtype})")
    elif dtype is not None and not (dtype.char in _PLAIN and dtype.isnative):
        _check_dtype(dtype, arg)
    if not slot.strided:
        if not view.contiguous:
            raise Misfit(
                f"got {describe(arg)} that is not contiguous (strides {view.strides}){_order_hint(arg)}"
            )
    elif any(stride % view.itemsize for stride in view.strides):
        raise Misfit(
            f"got {describe(arg)} with strides {view.strides}, no multiples of {view.itemsize} bytes"
        )
    alignment = dtype.alignment if dtype is not None else 1
    if view.address % alignment and view.size:
        raise Misfit(_misaligned(view, view.address, "in memory"))


def _check_dtype(dtype: np.dtype[Any], arg: object) -> None:
    if dtype.hasobject or dtype.kind == "T":
        raise Misfit(f"got {describe(arg)}, which holds Python objects; use a numeric dtype")
    if dtype.kind in "US":
        raise Misfit(f"got {describe(arg)}; pass text as bytes: np.frombuffer(text.encode(), np.uint8)")
    if dtype.char in "gG":
        raise Misfit(f"got {describe(arg)}; CUDA has no extended precision: pass x.astype(np.float64)")
    if not dtype.isnative:
        raise Misfit(f"got {describe(arg)} in big-endian order; pass x.astype(x.dtype.newbyteorder('='))")


def _alignment(view: ArrayView) -> int:
    """The alignment in bytes that a kernel may rely on for the array's elements."""
    size = view.itemsize
    if view.dtype is not None and view.dtype.kind == "V":
        return view.dtype.alignment
    return size if size & (size - 1) == 0 and size else 1


def _misaligned(view: ArrayView, place: int, where: str) -> str:
    return (
        f"got an array of {view.dtype} whose data starts at byte {place % 4096} (mod 4096) {where}, "
        f"no multiple of {_alignment(view)}; pass x.copy()"
    )


def _order_hint(arg: object) -> str:
    if getattr(getattr(arg, "flags", None), "f_contiguous", False):
        return "; it is in Fortran order: pass x.T (the memory as it lies) or np.ascontiguousarray(x)"
    return "; pass np.ascontiguousarray(x), and copy the result back if the kernel writes it"


def _array_hint(arg: object) -> str:
    if arg is None:
        return ""
    if isinstance(arg, list | tuple):
        return ": pass np.array(x, dtype)"
    if isinstance(arg, int | float | np.number):
        return ": pass np.array([x], dtype) if the kernel reads or writes one element"
    return " (NumPy, DLPack or __cuda_array_interface__)"
