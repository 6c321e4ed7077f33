"""What an array-like argument is: where its bytes lie, its shape, and which memory it is a view of.

Belongs here: recognising NumPy arrays, DLPack tensors and `__cuda_array_interface__` objects, and describing
each as an ArrayView. Whether a kernel accepts the array is arguments.py; copying it is the back ends' work.

How it works: a NumPy array is followed along `.base` to the array that owns or wraps the memory (memory
maps and buffers of other libraries are wrapped, never copied). DLPack tensors on the host become NumPy
arrays of the same memory; tensors on a device are described from the capsule, which stays unconsumed and
is kept alive by the view.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Misfit(ValueError):
    """An argument that does not fit its parameter; whoever knows the argument's name adds it to the text."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayView:
    """One array as a kernel sees it: address of its first element, layout, and the memory that it is part of.

    `shape` is in elements, `strides` in bytes. The elements lie in [low, high), the memory that owns them
    in [owner_low, owner_high); all four are byte addresses. `device` is None for host memory, else the
    ordinal of the CUDA device. `keep` holds the memory alive. `dtype` is None where NumPy has no such
    type (bfloat16).
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any] | None
    itemsize: int
    contiguous: bool  # in C order
    readonly: bool
    low: int
    high: int
    owner_low: int
    owner_high: int
    device: int | None
    keep: object = field(repr=False)

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count


def view_of(value: object) -> ArrayView | None:
    """Describe an array-like object; None if it is none. Raises Misfit for arrays beyond use."""
    if isinstance(value, np.ndarray):
        return _view_of_numpy(value)
    if isinstance(value, np.generic):  # NumPy scalars offer __array_interface__, but are values
        return None
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _view_of_cuda_interface(value, interface)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _view_of_dlpack(value)
    return None


# ---------------------------------------------------------------------------------------- NumPy
def _view_of_numpy(array: np.ndarray[Any, Any], writable: bool | None = None) -> ArrayView:
    """Describe a NumPy array; `writable` overrides its flag where NumPy knows less than the exporter."""
    if type(array) is not np.ndarray and _is_masked(array):
        raise Misfit("got a masked array, whose mask a kernel cannot see; pass x.filled(value) instead")
    address = _address(array)
    flags = array.flags
    contiguous = flags.c_contiguous
    low, high = (address, address + array.nbytes) if contiguous else _bounds(array)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    owner_low, owner_high = low, high
    if owner is not array and array.size:
        lowest, highest = _bounds(owner)
        # as_strided can leave its owner; the kernel may reach what the view itself covers
        owner_low, owner_high = min(low, lowest), max(high, highest)
    readonly = not (flags.writeable if writable is None else writable)
    return ArrayView(
        address,
        array.shape,
        array.strides,
        array.dtype,
        array.itemsize,
        contiguous,
        readonly,
        low,
        high,
        owner_low,
        owner_high,
        None,
        array,
    )


def signature_of(array: np.ndarray[Any, Any]) -> Hashable:
    """What `view_of` looks at in a NumPy array: arrays with equal ones are the same to a kernel."""
    own = (_address(array), array.shape, array.strides, array.dtype, array.flags.writeable)
    owner = array.base
    if owner is None or not isinstance(owner, np.ndarray):
        return own
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return own, _address(owner), owner.shape, owner.strides, owner.itemsize


def _described_address(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]


def _stored_address(array: np.ndarray[Any, Any]) -> int:
    return _word_at(id(array) + _HEAD).value


# NumPy's C interface says what follows an object's head: the address of the elements. To have the array
# described takes ten times as long, a tenth of a small launch for each argument.
_HEAD, _word_at = object.__basicsize__, ctypes.c_size_t.from_address


def _is_stored() -> bool:
    probe = np.empty(1)
    return sys.implementation.name == "cpython" and _stored_address(probe) == _described_address(probe)


_address = _stored_address if _is_stored() else _described_address


def _is_masked(array: np.ndarray[Any, Any]) -> bool:
    masked = sys.modules.get("numpy.ma")  # importing it would take as long as several launches
    return masked is not None and isinstance(array, masked.MaskedArray)


def _bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The first byte of an array's elements and the one after the last."""
    return _reach(_address(array), array.shape, array.strides, array.itemsize)


