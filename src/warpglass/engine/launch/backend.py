"""The one interface of both back ends: the CPU engine (cpu/) and the GPU (gpu/).

Belongs here: the launch record, the outcome record and the protocol. How arguments are checked and packed
is arguments.py; what a device refuses is limits.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...records.marks import Purposes
from ...source.compiled import Compiled

Dim3 = tuple[int, int, int]
# Lines of an allocation, all of one length: their numbers, and for each a row of bits, one for each byte.
Lines = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def unflatten(linear: int, extents: Dim3) -> Dim3:
    """The block or thread of a linear number."""
    x, y, _ = extents
    return linear % x, linear // x % y, linear // (x * y)


def lane_list(mask: int) -> str:
    """`lanes 0-3, 7` for a mask."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    starts = [lane for lane in lanes if lane - 1 not in lanes]
    ends = [lane for lane in lanes if lane + 1 not in lanes]
    runs = [f"{a}-{b}" if b > a else str(a) for a, b in zip(starts, ends, strict=True)]
    return f"lane{'s' if len(lanes) > 1 else ''} {', '.join(runs)}"


class Resident(Protocol):
    """Where the kernel and the memory of a launch already lie: a module loaded on a virtual device.

    Such a launch names no arguments; the engine asks here for what it would make of them.
    """

    @property
    def registers(self) -> int | None:
        """The registers of a thread in its machine code; None if that is not known."""
        ...

    def prepare(self, compiled: Compiled) -> Any:
        """The kernel, with the module variables of the device (engine/cpu/prepared.py)."""
        ...

    def bind(self, prepared: Any) -> Any:
        """The values of its parameters (engine/launch/arguments.py)."""
        ...

    def lay_out(self) -> Any:
        """The memory that it may reach (engine/cpu/address_space.py)."""
        ...

    @property
    def parameters(self) -> bytes:
        """The block of its parameters."""
        ...

    @property
    def layout(self) -> Hashable:
        """What tells its memory from another launch's, while what it has laid out is kept."""
        ...

    def written(self) -> Mapping[int, np.ndarray[Any, Any]]:
        """By number of allocation, for those with bytes that nobody has written: a bit for each that is.

        The lowest bit of a byte comes first.
        """
        ...

    def add_written(self, touched: Mapping[int, Lines]) -> None:
        """Note which bytes the launch has written of those allocations."""
        ...

    def freed(self, address: int) -> str | None:
        """What was at an address, in words, before the program freed it."""
        ...


# The two records are not frozen: to make frozen ones took a tenth of a small launch's time.
@dataclass(slots=True)
class Launch:
    """One kernel launch: what the <<<grid, block, shared>>> line and the argument list say."""

    compiled: Compiled
    grid: Dim3
    block: Dim3
    args: tuple[object, ...]
    shared: int = 0  # bytes of dynamic shared memory
    timeout: float = 60.0  # seconds
    purposes: Purposes = ()  # of marked arrays, for the checker
    resident: Resident | None = None
    variables: tuple[tuple[str, bytes], ...] = ()  # what to write to module variables first, by PTX name
    cooperative: bool = False  # all blocks at once, as the program says (a kernel may need it anyway)
    cluster: Dim3 | None = None  # extents in blocks; None: as the kernel says, else one block
    place: str = ""  # where in the program it is asked for, if another thread makes it
    begun: int = 0  # blocks that have run
    # It may wait for other launches, made while it runs; says whether the program itself waits for its end.
    alongside: Callable[[], bool] | None = None


@dataclass(slots=True)
class Outcome:
    """What a launch took. `label` says what kind of time it is; the two are never mixed up.

    `seconds` is the kernel alone; `transfer_seconds` is copying NumPy arrays to the device and back.
    `unoptimised` says that the engine was to optimise the kernel, and could not within its limits. `device`
    is the back end's description, if it is at hand.
    """

    seconds: float
    label: str  # "engine" (wall time of the CPU engine) or "gpu" (events on the device)
    transfer_seconds: float = 0.0
    unoptimised: bool = False
    device: str = ""


class Backend(Protocol):
    """A place where kernels run."""

    @property
    def name(self) -> str:
        """ "cpu" or "gpu"."""
        ...

    @property
    def description(self) -> str:
        """The device line of a report."""
        ...

    def run(self, launch: Launch) -> Outcome:
        """Run to completion, results in the argument arrays; raise ArgumentError or LaunchError."""
        ...

    def read_variable(self, compiled: Compiled, symbol: str) -> bytes | None:
        """What a module variable of a kernel holds; None if the back end has no such variable of it."""
        ...

    def to_device(self, array: np.ndarray[Any, Any]) -> Any:
        """An array that launches use without copying: itself on the engine, a device buffer on a GPU."""
        ...

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """The array's contents as a NumPy array."""
        ...

    def copy(self, source: Any, target: Any) -> None:
        """Copy between two arrays of to_device (same size); used to restore inputs between repeats."""
        ...

    def part(self, array: Any, start: int, stop: int | None = None) -> Any:
        """Elements [start, stop) of a one-dimensional array of to_device, sharing its memory."""
        ...

    def flush_caches(self) -> None:
        """Make the next launch start with cold caches, where that means anything."""
        ...

    def reset(self) -> None:
        """Forget a sticky error, as cudaDeviceReset does."""
        ...


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a GPU's multiprocessors, and what holds it back, in words."""

    mhz: int
    held_back_by: tuple[str, ...] = ()


class Stopwatch(Protocol):
    """Measures one kind of work, again and again."""

    def time(self, work: Callable[[], object], times: int = 1) -> float:
        """Seconds of the device for each of `times` submissions in a row, the first with cold caches."""
        ...


class Timer(Protocol):
    """Measures on a device's own clock, work that is submitted and not waited for."""

    unwatched: str  # why the clock cannot be read; empty if it can

    def stopwatch(self) -> Stopwatch:
        """A new one, for one kind of work."""
        ...

    def warm_up(self, work: Sequence[Callable[[], object]], seconds: float) -> None:
        """Keep the device busy with this work for so long."""
        ...

    def clock(self) -> Clock | None:
        """The clock now; None where it cannot be read."""
        ...


@runtime_checkable
class DeviceBackend(Backend, Protocol):
    """A back end with memory and a clock of its own: a GPU."""

    def timer(self) -> Timer:
        """What measures here."""
        ...

    def record(self, work: Callable[[], object]) -> Callable[[], None] | None:
        """Do work that launches and copies; returns what submits the device's part again, without waiting.

        None where that might do something else: the work read results and then launched.
        """
        ...

    def zeros(self, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A new array of to_device with zeros, made on the device."""
        ...

    def clear(self, array: Any) -> None:
        """Fill an array of to_device with zeros."""
        ...

    def clone(self, array: Any) -> Any:
        """A copy of an array of to_device, made on the device."""
        ...

    def flat(self, array: Any) -> Any:
        """One-dimensional array of to_device that shares the memory of any library's contiguous array."""
        ...
