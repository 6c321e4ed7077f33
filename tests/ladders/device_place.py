"""A device for tests: the engine behind the interface of a GPU, with its own memory and a made-up clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Clock, Launch, Outcome


class EngineTimer:
    """Measures by the wall clock, or as told; `clocks` are read one after the other."""

    unwatched = ""

    def __init__(self, seconds: Callable[[], float] | None = None, clocks: Iterator[Clock] | None = None):
        self.seconds = seconds
        self.clocks = clocks
        self.rows: list[int] = []
        self.warmed = 0.0

    def stopwatch(self) -> EngineTimer:
        return self

    def time(self, work: Callable[[], object], times: int = 1) -> float:
        began = time.perf_counter()
        for _ in range(times):
            work()
        self.rows.append(times)
        return self.seconds() if self.seconds else (time.perf_counter() - began) / times

    def warm_up(self, work: Sequence[Callable[[], object]], seconds: float) -> None:
        self.warmed += seconds

    def clock(self) -> Clock | None:
        return next(self.clocks) if self.clocks else Clock(1980)


class EngineDevice(CpuBackend):
    """The engine as a device: launches are recorded, and arrays are copies."""

    name = "gpu"  # pyright: ignore[reportAssignmentType]
    capability = (9, 0)

    def __init__(self, timer: EngineTimer | None = None):
        super().__init__("h100")
        self._timer = timer or EngineTimer()
        self._steps: list[Launch] | None = None

    def timer(self) -> EngineTimer:
        return self._timer

    def run(self, launch: Launch) -> Outcome:
        if self._steps is not None:
            self._steps.append(launch)
        return Outcome(super().run(launch).seconds, "gpu")

    def record(self, work: Callable[[], object]) -> Callable[[], None]:
        steps = self._steps = []
        work()
        self._steps = None

        def submit() -> None:
            for step in steps:
                self.run(step)

        return submit

    def to_device(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return array.copy()

    def zeros(self, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return np.zeros(shape, dtype)

    def clear(self, array: Any) -> None:
        array[...] = 0

    def clone(self, array: Any) -> Any:
        return array.copy()

    def flat(self, array: Any) -> Any:
        return array.reshape(math.prod(array.shape))
