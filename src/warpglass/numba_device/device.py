"""The virtual device: its contexts, streams, events, modules and memory, and the error that broke it.

Belongs here: the state that the functions of the API (…_calls.py) work on. There is one device, a GPU of
devices/, whose work the CPU engine does. Work is done when it is asked for, but for kernels that leave cores
free, or wait for what the host does next (behind.py).
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from .. import lab
from ..devices import Device
from ..engine.cpu.backend import CpuBackend
from ..engine.cpu.replay import Replay
from ..engine.launch.backend import Launch, Outcome
from ..errors import LaunchError
from .behind import Behind
from .memory import DeviceMemory
from .results import Refusal, Result
from .shortcuts import Shortcuts

# The errors of the runtime, by the driver's names of the same.
_RESULTS = {
    "cudaErrorIllegalAddress": Result.ILLEGAL_ADDRESS,
    "cudaErrorMisalignedAddress": Result.MISALIGNED_ADDRESS,
    "cudaErrorLaunchFailure": Result.LAUNCH_FAILED,
    "cudaErrorLaunchTimeout": Result.LAUNCH_TIMEOUT,
    "cudaErrorAssert": Result.ASSERT,
    "cudaErrorMemoryAllocation": Result.OUT_OF_MEMORY,
    "cudaErrorLaunchOutOfResources": Result.LAUNCH_OUT_OF_RESOURCES,
    "cudaErrorCooperativeLaunchTooLarge": Result.COOPERATIVE_LAUNCH_TOO_LARGE,
    "cudaErrorInvalidConfiguration": Result.INVALID_VALUE,
    "cudaErrorInvalidClusterSize": Result.INVALID_CLUSTER_SIZE,
    "cudaErrorNotSupported": Result.NOT_SUPPORTED,
    "cudaErrorInvalidPtx": Result.INVALID_PTX,
    "cudaErrorInvalidValue": Result.INVALID_VALUE,
}
# Failures whose reason a program cannot ask for.
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_TOLD = (Result.INVALID_PTX, Result.INVALID_IMAGE, Result.NO_BINARY_FOR_GPU, Result.NOT_SUPPORTED)
_FIRST_HANDLE, _HANDLE_STEP = 0x10000, 0x10
T = TypeVar("T")

Runner = Callable[[Launch], Outcome]


class Context:
    """A CUDA context; all of them share the device's memory."""

    def __init__(self) -> None:
        self.flags = 0
        self.limits: dict[int, int] = {}


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of a launch in words; `told` says whether a later call has failed with it."""

    text: str
    told: bool


class VirtualDevice:
    """One GPU that is not there. `run` makes the launches: the engine, or who watches it."""

    def __init__(self, model: Device):
        self.model = model
        self.backend = CpuBackend(model.key)
        self.run: Runner = partial(lab.carry_out, self.backend)
        self.memory = DeviceMemory(int(model.memory_gb * 1e9), lab.watched)
        self.shortcuts = Shortcuts()
        self.behind = Behind(self.shortcuts, lambda: self._sticky is not None)
        lab.when_watched(self.shortcuts.change)
        lab.when_watched(self.memory.forget_undefined)  # launches of machine code are made unseen
        self.initialized = False
        self._process, self._forked = os.getpid(), False
        self.primary: int | None = None  # the handle of the primary context
        self.primary_users = 0
        self.primary_flags = 0
        self.notes: dict[int, str] = {}  # what was said last about a status
        self._told: set[str] = set()
        self.next_module = 0
        self._sticky: Result | None = None
        self._fault: Fault | None = None
        self._numbers = itertools.count(_FIRST_HANDLE, _HANDLE_STEP)
        self._objects: dict[int, Any] = {}
        self._stacks: dict[int, list[int]] = {}  # of contexts, by thread

    def after_fork(self) -> None:
        """As with CUDA, a forked process cannot go on with what its parent has begun."""
        self._process, self._forked = os.getpid(), self.initialized
        self.shortcuts.after_fork()

    @property
    def forked(self) -> bool:
        """Whether the process was forked off one that had begun to use the device; C does it untold."""
        if os.getpid() != self._process:
            self.after_fork()
        return self._forked

    # ------------------------------------------------------------------------------------ handles
    def add(self, thing: object) -> int:
        """A new handle for an object."""
        handle = next(self._numbers)
        self._objects[handle] = thing
        return handle

    def add_at(self, handle: int, thing: object) -> None:
        """Give an object a handle of its own."""
        self._objects[handle] = thing

    def get(self, handle: int, kind: type[T]) -> T:
        """The object of a handle; raises Refusal unless it is of this kind."""
        found = self._objects.get(handle)
        if not isinstance(found, kind):
            raise Refusal(Result.INVALID_HANDLE, f"{handle:#x} is no {kind.__name__.lower()}")
        return found

    def has(self, handle: int, kind: type) -> bool:
        """Whether a handle is one of an object of this kind."""
        return isinstance(self._objects.get(handle), kind)

    def remove(self, handle: int, kind: type[T]) -> T:
        """Take an object out; raises Refusal unless it is of this kind."""
        found = self.get(handle, kind)
        del self._objects[handle]
        return found

    def all_of(self, kind: type[T]) -> Iterator[T]:
        """All objects of a kind."""
        return (one for one in list(self._objects.values()) if isinstance(one, kind))

    def handles_of(self, kind: type) -> Iterator[int]:
        """The handles of all objects of a kind."""
        return (handle for handle, one in list(self._objects.items()) if isinstance(one, kind))

    # ------------------------------------------------------------------------------------ contexts
    @property
    def stack(self) -> list[int]:
        """The contexts of the calling thread, the current one last."""
        return self._stacks.setdefault(threading.get_ident(), [])

    def primary_context(self) -> int:
        """The handle of the primary context, which is made if there is none, and is in use from now on."""
        if self.primary is None:
            self.primary = self.add(Context())
        self.primary_users = max(1, self.primary_users)
        return self.primary

    @property
    def sticky(self) -> Result | None:
        """The error that broke the device."""
        return self._sticky

    def check_visible(self) -> None:
        """Raise Refusal if CUDA_VISIBLE_DEVICES is empty or begins with a negative number: it hides all GPUs.

        Other values may be meant for the GPUs of this machine, and leave the virtual one.
        """
        first = os.environ.get(_VISIBLE, "0").split(",")[0].strip()
        if not first or first.startswith("-"):
            raise Refusal(Result.NO_DEVICE, f"{_VISIBLE} is {first!r}: it hides the virtual GPU, too")

    def check(self) -> None:
        """Raise Refusal if no context is current, or the device is broken."""
        stack = self._stacks.get(threading.get_ident())
        if not stack or stack[-1] not in self._objects:
            if not self.initialized:
                raise Refusal(Result.NOT_INITIALIZED)
            raise Refusal(Result.INVALID_CONTEXT)
        self.check_health()

    def check_health(self) -> None:
        """Raise Refusal if the device is broken."""
        if self._sticky is not None:
            self._fault = self._fault and replace(self._fault, told=True)
            raise Refusal(self._sticky)

    def reset(self) -> None:
        """Forget all that the primary context owns, and the error that broke it."""
        self.memory.clear()
        self.backend.reset()
        self._sticky = self._fault = None
        self._objects = {handle: one for handle, one in self._objects.items() if isinstance(one, Context)}

    def recover(self) -> Fault | None:
        """Forget the error that broke the device and nothing else, as no GPU can; returns what it was."""
        fault, self._sticky, self._fault = self._fault, None, None
        self.backend.recover()
        return fault

    # ------------------------------------------------------------------------------------ work
    def launch(self, launch: Launch) -> float:
        """Make a launch; returns seconds. What goes wrong meanwhile shows at the next call, as on a GPU."""
        with self._refusing(), self.shortcuts.aside(), self.memory.launching():
            return self.run(launch).seconds
        return 0.0

    def make_ready(self, launch: Launch) -> None:
        """Find out now what a launch that is made later would be refused for. Raises Refusal."""
        with self._refusing():
            self.backend.make_ready(launch)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raise Refusal for what is refused before it begins; other errors break the device."""
        try:
            yield
        except LaunchError as error:
            if error.synchronous:
                raise Refusal(_RESULTS.get(error.cuda_name, Result.UNKNOWN), str(error)) from None
            self.failed(error)

    def replay(self, launch: Launch) -> Replay | None:
        """A launch that can be replayed; None if it is long, or somebody watches launches."""
        return None if lab.watched() else self.backend.replay(launch, self.shortcuts.hears_interrupts)

    def failed(self, error: LaunchError) -> None:
        """Note that a kernel has failed."""
        result = _RESULTS.get(error.cuda_name, Result.UNKNOWN)
        if error.sticky:
            self._sticky, self._fault = result, Fault(str(error), told=False)
            self.shortcuts.set_wrong(True)
            self.shortcuts.change()
        self.say(result, str(error))

    def note(self, refusal: Refusal) -> None:
        """Remember what there is to say about a call that failed."""
        if refusal.text:
            self.notes[refusal.result] = refusal.text
        if refusal.result in _TOLD and str(refusal) not in self._told:
            self._told.add(str(refusal))  # a program may go on and try it again and again
            self.say(refusal.result, str(refusal))

    def say(self, result: int, text: str) -> None:
        """Tell the user what no status code can."""
        self.notes[result] = text
        sys.stdout.flush()
        sys.stderr.write(f"warpglass: {text}\n")
