"""The device address space of a launch: where each allocation lies, and what an address means.

Allocations get deterministic bases, 512-byte aligned as cudaMalloc gives them and a guard gap apart, in the
order of the arguments; so addresses, and all that is counted from them, do not depend on where NumPy put a
buffer. Generated code searches the same table (codegen/runtime.py).

An allocation is all of the memory that an array is a view of. As on a GPU, where a pointer into an allocation
reaches all of it, a kernel that leaves a view but stays within its owner is not stopped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codegen.context import GLOBAL_BASE, GRID_WORKSPACE, MODULE_BASE, PARAMETERS, READ, WRITE
from ...program import ModuleVariable
from ..launch.arguments import Allocation, Bound, BoundArray, pack
from ..launch.arrays import ArrayView
from ..launch.values import Parameter

_ALIGN = 512
# So far apart that what any 32-bit index of 16-byte elements reaches is nearest to the array that was meant.
GUARD = 1 << 37


@dataclass(frozen=True, slots=True)
class Placed:
    """An allocation with its device base address."""

    allocation: Allocation
    base: int

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.base + self.allocation.nbytes


def place(allocations: tuple[Allocation, ...]) -> tuple[Placed, ...]:
    """Give every allocation its base address."""
    placed: list[Placed] = []
    base = GLOBAL_BASE
    for allocation in allocations:
        placed.append(Placed(allocation, base))
        base += -(-allocation.nbytes // _ALIGN) * _ALIGN + GUARD
    return tuple(placed)


@dataclass(frozen=True, slots=True)
class Laid:
    """The memory of a launch: allocations in their places, and the range table's entries for them, by base.

    `low` are those of host memory that kernels see at its own address, below all windows; `variables` are
    those of any modules' variables whose addresses the host has been given.
    """

    placed: tuple[Placed, ...]
    words: Sequence[int]
    parameters: bytes
    low: Sequence[int] = ()
    variables: Sequence[int] = ()

    def with_variables(self, own: Sequence[int]) -> Sequence[int]:
        """The range table's entries for the variables of the launch's module, with those."""
        if not self.variables:
            return own
        rows = {
            words[at]: words[at : at + 4] for words in (self.variables, own) for at in range(0, len(words), 4)
        }
        return [word for _, row in sorted(rows.items()) for word in row]


def lay_out(bound: Bound) -> Laid:
    """Give the arguments of a launch their places."""
    placed = place(bound.allocations)
    return Laid(placed, range_words(placed), pack(bound, [one.base for one in placed]))


def range_words(placed: Iterable[Placed]) -> list[int]:
    """The range table for global memory, by base: base, size, distance to host memory and permissions."""
    words: list[int] = []
    for one in placed:
        allocation = one.allocation
        permissions = READ if allocation.readonly else READ | WRITE
        words += one.base, allocation.nbytes, allocation.address - one.base, permissions
    return words


class ModuleMemory:
    """The module variables of one kernel in host memory; they keep their values from launch to launch.

    `base` is the device address of the module; variables in `elsewhere` lie in memory of the host that
    kernels reach at the same address, which is given.
    """

    def __init__(
        self,
        variables: tuple[ModuleVariable, ...],
        functions: Mapping[str, int],
        base: int = MODULE_BASE,
        elsewhere: Mapping[str, int] | None = None,
    ):
        elsewhere = elsewhere or {}
        self.variables = variables
        self.addresses = {v.name: elsewhere.get(v.name, base + v.offset) for v in variables}
        self._content = {v.name: _content(v, elsewhere.get(v.name)) for v in variables}
        self._open = [(variable, one) for variable in variables for one in variable.relocations]
        self.words: list[int] = []  # entries of the range table
        for variable in variables:
            if variable.name in elsewhere:
                continue
            content = self._content[variable.name]
            base = self.addresses[variable.name]
            permissions = READ | WRITE if variable.writable else READ
            self.words += base, variable.size, content.ctypes.data - base, permissions
        self.relocate(functions)

    def relocate(self, functions: Mapping[str, int]) -> None:
        """Fill in the addresses of variables and of these functions where initial values name them.

        A place is filled once: a kernel may have written it since.
        """
        known = {**self.addresses, **functions}
        for variable, one in self._open:
            if one.symbol in known:
                target = (known[one.symbol] + one.addend).to_bytes(8, "little")
                content = self._content[variable.name]
                content[one.position : one.position + 8] = np.frombuffer(target, np.uint8)
        self._open = [(variable, one) for variable, one in self._open if one.symbol not in known]

    def content(self, name: str) -> bytes | None:
        """The bytes of a variable; None if the kernel does not use it."""
        return self._content[name].tobytes() if name in self._content else None

    def assign(self, name: str, content: bytes) -> None:
        """Set the bytes of a variable, if the kernel uses it."""
        if name in self._content:
            self._content[name][:] = np.frombuffer(content, np.uint8)

    def read(self, name: str) -> int:
        """The value of a 32-bit variable; 0 if the kernel does not use it."""
        return int(self._content[name].view(np.int32)[0]) if name in self._content else 0

    def clear(self, name: str) -> None:
        """Set a variable to 0, if the kernel uses it."""
        if name in self._content:
            self._content[name].fill(0)

    def find(self, address: int) -> tuple[ModuleVariable, int] | None:
        """The variable that an address is in or behind, and the distance from its start; None elsewhere."""
        if not MODULE_BASE <= address < GLOBAL_BASE:
            return None
        before = [v for v in self.variables if MODULE_BASE <= self.addresses[v.name] <= address]
        return (before[-1], address - self.addresses[before[-1].name]) if before else None


def _content(variable: ModuleVariable, address: int | None) -> np.ndarray[Any, Any]:
    """The bytes of a variable, with their initial values: our own, or those at an address of the host."""
    if address is None:
        return np.frombuffer(bytearray(variable.initial), np.uint8)
    memory: Any = (ctypes.c_uint8 * variable.size).from_address(address)
    content = np.frombuffer(memory, np.uint8)
    content[:] = np.frombuffer(variable.initial, np.uint8)
    return content


class ParameterMemory:
    """The parameter block of a kernel that takes the address of a parameter: constant memory."""

    def __init__(self, parameters: Sequence[Parameter], size: int):
        self.addresses = {one.name: PARAMETERS + one.offset for one in parameters}
        self._content = np.zeros(max(size, 1), np.uint8)

    def fill(self, block: bytes) -> list[int]:
        """Put a launch's parameter block there; the range table's entry for it."""
        self._content[: len(block)] = np.frombuffer(block, np.uint8)
        return [PARAMETERS, self._content.nbytes, self._content.ctypes.data - PARAMETERS, READ]

    def find(self, address: int) -> tuple[int, int] | None:
        """The distance of an address from the block's start, and the block's bytes; None elsewhere."""
        if not PARAMETERS <= address < GRID_WORKSPACE:
            return None
        return address - PARAMETERS, self._content.nbytes


_WORKSPACE = np.zeros(64, np.uint32)


def grid_workspace() -> list[int]:
    """The range table's entry for the workspace of a cooperative grid: its size and its barrier, reset."""
    _WORKSPACE[:] = 0
    _WORKSPACE[0] = _WORKSPACE.nbytes
    return [GRID_WORKSPACE, _WORKSPACE.nbytes, _WORKSPACE.ctypes.data - GRID_WORKSPACE, READ | WRITE]


