"""The occupancy's part of the wiring: what a launch asks of a multiprocessor, from numbers or machine code.

Belongs here: from a kernel, a block and the name of a GPU to an OccupancyReport. The arithmetic is
models/occupancy.py's, the words are report/occupancy.py's. Nothing runs.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from .. import devices, lab
from ..devices import Device, Limits, limits_of
from ..devices.device import capabilities
from ..engine.gpu.driver import header_of
from ..engine.launch.limits import as_dim3, check_launch
from ..errors import ArgumentError, LaunchError
from ..models.occupancy import Demand
from ..models.occupancy import occupancy as fit
from ..records.marks import unmark
from ..report.occupancy import OccupancyReport
from ..source.cubin import OLDEST, Resources, resources, retargeted

_CAPABILITY = re.compile(r"(?:cc|sm_?)?\s*(\d+)\.(\d)", re.IGNORECASE)


def occupancy(
    kernel: lab.Kernel | None,
    block: lab.Extent,
    args: Sequence[object] = (),
    shared: int = 0,
    *,
    registers: int | None = None,
    shared_per_thread: int = 0,
    barriers: int | None = None,
    carveout: int | None = None,
    grid: lab.Extent | None = None,
    model: str = "h100",
) -> OccupancyReport:
    """How many blocks of a kernel one multiprocessor holds, what limits them, and what would change it.

    The registers, shared memory and barriers of `kernel` are those of its machine code for `model`, a GPU's
    name or a compute capability ("cc 8.6"); a Python kernel is compiled for the types of `args`. Without a
    kernel (None) the numbers alone count. `registers` per thread and `barriers` of a block take the place of
    the compiler's. `shared` is dynamic shared memory in bytes, all of it without a kernel, of which
    `shared_per_thread` bytes grow with the block; `carveout` the preferred share of it in percent. With a
    `grid` its waves are counted. Raises ArgumentError, and CompileError as `load` does.
    """
    if kernel is not None and not isinstance(kernel, lab.Kernel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"{kernel!r} is no kernel; load, compile and from_numba make one, None is none")
    gpu, limits, known = _gpu(model)
    extents = _given(block, "block")
    machine = _machine_code(kernel, limits, registers, args) if kernel is not None else None
    found = machine.resources if machine else None
    demand = Demand(
        threads=prod(extents),
        registers=registers if registers is not None else found.registers if found else 0,
        static_shared=found.static_shared if found else shared,
        dynamic_shared=shared if found else 0,
        barriers=barriers if barriers is not None else found.barriers if found else 0,
        carveout=carveout,
    )
    return OccupancyReport(
        kernel=kernel.name if kernel else None,
        gpu=gpu,
        block=extents,
        fit=fit(demand, limits),
        shared_per_thread=shared_per_thread,
        multiprocessors=known.multiprocessors if known else None,
        grid=prod(_given(grid, "grid")) if grid is not None else None,
        compiled=asdict(found) if found else {},
        refused=_refusal(gpu, limits, demand, extents, machine),
    )


def target_for(model: str) -> str:
    """The compiler target at which a kernel's machine code is looked at for a GPU or compute capability.

    Of GPUs older than the assembler knows it is the oldest that it does know.
    """
    limits = _gpu(model)[1]
    return "sm_{}{}".format(*max(limits.capability, OLDEST))


def _given(extents: lab.Extent, what: str) -> tuple[int, ...]:
    """Extents as given, one to three whole numbers; `what` is "block" or "grid"."""
    parts = tuple(extents) if isinstance(extents, list | tuple) else (extents,)
    try:
        found = tuple(operator.index(part) for part in parts)  # type: ignore[arg-type]  # refuses all others
    except TypeError:
        raise ArgumentError(f"the {what} is {extents!r}; it is made of whole numbers") from None
    if not 1 <= len(found) <= 3 or min(found) < 0:
        raise ArgumentError(f"the {what} is {extents!r}; it has one to three extents, none below 0")
    return found


def _gpu(text: str) -> tuple[str, Limits, Device | None]:
    """What a GPU is called, its limits, and the GPU itself unless the text is only "cc x.y"."""
    found = _CAPABILITY.fullmatch(text.strip())
    if found is None:
        try:
            device = devices.get(text)
        except devices.UnknownDevice as problem:
            raise ArgumentError(str(problem)) from None
        return "{} (compute capability {}.{})".format(device.name, *device.capability), device.limits, device
    capability = int(found[1]), int(found[2])
    if capability not in capabilities():
        known = ", ".join(".".join(map(str, one)) for one in capabilities())
        raise ArgumentError(f"compute capability {found[1]}.{found[2]} is not known; there is {known}")
    return f"compute capability {found[1]}.{found[2]}", limits_of(capability), None


@dataclass(frozen=True, slots=True)
class _MachineCode:
    resources: Resources
    directives: Any  # of the entry, for engine.launch.limits


def _machine_code(
    kernel: lab.Kernel, limits: Limits, registers: int | None, args: Sequence[object]
) -> _MachineCode:
    """Assemble a kernel for a compute capability and read what it takes.

    For GPUs older than the assembler knows, the registers have to be given; its oldest target says the rest.
    """
    if limits.capability < OLDEST and registers is None:
        raise ArgumentError(
            "compute capability {}.{} is older than the oldest that CUDA 13 compiles for, {}.{}: give the "
            "registers per thread (--registers; registers= in Python), as an older `nvcc -Xptxas -v` prints "
            "them".format(*limits.capability, *OLDEST)
        )
    target = "sm_{}{}".format(*max(limits.capability, OLDEST))
    compiled = kernel.compile(unmark(args))
    header = header_of(compiled.ptx, compiled.entry)
    own = retargeted(compiled, target)
    return _MachineCode(resources(own, target), header.directives if header else ())


@dataclass(frozen=True, slots=True)
class _Named:
    """A GPU as engine.launch.limits wants it."""

    name: str
    limits: Limits


def _refusal(
    gpu: str, limits: Limits, demand: Demand, block: tuple[int, ...], machine: _MachineCode | None
) -> str | None:
    """Why a launch of one such block is refused, None if it is not."""
    try:
        check_launch(
            _Named(gpu.partition(" (")[0], limits),
            (1, 1, 1),
            as_dim3(block, "block"),
            demand.static_shared,
            demand.dynamic_shared,
            demand.registers,
            machine.directives if machine else (),
        )
    except LaunchError as problem:
        return str(problem)
    return None
