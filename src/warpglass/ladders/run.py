"""Running one rung: its host program on a back end, its verdict.

Belongs here: `HostRun`, what a rung's host program sees (the part of a .cu file that stands around the
<<<grid, block>>>), and the trials that the bench times. A host program launches kernels by name:

    def program(run: Run) -> None:
        run.launch("add_rows", run.shape, "sums", "rgb", "width", "height")

Strings among the arguments name arrays and scalars of the case. The time of a run is the sum of its launches
and of what it computes on the host; transfers are kept apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.launch.backend import DeviceBackend, Launch
from ..source.compiled import Compiled
from .device_arrays import DeviceArrays
from .plan import Argument, Part, Step
from .problem import C_NAMES, Array, Case
from .rung import LaunchShape, Rung
from .trial import Card, Final, Language, Launched, Timing, Toolchain, Verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """What the trials of one table have in common."""

    table: str
    title: str
    block: int
    final: Final
    timeout: float
    reduces: bool = False
    size_text: str = ""


class HostRun:
    """One execution of a host program, as the program sees it."""

    def __init__(self, trial: KernelTrial, rung: Rung, arrays: DeviceArrays, setting: Setting):
        self.case = arrays.case
        self.block = setting.block
        self.rung = rung
        self.final = setting.final
        self.seconds = self.host_seconds = 0.0
        self.read = 0  # bytes that the program copied from the device
        self.launched: list[Launched] = []
        self.kept: dict[str, Array] = {}
        self._trial = trial
        self._arrays = arrays
        self._timeout = setting.timeout
        self.label = "host"
        self.depth: int | None = None  # for programs whose launches decide it; else Rung.depth

    @property
    def shape(self) -> LaunchShape:
        """The rung's (first) launch for this case and block."""
        assert self.rung.shape is not None
        return self.rung.shape(self.case, self.block)

    @property
    def kernel(self) -> str:
        """The name of the rung's (first) kernel."""
        return self.rung.kernels[0].name

    def __getitem__(self, name: str) -> Any:
        """A scalar of the case by its name, or one of its arrays, on the device."""
        scalars = self.case.scalars
        return scalars[name] if name in scalars else self._arrays[name]

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """A device array for intermediate results: zeros when it is first asked for, then as it was left."""
        return self._trial.scratch(name, shape, np.dtype(dtype))

    def part(self, array: Any, start: int, stop: int | None = None) -> Any:
        """Elements [start, stop) of a one-dimensional device array, sharing its memory."""
        return self._arrays.backend.part(array, start, stop)

    def launch(self, kernel: str, shape: LaunchShape, *args: Any) -> None:
        """Launch a kernel of the rung; strings among the arguments name arrays and scalars of the case."""
        values = tuple(self[arg] if isinstance(arg, str) else arg for arg in args)
        self._run(self._trial.compiled(kernel, values), self._trial.kernel_name(kernel), shape, values)

    def _run(self, compiled: Compiled, name: str, shape: LaunchShape, values: tuple[Any, ...]) -> None:
        launch = Launch(compiled, shape.grid3, shape.block3, values, shape.shared, self._timeout)
        outcome = self._arrays.backend.run(launch)
        self.seconds += outcome.seconds
        self.label = outcome.label
        self.launched.append(Launched(name, shape, outcome.unoptimised))

    def follow_plan(self) -> None:
        """Make the launches of the rung's plan for this case and block."""
        assert self.rung.plan is not None
        plan = self.rung.plan(self.case, self.block)
        scratch = {one.name: self.scratch(one.name, one.size, one.dtype) for one in plan.scratch}
        for step in plan.steps:
            values = tuple(self._value(arg, scratch) for arg in step.arguments)
            self._run(self._trial.compiled_step(step, values), step.kernel, step.shape, values)

    def _value(self, argument: Argument, scratch: Mapping[str, Any]) -> Any:
        match argument:
            case str(name):
                return scratch[name] if name in scratch else self[name]
            case Part(name, start):
                return self.part(self._value(name, scratch), start)
        return argument

    def to_host(self, array: Any) -> Array:
        """The contents of a device array (not timed: transfers are measured apart)."""
        found = self._arrays.backend.to_host(array)
        self.read += found.nbytes
        return found

    def copy(self, source: Any, target: Any) -> None:
        """Copy between host and device arrays of the same size (not timed)."""
        self._arrays.backend.copy(source, target)

    def on_host(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function on the host, and count its time as part of the run."""
        start = time.perf_counter()
        result = function(*args)
        taken = time.perf_counter() - start
        self.seconds += taken
        self.host_seconds += taken
        return result

    def keep(self, name: str, value: Any) -> None:
        """State a result that the host has, by the name that the case expects."""
        self.kept[name] = np.asarray(value)


class KernelTrial:
    """One rung in one language on the back end."""

    def __init__(
        self, rung: Rung, language: Language, arrays: DeviceArrays, setting: Setting, toolchain: Toolchain
    ):
        self._rung = rung
        self._language: Language = language
        self._arrays = arrays
        self._setting = setting
        self._toolchain = toolchain
        self._scratch: dict[str, Any] = {}
        self._compiled: dict[str, Compiled] = {}
        self._kept: dict[str, Array] = {}
        self._depth: int | None = None
        self._read = 0
        self.card = make_card(
            setting,
            arrays.case,
            rung=rung.name,
            language=language,
            kernel=self._first_kernel(),
            shape=rung.shape(arrays.case, setting.block) if rung.shape else None,
            as_written=bool(rung.defect),
        )

    def restore(self) -> None:
        """Put the arrays back as they were before the first run."""
        self._arrays.restore()

    def run(self) -> Timing:
        """Execute the host program once."""
        run = HostRun(self, self._rung, self._arrays, self._setting)
        assert self._rung.program is not None
        self._rung.program(run)
        self._kept, self._depth, self._read = run.kept, run.depth, run.read
        return Timing(run.seconds, run.label, tuple(run.launched), run.host_seconds)

    def start(self, device: DeviceBackend) -> tuple[Timing, Callable[[], object] | None]:
        """Execute the host program once, and keep what it launches."""
        timings: list[Timing] = []
        again = device.record(lambda: timings.append(self.run()))
        return timings[0], again

    @property
    def destroys(self) -> bool:
        """Whether kernels store to their inputs."""
        return bool(self._arrays.inputs_written)

    def rewind(self) -> None:
        """Put the inputs back."""
        self._arrays.rewind()

    def release(self) -> None:
        """Drop the arrays of all trials of the table."""
        self._arrays.forget()
        self._scratch.clear()

    def judge(self) -> Verdict:
        """Compare every result with the truth."""
        depth = self._depth
        if depth is None:
            depth = self._rung.depth(self._arrays.case, self._setting.block) if self._rung.depth else 0
        expected = self._arrays.expected(depth)
        found = {name: self._kept[name] if name in self._kept else self._arrays[name] for name in expected}
        return self._arrays.judge(found, depth)

    def transfer(self) -> float | None:
        """Copy what a program without a device's memory would have to copy, there and back."""
        return self._arrays.transfer()

    def copied(self) -> tuple[int, int] | None:
        """Bytes of these copies, and of what the last run read."""
        there, back = self._arrays.copied(self._kept)
        return there, back + self._read

    def recover(self) -> None:
        """Reset the device and forget what was on it."""
        self._arrays.backend.reset()
        self._arrays.forget()
        self._scratch.clear()

    # ------------------------------------------------------------------------- what a HostRun asks for
    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """The scratch array of that name."""
        if name not in self._scratch:
            device = self._arrays.device
            zeros = (
                device.zeros(shape, dtype)
                if device
                else self._arrays.backend.to_device(np.zeros(shape, dtype))
            )
            self._scratch[name] = zeros
        return self._scratch[name]

    def compiled(self, name: str, values: tuple[Any, ...]) -> Compiled:
        """The PTX of a kernel; a Python kernel takes its types from the first launch's arguments."""
        if name not in self._compiled:
            kernel = self._rung.kernel_of(name)
            if self._language == "cuda" or kernel.in_python_file:
                source = self._toolchain.open_cuda(kernel.file, self.kernel_name(name))
            else:
                source = self._toolchain.open_python(kernel.function(self._arrays.case, self._setting.block))
            self._compiled[name] = source.compile(values)
        return self._compiled[name]

    def compiled_step(self, step: Step, values: tuple[Any, ...]) -> Compiled:
        """The PTX of the kernel of a plan's step."""
        key = f"{step.file}:{step.kernel}"
        if key not in self._compiled:
            needed = {"target": step.target} if step.target else {}
            self._compiled[key] = self._toolchain.open_cuda(step.file, step.kernel, **needed).compile(values)
        return self._compiled[key]

    def kernel_name(self, name: str) -> str:
        """What a kernel of the rung is called in this trial's language."""
        kernel = self._rung.kernel_of(name)
        if self._language == "cuda" or kernel.in_python_file:
            dtype = self._arrays.case.dtype.name
            return kernel.cuda.format(type=C_NAMES[dtype], block=self._setting.block)
        held = kernel.constants.format(block=self._setting.block) if kernel.specialise is not None else ""
        return f"{name}({held})" if held else name

    def _first_kernel(self) -> str:
        if self._rung.plan is not None:
            return self._rung.plan(self._arrays.case, self._setting.block).steps[0].kernel
        return self.kernel_name(self._rung.kernels[0].name)


class HostTrial:
    """A rung without kernels: NumPy on the host, timed by the wall clock."""

    def __init__(self, rung: Rung, arrays: DeviceArrays, setting: Setting):
        self._rung = rung
        self._arrays = arrays
        self._work: dict[str, Array] = {}
        self._results: Mapping[str, Any] = {}
        self.card = make_card(
            setting,
            arrays.case,
            rung=rung.name,
            language="python",
            kernel=rung.name,
            as_written=bool(rung.defect),
        )

    def restore(self) -> None:
        """Copy what the rung may overwrite."""
        case = self._arrays.case
        self._work = {
            name: array.copy() if name in case.written else array for name, array in case.arrays.items()
        }

    def run(self) -> Timing:
        """Compute once; integers wrap silently, as a kernel's do."""
        assert self._rung.host is not None
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            self._results = self._rung.host(self._arrays.case, self._work)
        return Timing(time.perf_counter() - start, "host", ())

    def judge(self) -> Verdict:
        """Compare every result with the truth."""
        depth = self._rung.depth(self._arrays.case, 1) if self._rung.depth else 0
        found = {name: np.asarray(self._results[name]) for name in self._arrays.expected(depth)}
        return self._arrays.judge(found, depth)

    def start(self, device: DeviceBackend) -> tuple[Timing, None]:
        """Compute once: the device has no part in it."""
        return self.run(), None

    @property
    def destroys(self) -> bool:
        """Whether there is something to put back."""
        return bool(self._arrays.inputs_written)

    def rewind(self) -> None:
        """Copy what the rung may overwrite."""
        self.restore()

    def release(self) -> None:
        """Drop the copies."""
        self._work, self._results = {}, {}

    def transfer(self) -> float | None:
        """Nothing travels."""
        return None

    def copied(self) -> tuple[int, int] | None:
        """Nothing travels."""
        return None

    def recover(self) -> None:
        """Nothing to do: the host holds no state."""


def make_card(
    setting: Setting,
    case: Case,
    *,
    rung: str,
    language: str,
    kernel: str,
    shape: LaunchShape | None = None,
    as_written: bool = False,
    peer: bool = False,
) -> Card:
    """What is known of a trial before it runs: what the table's trials share, and its own."""
    return Card(
        rung=rung,
        table=setting.table,
        title=setting.title,
        language=language,
        kernel=kernel,
        size=case.size,
        dtype=case.dtype.name,
        shape=shape,
        ideal_bytes=case.ideal_bytes,
        ideal_flops=case.ideal_flops,
        final=setting.final if setting.reduces else "",
        size_text=setting.size_text,
        as_written=as_written,
        peer=peer,
    )