def grid_counter() -> bytes:
    """What the workspace holds now: it changes whenever a block comes to the grid's barrier."""
    return _WORKSPACE.tobytes()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an address stands for in the kernel author's terms: an element of the nearest array.

    `first` is the device address of the array's first element, `indices` name the element, within the array
    or beyond it. `allocated` says whether memory of this launch is
    there: the array, or what it is a view of. `away` is the distance to the array in bytes, 0 within it.
    """

    array: BoundArray
    address: int
    first: int
    end: int  # of the memory that the array is part of
    indices: tuple[int, ...]
    allocated: bool
    readonly: bool
    away: int

    @property
    def name(self) -> str:
        """The argument that the array was passed for."""
        return self.array.name

    @property
    def _inside(self) -> bool:
        """Whether the indices are within the array's shape."""
        shape = self.array.view.shape
        return all(0 <= index < extent for index, extent in zip(self.indices, shape, strict=True))

    @property
    def index(self) -> int:
        """The element's number in C order; where it has none, its distance from the first in memory."""
        view = self.array.view
        if len(self.indices) > 1 and not (self._inside or view.contiguous):
            return (self.address - self.first) // view.itemsize
        position = 0
        for index, extent in zip(self.indices, view.shape, strict=True):
            position = position * extent + index
        return position

    def element(self, size: int, flat: bool) -> str:
        """What an access of `size` bytes means: `x[3]`, `x[4..7]`, and `x[2, 3]` unless `flat`."""
        if not flat and len(self.indices) > 1:
            return f"{self.name}[{', '.join(map(str, self.indices))}]"
        last = self.index + size // self.array.view.itemsize - 1
        return f"{self.name}[{self.index}]" if last <= self.index else f"{self.name}[{self.index}..{last}]"

    def extent(self, flat: bool) -> str:
        """How large the array is, as a clause."""
        view = self.array.view
        if self._inside and not self.allocated:  # shape and strides were given wrongly
            memory = f"{self.end - self.first} bytes of memory"
            return f"{self.name} of shape {view.shape} and strides {view.strides} has only {memory}"
        many = f"{self.name} has {view.size} element{'' if view.size == 1 else 's'}"
        if len(view.shape) > 1:
            many = f"{self.name} has shape {view.shape}" if not flat else f"{many} (shape {view.shape})"
        beyond = (self.end - self.first) // view.itemsize
        if view.contiguous and beyond > view.size:
            many += f" and is a view of memory that ends before {self.name}[{beyond}]"
        return many


def explain_address(address: int, bound: Bound, placed: tuple[Placed, ...]) -> Meaning | None:
    """Find the array that an address belongs to or was meant for; None if the launch has no arrays."""
    if not bound.arrays:
        return None

    def away(array: BoundArray) -> int:
        low = _low(array, placed)
        return low - address if address < low else max(0, address - low - max(array.nbytes, 1) + 1)

    array = min(bound.arrays, key=away)
    home = placed[array.allocation]
    return Meaning(
        array,
        address,
        first=home.base + array.offset,
        end=home.end,
        indices=_indices(array.view, address - _low(array, placed)),
        allocated=home.base <= address < home.end,
        readonly=home.allocation.readonly,
        away=away(array),
    )


def _low(array: BoundArray, placed: tuple[Placed, ...]) -> int:
    """The device address of the array's lowest element, which a negative stride makes the last one."""
    return placed[array.allocation].base + array.offset + array.view.low - array.view.address


def _indices(view: ArrayView, rest: int) -> tuple[int, ...]:
    """The element `rest` bytes from the lowest address, by axis; the outermost axis may leave its extent."""
    found = [0] * len(view.shape)
    steps = view.strides
    for axis in sorted(range(len(steps)), key=lambda k: (-abs(steps[k]), k)):
        step = abs(steps[axis])
        if step == 0:
            continue
        count, rest = divmod(rest, step)
        found[axis] = count if steps[axis] > 0 else view.shape[axis] - 1 - count
    return tuple(found)
