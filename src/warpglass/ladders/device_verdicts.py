"""Results against the truth on the device where they lie: of billions of elements one verdict comes back.

Belongs here: what is uploaded, the launch of on_device/compare.cu, and the sample that NumPy judges as well.
The truth is uploaded once. Element types that the kernel does not take are judged by NumPy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.launch.backend import DeviceBackend, Launch
from .problem import C_NAMES, Array, Expected
from .trial import Toolchain, Verdict
from .verdicts import judge_array

KERNEL = Path(__file__).parent / "on_device" / "compare.cu"
_BLOCKS, _THREADS = 1056, 256  # blocks: eight for each multiprocessor of an H200; threads: as in the kernel
_LARGE = 1 << 16  # elements on the host that are worth an upload
_SAMPLE = 1000  # elements of the beginning, the middle and the end that NumPy judges too


class DeviceVerdicts:
    """Judges the results of one case; keeps its truth on the device."""

    def __init__(self, backend: DeviceBackend, toolchain: Toolchain):
        self._backend = backend
        self._open = toolchain.open_own or toolchain.open_cuda
        self._uploaded: dict[int, tuple[object, Any]] = {}  # by identity, with what has it
        self._kernels: dict[str, Any] = {}

    def forget(self) -> None:
        """Give the device's memory back."""
        self._uploaded.clear()

    def judge(self, found: Mapping[str, Any], expected: Mapping[str, Expected]) -> Verdict:
        """The verdict of the element that is furthest beyond its bound; results are of any library."""
        verdicts = [self._judge(name, found[name], truth) for name, truth in expected.items()]
        return max(verdicts, key=lambda verdict: verdict.excess)

    def _judge(self, name: str, found: Any, truth: Expected) -> Verdict:
        value = np.asarray(truth.value)
        here = isinstance(found, np.ndarray)
        if value.size and (not here or found.size > _LARGE):
            flat = self._backend.flat(self._backend.to_device(found) if here else found)
            if flat.shape != (value.size,):
                raise AssertionError(f"{name} has {flat.shape[0]} elements, the truth {value.size}")
            if flat.dtype.name in _TAKEN and value.dtype.name in _TAKEN and flat.dtype.kind in _likes(value):
                return self._compare(name, flat, value, truth)
        whole = found if here else self._backend.to_host(found)
        return judge_array(name, whole.reshape(value.shape), truth)

    def _compare(self, name: str, found: Any, value: Array, truth: Expected) -> Verdict:
        """Judge all on the device, the worst element and a sample by NumPy."""
        bound = np.asarray(truth.bound, np.float64)
        places, wrong = self._worst(found, value, bound, truth.relative)
        at = min(places, key=lambda place: -places[place])
        verdicts = [self._part(name, found, value, truth, start) for start in (at, *_samples(value.size))]
        worst = max(verdicts, key=lambda verdict: verdict.excess)
        return replace(worst, wrong=max(wrong, worst.wrong))

    def _worst(
        self, found: Any, value: Array, bound: Array, relative: float
    ) -> tuple[Mapping[int, float], int]:
        """Every block's worst element, its place with its excess, and how many are wrong in all."""
        backend = self._backend
        blocks = min(_BLOCKS, -(-value.size // _THREADS))
        excesses = backend.zeros(blocks, np.dtype(np.float64))
        at, wrong = (backend.zeros(blocks, np.dtype(np.uint64)) for _ in range(2))
        values = (
            *(found, self._device(value), self._device(bound)),
            *(np.uint64(bound.ndim > 0), np.float64(relative), np.uint64(value.size), excesses, at, wrong),
        )
        kernel = kernel_name(found.dtype.name, value.dtype.name)
        if kernel not in self._kernels:
            self._kernels[kernel] = self._open(KERNEL, kernel).compile(values)
        backend.run(Launch(self._kernels[kernel], (blocks, 1, 1), (_THREADS, 1, 1), values))
        pairs = sorted(zip(backend.to_host(at).tolist(), backend.to_host(excesses).tolist(), strict=True))
        places = {place: excess for place, excess in pairs if place < value.size}
        return places or {0: 0.0}, int(backend.to_host(wrong).sum())

    def _part(self, name: str, found: Any, value: Array, truth: Expected, start: int) -> Verdict:
        """NumPy's verdict of a few elements, the first of which may be the worst of all."""
        stop = min(value.size, start + _SAMPLE)
        bound = np.asarray(truth.bound, np.float64)
        part = replace(
            truth,
            value=value.reshape(-1)[start:stop],
            bound=bound.reshape(-1)[start:stop] if bound.ndim else bound,
        )
        verdict = judge_array(name, self._backend.to_host(self._backend.part(found, start, stop)), part)
        (index,) = verdict.index or (0,)
        place = np.unravel_index(start + index, value.shape)
        return replace(verdict, index=tuple(int(i) for i in place) if value.ndim else None)

    def _device(self, array: Array) -> Any:
        """The array on the device; a large one is uploaded when it is first asked for."""
        if array.ndim == 0:
            return self._backend.to_device(array.reshape(1))
        if id(array) not in self._uploaded:
            self._uploaded[id(array)] = array, self._backend.to_device(array.reshape(-1))
        return self._uploaded[id(array)][1]


_TAKEN = frozenset(C_NAMES) - {"float16"}


def kernel_name(found: str, truth: str) -> str:
    """The kernel that compares results of one element type with a truth of another."""
    return f"compare<{C_NAMES[found]}, {C_NAMES[truth]}>"


def usual_kernels() -> tuple[str, ...]:
    """Those that ladders need: results of the truth's own type, and float32 with a truth in float64."""
    return (*(kernel_name(name, name) for name in sorted(_TAKEN)), kernel_name("float32", "float64"))


def _likes(value: Array) -> str:
    """The kinds of results that this truth can be compared with: floats, or integers."""
    return "f" if value.dtype.kind == "f" else "iu"


def _samples(n: int) -> tuple[int, ...]:
    """Where the samples begin."""
    return tuple(sorted({0, max(0, n // 2 - _SAMPLE // 2), max(0, n - _SAMPLE)}))
