"""The arrays of one case on a back end: made, restored, copied, and their results judged.

Belongs here: what is shared by the trials of a table (run.py, peer.py).
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from ..engine.launch.backend import Backend, DeviceBackend
from .device_verdicts import DeviceVerdicts
from .problem import Array, Case, Expected
from .trial import Toolchain, Verdict
from .verdicts import judge


class DeviceArrays:
    """The arrays of one case on a back end, made on first use and shared by the trials of a table.

    On a GPU what must be restored is kept there as well, and results are judged there, if there is a
    toolchain for the kernel that does it.
    """

    def __init__(self, case: Case, backend: Backend, toolchain: Toolchain | None = None):
        self.case = case
        self.backend = backend
        self.device = backend if isinstance(backend, DeviceBackend) else None
        self._verdicts = DeviceVerdicts(self.device, toolchain) if self.device and toolchain else None
        self._arrays: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}  # as they were, of arrays that kernels overwrite
        self._expected: dict[int, Mapping[str, Expected]] = {}
        self._transfers: dict[tuple[str, ...], float] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self._make(name)
        return self._arrays[name]

    def _make(self, name: str) -> Any:
        host = self.case.arrays[name]
        if self.device is None:
            return self.backend.to_device(host.copy() if name in self.case.written else host)
        if name in self.case.outputs and not host.any():
            return self.device.zeros(host.shape, host.dtype)
        made = self.device.to_device(host)
        if name in self.case.written:
            self._kept[name] = self.device.clone(made)
        return made

    @property
    def inputs_written(self) -> tuple[str, ...]:
        """Inputs that kernels may store to."""
        return tuple(name for name in self.case.written if name not in self.case.outputs)

    def restore(self) -> None:
        """Undo what kernels did to the arrays that they may store to."""
        for name in self.case.written:
            if name in self._arrays:
                self._restore(name)

    def rewind(self) -> None:
        """Undo what kernels did to their inputs."""
        for name in self.inputs_written:
            if name in self._arrays:
                self._restore(name)

    def _restore(self, name: str) -> None:
        if self.device is None:
            self.backend.copy(self.case.arrays[name], self._arrays[name])
        elif name in self._kept:
            self.device.copy(self._kept[name], self._arrays[name])
        else:
            self.device.clear(self._arrays[name])

    def judge(self, found: Mapping[str, Any], depth: int) -> Verdict:
        """Compare results, of the host, the device or a library there, with the truth."""
        expected = self.expected(depth)
        if self._verdicts is not None:
            return self._verdicts.judge(found, expected)
        return judge({name: self._on_host(one) for name, one in found.items()}, expected)

    def _on_host(self, found: Any) -> Array:
        return found if isinstance(found, np.ndarray) else self.backend.to_host(found)

    def transfer(self) -> float | None:
        """Copy the inputs to the device and the results back; None on the engine, which copies nothing."""
        if self.backend.name == "cpu":
            return None
        inputs = tuple(name for name in self._arrays if name not in self.case.outputs)
        if self.device is not None and inputs in self._transfers:  # the same for all rungs, and long
            return self._transfers[inputs]
        start = time.perf_counter()
        for name in inputs:
            self.backend.copy(self.case.arrays[name], self._arrays[name])
        for name in next(iter(self._expected.values()), {}):
            if name in self._arrays:
                self.backend.to_host(self._arrays[name])
        self._transfers[inputs] = time.perf_counter() - start
        return self._transfers[inputs]

    def copied(self, kept: Container[str]) -> tuple[int, int]:
        """Bytes that go to the device and come back, but for results that the host has `kept`."""
        inputs = [name for name in self._arrays if name not in self.case.outputs]
        expected = next(iter(self._expected.values()), {})
        results = [name for name in expected if name in self._arrays and name not in kept]
        there, back = (sum(self.case.arrays[name].nbytes for name in names) for names in (inputs, results))
        return there, back

    def forget(self) -> None:
        """Drop the device arrays, which a reset has destroyed, or which nobody needs any more."""
        self._arrays.clear()
        self._kept.clear()
        if self._verdicts is not None:
            self._verdicts.forget()

    def expected(self, depth: int) -> Mapping[str, Expected]:
        """The true results; computed once for each depth."""
        if depth not in self._expected:
            self._expected[depth] = self.case.expected(depth)
        return self._expected[depth]
