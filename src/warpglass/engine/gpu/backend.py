"""The GPU back end: PTX through the driver's own assembler, kernels timed by events.

Belongs here: launching, waiting, and what happens after an error. Finding a GPU is detection.py, memory is
device_memory.py, status codes and PTX versions are driver.py. This module loads no driver until it is asked
for a GPU.

It speaks the driver API (cuda.bindings.driver) rather than cuda.core: the parameter block that both back ends
share is handed over whole, structures by value included, and every status code stays visible. It works in the
device's primary context, so arrays of PyTorch, CuPy and Numba can be passed in place. A launch waits for all
earlier work on the device, runs to its end, and is polled meanwhile so that it can time out.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...devices.device import Limits, limits_of
from ...errors import CompileError, KernelTimeout, LaunchError, WarpglassError
from ...source.compiled import Compiled
from ..launch.arguments import Binder, pack
from ..launch.backend import Launch, Outcome
from ..launch.kernel_exceptions import clear_exception, raise_exception
from ..launch.limits import Directives, check_launch
from ..launch.parameters import parameters_of
from ..launch.sticky import StickyState
from .bandwidth import Bandwidth, measure_bandwidth
from .clocks import Clocks
from .detection import chosen_ordinal, problem
from .device_memory import DeviceArray, Placement, allocate, copy, flat
from .driver import (
    NOT_READY,
    CudaError,
    Driver,
    clear_word,
    header_of,
    launch_error,
    load_module,
    newest_isa,
    read_variable,
    read_word,
    write_variable,
)
from .resets import announce_reset
from .stopwatch import GpuTimer, Holder
from .submission import Recording, Submission, launch_attributes, packed_parameters

_SPIN_SECONDS = 2e-3  # waiting for a short kernel: do not sleep
_HELD_SECONDS = 5e-4


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A kernel in GPU memory, with what a launch must know of it."""

    function: Any
    binder: Binder
    directives: Directives
    shared_static: int
    registers: int
    cooperative: bool


@dataclass(frozen=True, slots=True)
class _Present:
    """The GPU as the launch check knows it."""

    name: str
    limits: Limits


