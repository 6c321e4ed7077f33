"""Tasks on a GPU, enqueued on the caller's stream; nothing here waits for their end.

Belongs here: kernels in a device's primary context, which PyTorch, CuPy and Numba share, the scratch memory
of a stream, and the launch of a task that is ready. What an array is, and how a new one is made, is arrays/.

How it works: a `Ready` task has its kernels loaded and its parameters laid out: one slot of eight bytes for
each array, to which the parameter lists of all its launches point. A call fills the slots and hands each
launch to the driver, by ctypes, which costs a third of what a binding of Python objects does: small arrays
spend their time here.

Scratch memory belongs to a stream, whose work is in order, so that all tasks on it share one area; another of
zeros is shared in the same way, since plans leave zeros there (ladders/plan.py). What is larger than
`_MOST_KEPT` comes from the caller's own library at each call.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .. import source
from ..engine.gpu.device_memory import DeviceArray
from ..engine.gpu.driver import CudaError, Driver, launch_error, load_module, newest_isa
from ..engine.gpu.resets import on_reset
from ..ladders.plan import Argument, Part, Scratch, Step
from ..source.compiled import Compiled
from .task import Operand, Task

_MOST_KEPT = 1 << 26  # bytes of scratch memory that a stream keeps
_MOST_AREAS = 64  # two for each stream that was used last
_UNIT = 256  # scratch arrays begin at multiples of it
_COOPERATIVE = 2  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
_BYTE = np.dtype(np.uint8)


# ---------------------------------------------------------------------------------------- the driver
class _Attribute(ctypes.Structure):
    """CUlaunchAttribute of cuda.h."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int * 16)]


class _Config(ctypes.Structure):
    """CUlaunchConfig of cuda.h."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("attribute_count", ctypes.c_uint),
    ]


class _Calls:
    """The driver's functions that every call needs, by ctypes."""

    def __init__(self) -> None:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        self.launch = library.cuLaunchKernelEx
        self.launch.argtypes = (ctypes.c_void_p,) * 4
        self.current = library.cuCtxGetCurrent
        self.current.argtypes = (ctypes.c_void_p,)
        self.fill = library.cuMemsetD8Async
        self.fill.argtypes = (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p)
        self.capturing = library.cuStreamIsCapturing
        self.capturing.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        self.stream_id = library.cuStreamGetId
        self.stream_id.argtypes = (ctypes.c_void_p, ctypes.c_void_p)


# ---------------------------------------------------------------------------------------- a device
@dataclass(slots=True)
class _Area:
    """Memory that a stream keeps."""

    address: int = 0
    nbytes: int = 0


