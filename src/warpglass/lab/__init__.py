"""The wiring: sources put together with back ends.

`load`, `compile`, `from_numba`, `run` and `reset` are here. Bench, check, profile and the self-test have
files beside this one, which add what each looks at.

A Kernel is a source that compiles for the arguments of a launch; `run` sends it to a back end. Back ends are
made once per process: they keep compiled kernels and, like a CUDA context, the memory of a sticky error.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import devices, source
from ..engine.launch.backend import Backend, Dim3, Launch
from ..engine.launch.limits import as_dim3
from ..errors import ArgumentError, LaunchError
from ..host.budget import compile_deadline
from ..host.environment import read
from ..records.display import Displayed, draw_with
from ..records.marks import Marked, purposes, unmark
from ..source import Compiled, FixedSource, Source
from ..source.compiled import Demands
from .variables import Variables
from .watchers import Watcher as Watcher
from .watchers import carry_out as carry_out
from .watchers import for_another_thread as for_another_thread
from .watchers import watched as watched
from .watchers import watching as watching
from .watchers import when_watched as when_watched

if TYPE_CHECKING:
    from ..engine.cpu.backend import CpuBackend


def _draw(record: object) -> str:
    from .display import html_of

    return html_of(record)


draw_with(_draw)

Extent = int | Sequence[int]

_TIMEOUT = 60.0  # seconds that a launch may take unless its author says otherwise
# What arguments of a launch may be; a union written where it is used is made anew each time.
_LISTS, _NUMBERS = (tuple, list), (int, float, np.number)


@dataclass(slots=True, unsafe_hash=True)  # not frozen, as engine/launch/backend.py's records
class Run(Displayed):
    """What `run` reports: seconds of the kernel alone, what kind of time that is, and where it ran.

    `label` is "engine" for wall time of the CPU engine, "gpu" for a GPU's event time. `transfer_seconds` is
    the time that copying NumPy arrays to a GPU and back took, 0 on the engine.
    """

    seconds: float
    label: str
    device: str
    transfer_seconds: float = 0.0


class Kernel:
    """A kernel from any language; `k[grid, block](*args)` launches it, `run(k, ...)` does and reports."""

    def __init__(self, origin: Source):
        self._source = _of_its_own(origin)
        self._may_demand = origin.language == "ptx"
        self._variables = Variables()

    @property
    def name(self) -> str:
        """The name that the kernel was asked for by."""
        return self._source.name

    @property
    def language(self) -> str:
        """ "cuda", "ptx" or "python"."""
        return self._source.language

    def compile(self, args: Sequence[object] = ()) -> Compiled:
        """PTX for these arguments; only Python kernels look at them."""
        return self._source.compile(args)

    def leaves(self, args: Sequence[object]) -> tuple[object, ...]:
        """The arguments as a back end takes them: Python kernels take tuples apart."""
        return self._source.leaves(args)

    def set(self, name: str, value: object) -> None:
        """Set a __constant__ or __device__ variable of the kernel's file for all launches to come.

        `value` is an array of the variable's element type and size in bytes, or numbers for them. Namespaces
        may be left out. Kernels of one file have variables of their own. Raises ArgumentError.
        """
        self._variables.set(self._with_variables(), name, value)

    def get(self, name: str) -> np.ndarray[Any, Any]:
        """A copy of what a __constant__ or __device__ variable holds after the last launch.

        It has the variable's element type and extents; bytes where NumPy has no such type.
        """
        compiled = self._with_variables()
        return self._variables.get(compiled, name, lambda: backend("cpu"))

    def _with_variables(self) -> Compiled:
        if self.language == "python":
            raise ArgumentError(f"{self.name}: kernels in Python have no variables that can be set or read")
        return self._source.compile(())

    def __getitem__(self, configuration: object) -> Launcher:
        """`k[grid, block]`, `k[grid, block, stream, shared_bytes]`, numba's launch syntax.

        Of Triton's kernels, whose block is fixed, it is `k[grid]`, as Triton has it.
        """
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        shared: object = 0
        match parts:
            case _ if self.demands is not None:
                grid, block = configuration, None
            case (grid, block) | (grid, block, _):
                pass
            case (grid, block, _, shared):
                pass
            case _:
                raise ArgumentError(
                    f"{self.name}[...] takes grid, block and optionally stream and shared memory bytes, "
                    f"got {len(parts)} values"
                )
        return Launcher(self, *self.shape(grid, block), _bytes(shared))

    @property
    def demands(self) -> Demands | None:
        """What the kernel's compiler has fixed of its launches; None where the author chooses."""
        return self._source.compile(()).demands if self._may_demand else None

    def shape(self, grid: object, block: object) -> tuple[Dim3, Dim3]:
        """Grid and block; the block may be None where it is fixed. Raises ArgumentError and LaunchError."""
        demands = self.demands if self._may_demand else None
        if demands is None:
            return as_dim3(grid, "grid"), as_dim3(block, "block")
        x, y, z = as_dim3(grid, "grid")
        fixed = (demands.threads, 1, 1)
        if block is not None and as_dim3(block, "block") != fixed:
            raise ArgumentError(
                f"{self.name}: the block is {block}, but its compiler has fixed {demands.threads} threads; "
                "pass None"
            )
        return (x * demands.blocks, y, z), fixed

    def launch(
        self, shape: tuple[Dim3, Dim3], args: Sequence[object], shared: int, timeout: float, place: Backend
    ) -> Launch:
        """The launch at `place` with a shape of `shape` and arguments that may be marked."""
        marked = Marked in map(type, args)
        plain = unmark(args) if marked else tuple(args)
        compiled, given = self._source.compile(plain), self._source.leaves(plain)
        if (demands := compiled.demands) is not None:
            blocks = math.prod(shape[0])
            _check_count(compiled, len(given))
            given += tuple(np.zeros(blocks * size, np.uint8) if size else None for size in demands.scratch)
            shared = max(shared, demands.shared)
        marks = purposes(args, self.leaves) if marked else ()
        news = self._variables.for_launch(place)
        grid, block = shape
        return Launch(compiled, grid, block, given, shared, timeout, marks, variables=news)

    def __repr__(self) -> str:
        return f"<warpglass kernel {self.name} ({self.language})>"


