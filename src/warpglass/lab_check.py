"""The check's part of the wiring in lab.py: one launch under the detectors, and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from . import __version__, lab
from .check_record import Check, Finding
from .engine.cpu import CpuBackend
from .errors import ArgumentError, KernelFault, KernelTimeout
from .marks import Marked, unmark
from .observe.detectors import Checker
from .observe.detectors.faults import fault_finding

_SCHEDULE = "blocks in order, warps in order up to each barrier"


def check(
    kernel: lab.Kernel,
    grid: lab.Extent,
    block: lab.Extent,
    args: Sequence[object],
    shared: int = 0,
    device: str = "cpu",
    timeout: float = 60.0,
    model: str = "h100",
) -> Check:
    """Run a kernel once under all detectors; results are in the arrays, `findings` in the result.

    Arguments are those of `run`; arrays may be marked with `out` and `all_of`. The engine runs the kernel,
    whatever GPU there is; `device` is "cpu" or "auto". A defect of the kernel, faults and timeouts included,
    is a finding. Raises ArgumentError for arguments that do not fit and LaunchError for a launch that no GPU
    would begin.
    """
    if device not in ("cpu", "auto"):
        raise ArgumentError(f"device {device!r}: check runs kernels on the engine; pass 'cpu' or nothing")
    launch = lab.make_launch(kernel, grid, block, args, shared, timeout)
    place = _engine(model)
    checker = Checker(_purposes(kernel, args))
    fault: list[Finding] = []
    try:
        place.observe(launch, checker, checker.begin)
    except (KernelFault, KernelTimeout) as error:
        fault.append(fault_finding(error))
        place.reset()
    found = [*fault, *checker.findings(complete=not fault)]
    return Check(
        kernel=kernel.name,
        language=kernel.language,
        device=place.description,
        grid=launch.grid,
        block=launch.block,
        shared=launch.shared,
        findings=tuple(found),
        schedule=f"{_SCHEDULE}; the verdict holds for {checker.holds_for}",
        notes=checker.notes,
        version=__version__,
    )


def _purposes(kernel: lab.Kernel, args: Sequence[object]) -> dict[int, str]:
    """What marked arrays are for, by their position among the arguments as the engine sees them."""
    found: dict[int, str] = {}
    position = 0
    for arg in args:
        if isinstance(arg, Marked):
            found[position] = arg.purpose
        position += len(kernel.leaves(unmark((arg,))))
    return found


@cache
def _engine(model: str) -> CpuBackend:
    """An engine of its own: a kernel that fails under check leaves the device usable."""
    return CpuBackend(model)