class Gpu:
    """A GPU's primary context: its kernels, and the scratch memory of its streams."""

    def __init__(self, ordinal: int):
        import cuda.bindings.driver as api

        self.ordinal = ordinal
        self.driver = Driver(api)
        self.lock = threading.RLock()
        self.calls = _Calls()
        call = self.driver.call
        call("cuInit", 0)
        device = call("cuDeviceGet", ordinal)
        self._context = call("cuDevicePrimaryCtxRetain", device)
        self._current = ctypes.c_void_p()
        self._current_at = ctypes.addressof(self._current)
        self._own = int(self._context)
        which = api.CUdevice_attribute
        major, minor, self.multiprocessors = (
            int(call("cuDeviceGetAttribute", one, device))
            for one in (
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                which.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            )
        )
        self.capability = major, minor
        self._isa = newest_isa(int(call("cuDriverGetVersion")))
        self._functions: dict[tuple[Path, str, str], tuple[Any, bool]] = {}
        self._shared: dict[int, int] = {}  # the most dynamic shared memory that a kernel was told of
        self._areas: dict[tuple[int, bool], _Area] = {}
        self._arrays: weakref.WeakSet[DeviceArray] = weakref.WeakSet()
        self._lost = False
        self._number = ctypes.c_uint64()
        self._number_at = ctypes.addressof(self._number)

    def enter(self) -> bool:
        """Make our context current if another is; returns whether `leave` must be called."""
        self.calls.current(self._current_at)
        if self._current.value == self._own:
            return False
        self.driver.call("cuCtxPushCurrent", self._context)
        return True

    def leave(self) -> None:
        """Make the context current again that was."""
        self.driver.call("cuCtxPopCurrent")

    # ------------------------------------------------------------------------------------ kernels
    def function(self, step: Step) -> tuple[Any, bool]:
        """The loaded kernel of a step, and whether all its blocks must run at once."""
        place = step.file, step.kernel, step.target
        if place not in self._functions:
            self._functions[place] = self._load(step)
        function, cooperative = self._functions[place]
        if step.shared > self._shared.get(int(function), 0):
            which = self.driver.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.driver.call("cuFuncSetAttribute", function, which, step.shared)
            self._shared[int(function)] = step.shared
        return function, cooperative

    def _load(self, step: Step) -> tuple[Any, bool]:
        major, minor = self.capability
        usual = "sm_90" if self.capability >= (9, 0) else f"sm_{major}{minor}"
        compiled: Compiled = source.load(step.file, step.kernel, target=step.target or usual).compile(())
        module = load_module(self.driver, compiled, self.capability, self._isa)
        function = self.driver.call("cuModuleGetFunction", module, compiled.entry.encode())
        return function, "%envreg" in compiled.ptx

    # ------------------------------------------------------------------------------------ memory
    def number(self, stream: int) -> int | None:
        """What tells a stream from all others, later ones too; None while it is captured into a graph."""
        if stream <= 2:  # the default streams
            return stream
        self.calls.capturing(stream, self._number_at)
        if self._number.value:
            return None
        self.calls.stream_id(stream, self._number_at)
        number, self._number.value = 3 + self._number.value, 0
        return number

    def area(self, stream: int, number: int, nbytes: int, zeroed: bool) -> int:
        """The address of so many bytes of a stream's own memory."""
        area = self._areas.get((number, zeroed))
        if area is None:
            area = self._areas[number, zeroed] = _Area()
            while len(self._areas) > _MOST_AREAS:
                self._release(self._areas.pop(next(iter(self._areas))))
        if area.nbytes < nbytes:
            self._grow(area, 1 << max(16, (nbytes - 1).bit_length()), zeroed, stream)
        return area.address

    def _release(self, area: _Area) -> None:
        address, area.address, area.nbytes = area.address, 0, 0
        if address:
            self.driver.call("cuMemFree", address)  # waits for work that still uses it

    def _grow(self, area: _Area, nbytes: int, zeroed: bool, stream: int) -> None:
        self._release(area)
        area.address = int(self.driver.call("cuMemAlloc", nbytes))
        area.nbytes = nbytes
        if zeroed:
            self.fill(area.address, nbytes, stream)

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        """An array of any content in memory of the driver's, freed with its last reference.

        Raises LaunchError where there is not enough memory.
        """
        nbytes = prod(shape) * dtype.itemsize
        made = DeviceArray(self._allocate(nbytes) if nbytes else 0, shape, dtype, self.ordinal, self._free)
        self._arrays.add(made)
        return made

    def _allocate(self, nbytes: int) -> int:
        with self.lock:
            entered = self.enter()
            try:
                return int(self.driver.call("cuMemAlloc", nbytes))
            except CudaError as error:
                raise launch_error(error, f"an array of {nbytes} bytes") from None
            finally:
                if entered:
                    self.leave()

    def _free(self, address: int) -> None:
        """Give an array's memory back, once work that uses it has ended."""
        with self.lock:
            if self._lost:
                return
            self.driver.status("cuCtxPushCurrent", self._context)
            self.driver.status("cuMemFree", address)
            self.driver.status("cuCtxPopCurrent")

    def copy_in(self, array: np.ndarray[Any, Any], address: int) -> None:
        """Copy a packed NumPy array to the device, and wait for it."""
        self._copy("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)

    def copy_out(self, address: int, array: np.ndarray[Any, Any]) -> None:
        """Copy to a packed NumPy array, after all work on the default stream."""
        self._copy("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)

    def _copy(self, function: str, target: int, origin: int, nbytes: int) -> None:
        with self.lock:
            entered = self.enter()
            try:
                if nbytes:
                    self.driver.call(function, target, origin, nbytes)
            except CudaError as error:
                raise launch_error(error, f"a copy of {nbytes} bytes") from None
            finally:
                if entered:
                    self.leave()

    def fill(self, address: int, nbytes: int, stream: int) -> None:
        """Set bytes to 0."""
        status = self.calls.fill(address, 0, nbytes, stream)
        if status:
            raise CudaError(status, "cuMemsetD8Async")

    def lose(self) -> None:
        """A reset has taken the context, and with it all memory."""
        with self.lock:
            self._lost = True
            for array in self._arrays:
                array.lose()

    def forget(self) -> None:
        """Give up the areas of zeros, in which a task that was broken off may have left something."""
        for (_, zeroed), area in self._areas.items():
            if zeroed:
                area.nbytes = 0


_known: dict[int, Gpu] = {}


def gpu(ordinal: int) -> Gpu:
    """The GPU of that number."""
    if ordinal not in _known:
        _known[ordinal] = Gpu(ordinal)
    return _known[ordinal]


@on_reset
def _lose(ordinal: int) -> None:
    found = _known.pop(ordinal, None)
    if found is not None:
        found.lose()


# ---------------------------------------------------------------------------------------- a task
@dataclass(frozen=True, slots=True)
class _Places:
    """Where scratch arrays lie in an area: the slot and the offset of each."""

    nbytes: int
    places: tuple[tuple[int, int], ...]


class Allocator(Protocol):
    """Where a task finds much memory for a while (arrays/library.py)."""

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """An array of any content on a device."""
        ...

    def address(self, array: Any) -> int:
        """Its device address."""
        ...


class Ready:
    """A task whose kernels are loaded on a GPU."""

    def __init__(self, device: Gpu, task: Task, operands: Sequence[Operand]):
        self._gpu = device
        self.ordinal = device.ordinal
        self.results = task.results
        names = [*(one.name for one in operands), *(one.name for one in task.results)]
        self._given = len(names)
        sizes = {one.name: one.dtype.itemsize for one in (*operands, *task.results, *task.scratch)}
        names += [one.name for one in task.scratch]
        parts = {argument for step in task.steps for argument in step.arguments if isinstance(argument, Part)}
        slots: dict[Argument, int] = {name: slot for slot, name in enumerate(names)}
        self._parts: list[tuple[int, int, int]] = []  # slot, slot of the whole, bytes
        for one in parts:
            slots[one] = len(slots)
            self._parts.append((slots[one], slots[one.array], one.start * sizes[one.array]))
        self._slots = (ctypes.c_uint64 * max(1, len(slots)))()
        kinds = [(zeroed, [one for one in task.scratch if one.zeroed is zeroed]) for zeroed in (True, False)]
        self._scratch = [(_lay_out(arrays, slots), zeroed) for zeroed, arrays in kinds if arrays]
        self._cleared = [
            (slots[one.name], one.size * one.dtype.itemsize)
            for one in (*task.results, *task.scratch)
            if one.name in task.cleared and one.size
        ]
        self._keep: list[Any] = []
        self._launches = [self._launch_of(step, slots) for step in task.steps]

    def _launch_of(self, step: Step, slots: dict[Argument, int]) -> tuple[_Config, int, int, int, str]:
        function, cooperative = self._gpu.function(step)
        config = _Config()
        config.grid[:] = step.shape.grid3
        config.block[:] = step.shape.block3
        config.shared = step.shared
        if cooperative:
            attribute = _Attribute(_COOPERATIVE)
            attribute.value[0] = 1
            config.attributes, config.attribute_count = ctypes.pointer(attribute), 1
        first = ctypes.addressof(self._slots)
        places = (ctypes.c_void_p * max(1, len(step.arguments)))()
        for place, argument in enumerate(step.arguments):
            if isinstance(argument, np.generic):
                held = ctypes.create_string_buffer(argument.tobytes())
                self._keep.append(held)
                places[place] = ctypes.addressof(held)
            else:
                places[place] = first + 8 * slots[argument]
        self._keep += [places, function]
        return config, ctypes.addressof(config), int(function), ctypes.addressof(places), step.kernel

    def __call__(self, addresses: Sequence[int], stream: int, library: Allocator) -> None:
        """Enqueue the task; `addresses` are those of the operands and then of the results.

        Scratch memory comes from `library`, if there is much. Raises LaunchError.
        """
        device, slots = self._gpu, self._slots
        held: list[Any] = []
        with device.lock:
            entered = device.enter()
            try:
                slots[: self._given] = addresses
                if self._scratch:
                    held = self._place_scratch(stream, library)
                for slot, whole, offset in self._parts:
                    slots[slot] = slots[whole] + offset
                for slot, nbytes in self._cleared:
                    device.fill(slots[slot], nbytes, stream)
                launch = device.calls.launch
                for config, place, function, parameters, kernel in self._launches:
                    config.stream = stream
                    status = launch(place, function, parameters, None)
                    if status:
                        raise launch_error(CudaError(status, "cuLaunchKernelEx"), kernel)
            except CudaError as error:
                device.forget()
                raise launch_error(error, "memory for the operation") from None
            except BaseException:  # Ctrl-C, too
                device.forget()
                raise
            finally:
                if entered:
                    device.leave()
        del held  # the library gives it to nobody whose work does not come after ours

    def _place_scratch(self, stream: int, library: Allocator) -> list[Any]:
        """Find memory for all scratch arrays; returns what must be held until the launches are made."""
        device, held = self._gpu, list[Any]()
        number = device.number(stream)
        for laid_out, zeroed in self._scratch:
            if number is None or laid_out.nbytes > _MOST_KEPT:  # a graph has memory of its own
                held.append(library.new((laid_out.nbytes,), _BYTE, self.ordinal))
                base = library.address(held[-1])
                if zeroed:
                    device.fill(base, laid_out.nbytes, stream)
            else:
                base = device.area(stream, number, laid_out.nbytes, zeroed)
            for slot, offset in laid_out.places:
                self._slots[slot] = base + offset
        return held


def _lay_out(scratch: Sequence[Scratch], slots: dict[Argument, int]) -> _Places:
    offset = 0
    places: list[tuple[int, int]] = []
    for one in scratch:
        places.append((slots[one.name], offset))
        offset += -(-max(1, one.size * one.dtype.itemsize) // _UNIT) * _UNIT
    return _Places(offset, tuple(places))