def _check_count(compiled: Compiled, given: int) -> None:
    """Raise ArgumentError unless so many arguments leave the hidden parameters and no other."""
    if compiled.arguments is None or compiled.demands is None:
        return
    declared = compiled.arguments[: len(compiled.arguments) - len(compiled.demands.scratch)]
    if given != len(declared):
        names = ", ".join(map(str, declared))
        raise ArgumentError(f"{compiled.name} takes {len(declared)} arguments ({names}), got {given}")


_instances = count(1)


def _of_its_own(origin: Source) -> Source:
    """A kernel whose variables no other has that was loaded before from the same text."""
    if not isinstance(origin, FixedSource) or not origin.compiled.variables:
        return origin
    return FixedSource(replace(origin.compiled, instance=next(_instances)))


@dataclass(slots=True)  # not frozen, as engine/launch/backend.py's records
class Launcher:
    """A kernel with its launch configuration, waiting for arguments."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int

    def __call__(self, *args: object) -> None:
        """Launch on the default device and wait for the end."""
        place = backend()
        shape = self.grid, self.block
        carry_out(place, self.kernel.launch(shape, args, self.shared, _TIMEOUT, place))


def load(
    path: str | PathLike[str] | object,
    name: str | None = None,
    target: str = "sm_90",
    options: Sequence[str] | str = (),
) -> Kernel:
    """The kernel `name` of a .cu, .ptx or .py file; `reduce<512u>` names an instance of a C++ template.

    Or the kernel that triton.compile has returned, which takes the file's place; it is launched as
    `kernel[grid](...)`, and so is a .ptx file of Triton's cache, whose metadata lie beside it.

    `target` is the GPU architecture compiled for, `options` go to the compiler (-D, -I, -std, ...). Without a
    name the file must hold exactly one kernel. Raises CompileError.
    """
    return _read(source.load(path, name, target=target, options=options))


def compile(
    text: str,
    name: str | None = None,
    language: str = "cuda",
    target: str = "sm_90",
    options: Sequence[str] | str = (),
) -> Kernel:
    """The kernel `name` of a text in language "cuda" (C++) or "ptx". Raises CompileError."""
    return _read(source.compile_text(text, name, language=language, target=target, options=options))


def _read(origin: Source) -> Kernel:
    """A kernel; PTX is parsed first, so that its mistakes show here and not at the first launch."""
    if origin.language == "ptx":
        from .. import ptx

        compiled = origin.compile(())
        with compile_deadline(compiled.name):
            ptx.parse_authored(compiled.ptx, compiled.name, compiled.entry)
    return Kernel(origin)


def from_numba(function: Callable[..., Any], target: str = "sm_90") -> Kernel:
    """A kernel from a @cuda.jit dispatcher of numba-cuda or numba-cuda-mlir, or from a plain function."""
    return Kernel(source.from_numba(function, target=target))


def run(
    kernel: Kernel,
    grid: Extent,
    block: Extent | None,
    args: Sequence[object],
    shared: int = 0,
    device: str = "auto",
    timeout: float = _TIMEOUT,
    model: str = "h100",
    cluster: Extent | None = None,
) -> Run:
    """Run a kernel to completion; results are in the argument arrays.

    `shared` is dynamic shared memory in bytes, `timeout` in seconds. `device` is "auto" (the first GPU, else
    the engine), "cpu" or "gpu"; on the engine `model` names the GPU whose launch limits apply. `cluster` are
    the extents of a cluster in blocks, for kernels that do not say them themselves. Raises ArgumentError for
    arguments that do not fit, LaunchError (KernelFault, KernelTimeout) for what CUDA would report.
    """
    place = backend(device, model)
    outcome = carry_out(place, make_launch(kernel, grid, block, args, shared, timeout, place, cluster))
    where = outcome.device or place.description
    return Run(outcome.seconds, outcome.label, where, outcome.transfer_seconds)


_PACKAGE = Path(__file__).parent.parent
_INSTALLED = ("site-packages", "dist-packages")


def launch_site() -> str:
    """FILE:LINE of the innermost code that is neither ours nor an installed package's: the launch's place."""
    frame = sys._getframe()
    while frame.f_back is not None and _is_library(Path(frame.f_code.co_filename)):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_library(file: Path) -> bool:
    return file.is_relative_to(_PACKAGE) or not set(_INSTALLED).isdisjoint(file.parts)


def make_launch(
    kernel: Kernel,
    grid: Extent,
    block: Extent | None,
    args: Sequence[object],
    shared: int,
    timeout: float,
    place: Backend,
    cluster: Extent | None = None,
) -> Launch:
    """The launch at `place` that these arguments of `run` describe; raises ArgumentError and LaunchError."""
    if not isinstance(kernel, Kernel):
        raise ArgumentError(f"{kernel!r} is no kernel; load, compile and from_numba make one")
    if not isinstance(args, _LISTS):
        raise ArgumentError(f"{kernel.name}: args is a {type(args).__name__}; pass a tuple, as in (x, n)")
    extents = None if cluster is None else as_dim3(cluster, "cluster")
    launch = kernel.launch(kernel.shape(grid, block), args, _bytes(shared), _seconds(timeout), place)
    launch.cluster = extents
    return launch


def _bytes(shared: object) -> int:
    if type(shared) is int and shared >= 0:
        return shared
    size = int(shared) if isinstance(shared, np.integer) else -1
    if size < 0:
        raise LaunchError(
            f"dynamic shared memory is {shared!r}; it must be a number of bytes, 0 or more",
            cuda_name="cudaErrorInvalidValue",
            synchronous=True,
            sticky=False,
        )
    return size


def _seconds(timeout: object) -> float:
    if isinstance(timeout, _NUMBERS) and timeout > 0:
        return float(timeout)
    raise ArgumentError(f"timeout is {timeout!r}; it must be a number of seconds above 0, or math.inf")


def reset(device: str = "auto", model: str = "h100") -> None:
    """Reset a device after a sticky error, as cudaDeviceReset does."""
    backend(device, model).reset()


def backend(device: str = "auto", model: str = "h100") -> Backend:
    """The back end that a device name stands for; WARPGLASS_DEVICE replaces "auto"."""
    name = (read("WARPGLASS_DEVICE") or "auto") if device == "auto" else device
    if name == "auto":
        name = "gpu" if _gpu_present() else "cpu"
    if name == "cpu":
        return _engine(model)
    kind, _, ordinal = name.partition(":")
    if kind == "gpu" and (not ordinal or ordinal.isdecimal()):
        return _gpu(int(ordinal) if ordinal else None)
    raise ArgumentError(f"device {name!r}; it may be 'auto', 'cpu', 'gpu' or 'gpu:1', ...{_as_model(name)}")


def _as_model(name: str) -> str:
    """What to say of a GPU's name where a device belongs."""
    try:
        key = devices.get(name).key
    except devices.UnknownDevice:
        return ""
    return f"; to assume the limits of that GPU, give its name as the model, {key!r} (--model {key})"


_engines: dict[str, CpuBackend] = {}


def _engine(model: str) -> CpuBackend:
    engine = _engines.get(model)
    if engine is None:
        from ..engine.cpu.backend import CpuBackend

        engine = _engines[model] = CpuBackend(model)
    return engine


def recover() -> None:
    """Let the engine forget a sticky error, and nothing else."""
    for engine in list(_engines.values()):
        engine.recover()


@cache
def _gpu_present() -> bool:
    if not _driver_present():
        return False
    from ..engine.gpu.detection import available

    return available()


def _driver_present() -> bool:
    """Whether NVIDIA's driver is installed: without it there is no need to import the GPU packages."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


@cache
def _gpu(ordinal: int | None) -> Backend:
    from ..engine.gpu.backend import GpuBackend

    return GpuBackend(ordinal)
