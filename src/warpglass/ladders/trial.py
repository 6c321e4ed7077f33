"""What a bench asks of a ladder: a list of trials, each one kernel that can be restored, launched and judged.

Belongs here: the options of a bench, the way to a compiled kernel, and the protocols. run.py implements them;
measure.py times the trials without knowing which ladder they come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ..engine.launch.backend import DeviceBackend
from ..source.compiled import Source
from .rung import KernelFunction, Language, LaunchShape

Final = Literal["host", "launch"]
Number = float | int


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may choose; None means the ladder's own choice, which may differ between its tables."""

    size: int | None = None
    dtype: str | None = None
    block: int | None = None
    small: bool = False  # the tables' small sizes, where no size is named
    gpu_sizes: bool = False  # the tables' sizes for a GPU, wherever it runs
    languages: tuple[Language, ...] = ("cuda", "python")
    rungs: tuple[str, ...] = ()  # empty: all
    final: Final = "host"  # where the partial results are combined
    as_written: bool = False  # add the variants with the defects of the course notes
    data: str | None = None
    seed: int = 0
    timeout: float = 60.0
    peers: bool = True  # add what libraries take
    added: tuple[tuple[Path, str], ...] = ()  # the user's kernels: file and name


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How a rung's kernels become sources; the front ends are behind it.

    `open_own` is for the bench's own kernels, to which the user's options for the compiler do not apply.
    """

    open_cuda: Callable[..., Source]  # file, name expression, target= where a kernel needs one
    open_python: Callable[[KernelFunction], Source]
    open_own: Callable[[Path, str], Source] | None = None  # None: as open_cuda


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch that a run has made."""

    kernel: str
    shape: LaunchShape
    unoptimised: bool = False  # by the engine, whose optimiser has come to its limits


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one run of a trial; `label` says whose: "engine", "gpu" or "host"."""

    seconds: float
    label: str
    launched: tuple[Launched, ...] = ()
    host_seconds: float = 0.0  # of them, what the host computed


@dataclass(frozen=True, slots=True)
class Verdict:
    """A result against the reference: right when error <= bound.

    Of a result of many elements it is the element that is furthest beyond its bound; `wrong` of them are.
    """

    result: Number
    expected: Number
    error: float
    bound: float
    array: str = ""
    index: tuple[int, ...] | None = None
    wrong: int = 0

    @property
    def verified(self) -> bool:
        """Whether rounding explains the difference (a NaN never passes)."""
        return self.error <= self.bound

    @property
    def excess(self) -> float:
        """The error in units of its bound: at most 1 when right, infinite where none is allowed."""
        if not self.verified:
            return math.inf
        return self.error / self.bound if self.bound else 0.0


@dataclass(frozen=True, slots=True)
class Card:
    """Everything about a trial that is known before it runs."""

    rung: str
    table: str
    title: str  # of the table
    language: str  # Language, or a library
    kernel: str
    size: int
    dtype: str
    shape: LaunchShape | None  # of the first launch; None: no launch, the host computes
    ideal_bytes: int
    ideal_flops: int
    final: Final | Literal[""]  # "": there are no partial results
    as_written: bool
    size_text: str = ""
    peer: bool = False  # a library's function, no rung


class Trial(Protocol):
    """One rung in one language on one array."""

    @property
    def card(self) -> Card: ...

    def restore(self) -> None:
        """Put the input back as it was before the first run."""
        ...

    def run(self) -> Timing:
        """Compute once."""
        ...

    def start(self, device: DeviceBackend) -> tuple[Timing, Callable[[], object] | None]:
        """Compute once, as run does; also what submits the device's part again, without waiting for it.

        None where nothing can be submitted again: the host computes, or decides on the way.
        """
        ...

    @property
    def destroys(self) -> bool:
        """Whether a run overwrites its own input, so that the next one needs `rewind`."""
        ...

    def rewind(self) -> None:
        """Put back the input, but nothing that holds only results."""
        ...

    def release(self) -> None:
        """Give back the device's memory: the trial is over."""
        ...

    def judge(self) -> Verdict:
        """Compare the last run's result with the reference."""
        ...

    def transfer(self) -> float | None:
        """Copy the inputs to the device and the results back; the seconds, None where nothing travels."""
        ...

    def copied(self) -> tuple[int, int] | None:
        """Bytes of the inputs that go to the device and of the results; None where nothing travels."""
        ...

    def recover(self) -> None:
        """Make the back end usable again after a failed run."""
        ...