class GpuBackend:
    """A GPU that is present; implements Backend.

    `api` is cuda.bindings.driver, or a module with its semantics. Raises WarpglassError if there is no GPU.
    """

    name = "gpu"

    def __init__(self, ordinal: int | None = None, api: Any = None):
        if api is None:
            reason = problem()
            if reason is not None:
                raise WarpglassError(f"no GPU: {reason}")
            import cuda.bindings.driver as api
        self._driver = Driver(api)
        self._api: Any = api
        self._lock = threading.RLock()
        self._recording: Recording | None = None
        self._sticky = StickyState()
        self._arrays: weakref.WeakSet[DeviceArray] = weakref.WeakSet()
        self._epoch = 0  # counts contexts: memory of an earlier one must not be freed
        self.ordinal = chosen_ordinal() if ordinal is None else ordinal
        self._driver.call("cuInit", 0)
        count = int(self._driver.call("cuDeviceGetCount"))
        if self.ordinal >= count:
            there = "there is one GPU, gpu:0" if count == 1 else f"there are {count} GPUs, from gpu:0"
            raise WarpglassError(f"no GPU gpu:{self.ordinal}: {there}")
        self._device = self._driver.call("cuDeviceGet", self.ordinal)
        self._describe()
        self._open()

    def _describe(self) -> None:
        attribute = self._api.CUdevice_attribute
        self.capability = (
            self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        self.l2_bytes = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
        multiprocessors = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        raw: bytes = self._driver.call("cuDeviceGetName", 128, self._device)
        self.device_name = raw.split(b"\0")[0].decode()
        version = int(self._driver.call("cuDriverGetVersion"))
        self._isa = newest_isa(version)
        self.description = (
            f"{self.device_name} (compute capability {self.capability[0]}.{self.capability[1]}, "
            f"{multiprocessors} multiprocessors, CUDA {version // 1000}.{version % 1000 // 10} driver)"
        )
        try:
            self._present: _Present | None = _Present(self.device_name, limits_of(self.capability))
        except KeyError:  # newer than the tables: the driver alone judges launches
            self._present = None

    def _attribute(self, which: Any) -> int:
        return int(self._driver.call("cuDeviceGetAttribute", which, self._device))

    def _open(self) -> None:
        """Enter the primary context and make what lives in it."""
        call, api = self._driver.call, self._api
        self._context = call("cuDevicePrimaryCtxRetain", self._device)
        call("cuCtxSetCurrent", self._context)
        self._stream = call("cuStreamCreate", api.CUstream_flags.CU_STREAM_DEFAULT)
        self._start, self._end = (call("cuEventCreate", api.CUevent_flags.CU_EVENT_DEFAULT) for _ in range(2))
        self._kernels: dict[Compiled, _Loaded] = {}
        self._modules: dict[tuple[str, int], Any] = {}  # by PTX and loading
        self._scratch = 0
        self._timer: GpuTimer | None = None
        self._before: Holder | None = None
        self._epoch += 1

    # ------------------------------------------------------------------------------------ Backend
    def run(self, launch: Launch) -> Outcome:
        """Run to completion, results in the argument arrays; raise ArgumentError or LaunchError."""
        kernel = launch.compiled.name
        with self._entered(kernel):
            loaded = self._kernels.get(launch.compiled) or self._load(launch.compiled)
            for symbol, content in launch.variables:
                write_variable(self._driver, self._modules[_module_key(launch.compiled)], symbol, content)
            bound = loaded.binder.bind(launch.args)
            self._check(launch, loaded)
            placement = Placement(self._driver)
            try:
                began = time.perf_counter()
                placement.place(bound, self.ordinal)
                there = time.perf_counter()
                module = self._modules[_module_key(launch.compiled)]
                clear_exception(launch.compiled, lambda name: clear_word(self._driver, module, name))
                offsets = [parameter.offset for parameter in bound.parameters]
                submission = self._submission(loaded, launch, pack(bound, placement.bases), offsets)
                seconds = self._launch(submission, launch)
                done = time.perf_counter()
                if self._recording is not None:
                    self._recording.launched(submission, placement.on_device)
                placement.copy_back()
                back = time.perf_counter()
            except KernelTimeout:
                raise  # the kernel still uses the buffers
            except BaseException:
                placement.free()
                raise
            placement.free()
            raise_exception(launch.compiled, lambda name: read_word(self._driver, module, name))
            return Outcome(seconds, "gpu", (there - began) + (back - done))

    def read_variable(self, compiled: Compiled, symbol: str) -> bytes | None:
        """What a module variable of a kernel holds; None if the kernel has not been launched here."""
        with self._entered(compiled.name):
            module = self._modules.get(_module_key(compiled))
            return None if module is None else read_variable(self._driver, module, symbol)

    def to_device(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        """A copy of a NumPy array in GPU memory, which launches use in place."""
        packed = np.ascontiguousarray(array).reshape(array.shape)
        with self._entered("to_device"):
            made = self._allocated(packed.shape, packed.dtype)
            copy(self._driver, packed, made)
        return made

    def _allocated(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        nbytes, epoch = math.prod(shape) * dtype.itemsize, self._epoch
        address = allocate(self._driver, nbytes) if nbytes else 0
        made = DeviceArray(address, shape, dtype, self.ordinal, lambda freed: self._free(freed, epoch))
        self._arrays.add(made)
        return made

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """A NumPy copy of a device array, of any library."""
        interface = array.__cuda_array_interface__
        own = getattr(array, "dtype", None)  # a typestr says nothing of a record's fields
        dtype = own if isinstance(own, np.dtype) else np.dtype(interface["typestr"])
        result = np.empty(interface["shape"], dtype)
        self.copy(array, result)
        return result

    def copy(self, source: Any, target: Any) -> None:
        """Copy all bytes of one array into another, each on the host or on the device."""
        with self._entered("copy"):
            self._driver.call("cuCtxSynchronize")
            copied = copy(self._driver, source, target)
            if self._recording is not None:
                self._recording.copied(*copied)

    def part(self, array: DeviceArray, start: int, stop: int | None = None) -> DeviceArray:
        """A view, which keeps the array alive."""
        return array.part(start, stop)

    def flush_caches(self) -> None:
        """Write a buffer of twice the L2, so that the next launch finds nothing of its own there."""
        with self._entered("flush_caches"):
            if not self._scratch:
                self._scratch = int(self._driver.call("cuMemAlloc", 2 * self.l2_bytes))
            self._driver.call("cuMemsetD8", self._scratch, 0, 2 * self.l2_bytes)
            self._driver.call("cuCtxSynchronize")

    def time_exactly(self) -> None:
        """From now on let `run` begin with cold caches, and tell times without the host's pace in them."""
        with self._entered("time_exactly"):
            self._before = Holder(self._driver, self.l2_bytes)

    # ------------------------------------------------------------------------------- DeviceBackend
    def timer(self) -> GpuTimer:
        """What measures on this GPU."""
        with self._entered("timer"):
            if self._timer is None:
                bus: bytes = self._driver.call("cuDeviceGetPCIBusId", 32, self._device)
                clocks = Clocks(bus.split(b"\0")[0].decode())
                self._timer = GpuTimer(Holder(self._driver, self.l2_bytes), clocks, self._entered)
            return self._timer

    def record(self, work: Callable[[], object]) -> Callable[[], None] | None:
        """Do work, and return what submits its kernels and copies again; None if they might be others."""
        with self._lock:
            recording = self._recording = Recording(self._driver)
            try:
                work()
            finally:
                self._recording = None
        return recording.submit if recording.repeatable else None

    def zeros(self, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        """A new array of zeros."""
        with self._entered("zeros"):
            made = self._allocated(shape if isinstance(shape, tuple) else (shape,), np.dtype(dtype))
        self.clear(made)
        return made

    def clear(self, array: DeviceArray) -> None:
        """Fill a device array with zeros."""
        with self._entered("clear"):
            if array.nbytes:
                self._driver.call("cuMemsetD8", array.address, 0, array.nbytes)
                self._driver.call("cuCtxSynchronize")

    def clone(self, array: DeviceArray) -> DeviceArray:
        """A copy of a device array."""
        with self._entered("clone"):
            made = self._allocated(array.shape, array.dtype)
            copy(self._driver, array, made)
            return made

    def flat(self, array: Any) -> DeviceArray:
        """The memory of any library's contiguous array as one of ours, with one dimension."""
        return flat(array, self.ordinal)

    def bandwidth(self) -> Bandwidth:
        """What the memory's clock and bus allow, and what a copy of 256 MiB within the device reaches."""
        with self._entered("bandwidth"):
            return measure_bandwidth(self._driver, self._device, self._stream)

    def reset(self) -> None:
        """Forget a sticky error by giving up the context, as cudaDeviceReset does; all device arrays are
        lost.

        Does nothing on a device without a sticky error. Raises KernelTimeout while a kernel that timed
        out still runs: nothing in this process can stop it. Raises WarpglassError if the driver does not
        give the process a new context: after an illegal access, a misaligned one or a trap it does not
        (seen with driver 580 on an H200), and only a new process gets to use the GPU again.
        """
        with self._lock:
            first = self._sticky.first
            if first is None:
                return
            if (
                isinstance(first, KernelTimeout)
                and self._driver.status("cuStreamQuery", self._stream) == NOT_READY
            ):
                raise KernelTimeout(f"{first}; it is still running, so the device cannot be reset")
            for array in self._arrays:
                array.lose()
            for give_up in ("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxReset"):
                self._driver.status(give_up, self._device)  # may report the old error once more
            announce_reset(self.ordinal)
            self._epoch += 1
            try:
                self._open()
            except CudaError as error:
                raise WarpglassError(
                    f"the GPU did not come back after its reset: {error}; restart Python"
                ) from error
            self._sticky.clear()

    # ------------------------------------------------------------------------------------ errors
    @contextmanager
    def _entered(self, what: str) -> Iterator[None]:
        """One call at a time, in our context, on a usable device; driver errors become LaunchErrors."""
        with self._lock:
            self._sticky.check()
            try:
                self._driver.call("cuCtxSetCurrent", self._context)
                yield
            except CudaError as error:
                failure = launch_error(error, what)
                self._sticky.note(failure)
                raise failure from error
            except LaunchError as error:
                self._sticky.note(error)
                raise

    def _free(self, address: int, epoch: int) -> None:
        """Free a device array's memory, from whatever thread dropped it."""
        with self._lock:
            if epoch == self._epoch and self._sticky.first is None:
                self._driver.status("cuCtxSetCurrent", self._context)
                self._driver.status("cuMemFree", address)

    # ------------------------------------------------------------------------------------ loading
    def _load(self, compiled: Compiled) -> _Loaded:
        header = header_of(compiled.ptx, compiled.entry)
        if header is None:
            raise CompileError(f"the PTX has no kernel named {compiled.entry!r}")
        module = self._modules.get(_module_key(compiled))
        if module is None:
            module = self._modules[_module_key(compiled)] = load_module(
                self._driver, compiled, self.capability, self._isa
            )
        function = self._driver.call("cuModuleGetFunction", module, compiled.entry.encode())
        attribute = self._api.CUfunction_attribute
        loaded = _Loaded(
            function,
            Binder(compiled, parameters_of(header.parameters)),
            header.directives,
            int(
                self._driver.call(
                    "cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function
                )
            ),
            int(self._driver.call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)),
            # The handle of a whole grid's barrier comes in these registers (cooperative_groups.h).
            cooperative="%envreg" in compiled.ptx,
        )
        self._kernels[compiled] = loaded
        return loaded

    # ------------------------------------------------------------------------------------ launching
    def _check(self, launch: Launch, loaded: _Loaded) -> None:
        if self._present is not None:
            check_launch(
                self._present,
                launch.grid,
                launch.block,
                loaded.shared_static,
                launch.shared,
                loaded.registers,
                loaded.directives,
            )

    def _submission(
        self, loaded: _Loaded, launch: Launch, block: bytes, offsets: Sequence[int]
    ) -> Submission:
        if launch.shared:  # more than the default is opted into; less does no harm
            which = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._driver.call("cuFuncSetAttribute", loaded.function, which, launch.shared)
        places, memory = packed_parameters(block, offsets)
        attributes = launch_attributes(self._api, loaded.cooperative, launch.cluster)
        kept = memory, launch.args
        return Submission(
            self._driver, loaded.function, launch.grid, launch.block, launch.shared, places, attributes, kept
        )

    def _launch(self, submission: Submission, launch: Launch) -> float:
        """Launch and wait; returns the kernel's seconds."""
        call = self._driver.call
        call("cuCtxSynchronize")  # other libraries may still be filling the arrays, on streams of their own
        if self._before is not None:
            self._before.flush()
            self._before.hold(_HELD_SECONDS)  # in which all that follows is submitted
        call("cuEventRecord", self._start, self._stream)
        submission(self._stream)
        call("cuEventRecord", self._end, self._stream)
        self._wait(launch)
        call("cuStreamSynchronize", self._stream)  # also brings out what the kernel printed
        return float(call("cuEventElapsedTime", self._start, self._end)) * 1e-3

    def _wait(self, launch: Launch) -> None:
        """Poll until the kernel has ended; raise KernelTimeout if it takes longer than it may."""
        began = time.monotonic()
        while True:
            status = self._driver.status("cuEventQuery", self._end)
            if status == 0:
                return
            if status != NOT_READY:
                raise CudaError(status, "cuEventQuery")
            waited = time.monotonic() - began
            if waited > launch.timeout:
                raise KernelTimeout(
                    f"{launch.compiled.name} did not end within {launch.timeout:g} s; a GPU kernel cannot be "
                    f"interrupted, so the device is unusable until it ends or this process does"
                )
            if waited > _SPIN_SECONDS:
                time.sleep(min(1e-3, waited / 20))


def _module_key(compiled: Compiled) -> tuple[str, int]:
    return compiled.ptx, compiled.instance
