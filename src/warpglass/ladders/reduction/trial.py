"""Running one rung of the reduction ladder: arrays, launches, final sum, verdict.

The kernels leave one partial sum per block. final="host" adds them on the host; final="launch" launches the
same kernel on the partial sums, and again, until one is left: the end of a launch is the only barrier that
all blocks of a grid share. The time is the sum of the launches; the host's sum is not in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...engine.backend import Backend, Launch, Outcome
from ...source.compiled import Compiled
from ..rung import Shape
from ..trial import Card, Final, Language, Number, Timing, Toolchain, Verdict
from .problem import TABLES, Array, Reference, error_bound, final_sum, ideal_bytes, ideal_flops, reference_sum
from .rung import ReductionRung


@dataclass(frozen=True, slots=True)
class Setting:
    """What the trials of one table have in common."""

    table: str
    block: int
    final: Final
    timeout: float


class Input:
    """The array of one table, made on first use and shared by its trials.

    `pristine` and `work` are on the device: kernels that reduce in place destroy `work`, restoring copies.
    """

    def __init__(self, host: Array, backend: Backend):
        self.host = host
        self.backend = backend

    @cached_property
    def reference(self) -> Reference:
        """The true sum."""
        return reference_sum(self.host)

    @cached_property
    def pristine(self) -> Any:
        """The input on the device."""
        return self.backend.to_device(self.host)

    @cached_property
    def work(self) -> Any:
        """The copy that kernels get."""
        return self.backend.to_device(self.host.copy())

    def restore(self) -> None:
        """Undo what a kernel did to `work`."""
        self.backend.copy(self.pristine, self.work)

    def forget_device(self) -> None:
        """Drop the device arrays, which a reset has destroyed."""
        self.__dict__.pop("pristine", None)
        self.__dict__.pop("work", None)


class KernelTrial:
    """One rung in one language on the back end."""

    def __init__(
        self, rung: ReductionRung, language: Language, data: Input, setting: Setting, toolchain: Toolchain
    ):
        self._rung = rung
        self._language: Language = language
        self._data = data
        self._setting = setting
        self._toolchain = toolchain
        self._partials: list[Any] | None = None
        self.card = _card(rung, language, data.host, setting)

    def restore(self) -> None:
        """Put the input back; kernels that work in shared memory leave it alone."""
        if self._rung.table == "global":
            self._data.restore()

    def run(self) -> Timing:
        """Launch the kernel, and launch it again on the partial sums if they are not for the host."""
        buffers = self._buffers()
        source = self._data.work
        outcomes: list[Outcome] = []
        for shape, count, partial in zip(self._shapes, self._counts, buffers, strict=True):
            args = (source, partial, np.uint32(count))
            grid, block = shape.grid3, shape.block3
            launch = Launch(self.compiled, grid, block, args, shape.shared, self._setting.timeout)
            outcomes.append(self._data.backend.run(launch))
            source = partial
        return Timing(sum(outcome.seconds for outcome in outcomes), outcomes[0].label)

    def judge(self) -> Verdict:
        """Add the partial sums that are left (one after a second launch) and compare."""
        left = self._data.backend.to_host(self._buffers()[-1])
        additions = self._rung.additions(self._setting.block) * len(self._shapes)
        return _verdict(final_sum(left), self._data, additions)

    def recover(self) -> None:
        """Reset the device and forget what was on it."""
        self._data.backend.reset()
        self._data.forget_device()
        self._partials = None

    @cached_property
    def compiled(self) -> Compiled:
        """The kernel's PTX; a Python kernel takes its types from the host arrays."""
        if self._language == "cuda":
            source = self._toolchain.open_cuda(self._rung.cuda_file, self.card.kernel)
        else:
            source = self._toolchain.open_python(self._rung.python_kernel(self._setting.block))
        host = self._data.host
        return source.compile((host, np.empty(1, host.dtype), np.uint32(host.size)))

    @cached_property
    def _shapes(self) -> tuple[Shape, ...]:
        return tuple(self._launches())

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return (self._data.host.size, *(shape.grid3[0] for shape in self._shapes[:-1]))

    def _launches(self) -> Iterator[Shape]:
        host = self._data.host
        shape = self._rung.shape(host.size, self._setting.block, host.dtype.itemsize)
        yield shape
        while self._setting.final == "launch" and shape.grid3[0] > 1:
            shape = self._rung.shape(shape.grid3[0], self._setting.block, host.dtype.itemsize)
            yield shape

    def _buffers(self) -> list[Any]:
        if self._partials is None:
            dtype = self._data.host.dtype
            fresh = (np.zeros(shape.grid, dtype) for shape in self._shapes)
            self._partials = [self._data.backend.to_device(array) for array in fresh]
        return self._partials


class HostTrial:
    """The baseline: no kernel, NumPy on the host, timed by the wall clock."""

    def __init__(self, rung: ReductionRung, data: Input, setting: Setting):
        self._data = data
        self._rung = rung
        self._work: Array = np.empty(0)
        self._result: Number = 0
        self.card = _card(rung, "python", data.host, setting)

    def restore(self) -> None:
        """Copy the input, which the baseline overwrites."""
        self._work = self._data.host.copy()

    def run(self) -> Timing:
        """Compute once; integers wrap silently, as a kernel's do."""
        compute = self._rung.host
        assert compute is not None
        start = time.perf_counter()
        with np.errstate(over="ignore"):
            self._result = compute(self._work)
        return Timing(time.perf_counter() - start, "host")

    def judge(self) -> Verdict:
        """Compare; an element passes through one addition per halving."""
        self._work = np.empty(0)
        return _verdict(self._result, self._data, max(1, self._data.host.size - 1).bit_length())

    def recover(self) -> None:
        """Nothing to do: the host holds no state."""


def _card(rung: ReductionRung, language: Language, host: Array, setting: Setting) -> Card:
    shape = None
    kernel = rung.file.stem
    if rung.host is None:
        shape = rung.shape(host.size, setting.block, host.dtype.itemsize)
        names = {"cuda": rung.cuda_name(host.dtype, setting.block), "python": rung.python_name(setting.block)}
        kernel = names[language]
    return Card(
        rung=rung.name,
        table=rung.table,
        title=TABLES[rung.table].title,
        language=language,
        kernel=kernel,
        size=host.size,
        dtype=host.dtype.name,
        shape=shape,
        ideal_bytes=ideal_bytes(host.size, host.dtype),
        ideal_flops=ideal_flops(host.size),
        final=setting.final,
        as_written=bool(rung.defect),
    )


def _verdict(result: Number, data: Input, additions: int) -> Verdict:
    expected = data.reference.value
    bound = error_bound(data.reference, additions, data.host.dtype)
    return Verdict(result=result, expected=expected, error=abs(result - expected), bound=bound)