def _reach(address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """The first byte that elements occupy and the one after the last, whatever the strides' signs."""
    if 0 in shape:
        return address, address
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    below = sum(step for step in steps if step < 0)
    above = sum(step for step in steps if step > 0)
    return address + below, address + above + itemsize


# ---------------------------------------------------------------------------------------- device arrays
def _view_of_cuda_interface(value: object, interface: dict[str, Any]) -> ArrayView:
    """Describe an object with `__cuda_array_interface__` (versions 0 to 3: Numba, CuPy, PyTorch, ...)."""
    if interface.get("mask") is not None:
        raise Misfit("got a masked device array, whose mask a kernel cannot see")
    address, readonly = interface["data"]
    dtype = np.dtype(interface["typestr"])
    own = getattr(value, "dtype", None)
    if isinstance(own, np.dtype):  # a typestr says nothing of a record's fields
        dtype = own
    shape = tuple(int(extent) for extent in interface["shape"])
    strides = interface.get("strides")
    place = getattr(value, "device", None)
    device = getattr(place, "index", getattr(place, "id", None))  # PyTorch, CuPy; Numba does not say
    return _view_of_device_memory(
        int(address or 0), shape, strides, dtype, dtype.itemsize, bool(readonly), device or 0, value
    )


def _view_of_device_memory(
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: np.dtype[Any] | None,
    itemsize: int,
    readonly: bool,
    device: int,
    keep: object,
) -> ArrayView:
    packed = _packed_strides(shape, itemsize)
    strides = packed if strides is None else tuple(int(stride) for stride in strides)
    low, high = _reach(address, shape, strides, itemsize)
    contiguous = 0 in shape or all(
        extent == 1 or stride == natural
        for extent, stride, natural in zip(shape, strides, packed, strict=True)
    )
    return ArrayView(
        address, shape, strides, dtype, itemsize, contiguous, readonly, low, high, low, high, device, keep
    )


def _packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a C-contiguous array."""
    strides: list[int] = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


# ---------------------------------------------------------------------------------------- DLPack
# Device types and type codes of dlpack.h (github.com/dmlc/dlpack, version 1).
_ON_HOST = {1, 3, 13}  # kDLCPU, kDLCUDAHost (pinned), kDLCUDAManaged
_ON_CUDA = 2
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_READ_ONLY_FLAG = 1


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _VersionedTensor(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h, as far as we read it."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Capsule:
    """Hands a capsule that was already asked for to np.from_dlpack."""

    def __init__(self, capsule: object, device: tuple[int, int]):
        self._capsule = capsule
        self._device = device

    def __dlpack__(self, **_: object) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _view_of_dlpack(value: Any) -> ArrayView:
    try:
        device_type, device = (int(part) for part in value.__dlpack_device__())
        capsule = _export(value)
        versioned = "dltensor_versioned" in repr(capsule)
        if device_type in _ON_HOST:
            array = np.from_dlpack(_Capsule(capsule, (1, 0)))
            # Without a version the protocol carries no flag, and NumPy then assumes read-only.
            return _view_of_numpy(array, writable=None if versioned else True)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Misfit(f"got a {type(value).__name__} that exports no memory ({error})") from error
    if device_type != _ON_CUDA:
        raise Misfit(f"got a {type(value).__name__} on DLPack device type {device_type}; host or CUDA needed")
    return _view_of_capsule(capsule, versioned, device)


def _export(value: Any) -> object:
    """Ask for the newest capsule that the exporter knows, without stream synchronisation."""
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:  # exporters older than DLPack 1.0 have no such argument
        return value.__dlpack__()


def _view_of_capsule(capsule: object, versioned: bool, device: int) -> ArrayView:
    pointer = _pointer_in(capsule, b"dltensor_versioned" if versioned else b"dltensor")
    readonly = False
    if versioned:
        managed = _VersionedTensor.from_address(pointer)
        tensor, readonly = managed.tensor, bool(managed.flags & _READ_ONLY_FLAG)
    else:
        tensor = _Tensor.from_address(pointer)
    itemsize = tensor.bits * tensor.lanes // 8
    kind = _KINDS.get(tensor.code)
    dtype = np.dtype(f"{kind}{itemsize}") if kind and tensor.lanes == 1 else None
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(step * itemsize for step in tensor.strides[: tensor.ndim]) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    return _view_of_device_memory(address, shape, strides, dtype, itemsize, readonly, device, capsule)
