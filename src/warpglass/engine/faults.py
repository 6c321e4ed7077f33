"""Turns the few words that a stopped kernel leaves behind into an error in the author's own terms."""

from __future__ import annotations

import numpy as np

from ..codegen.context import SHARED_WINDOW, SLOT
from ..errors import FaultPlace, KernelFault
from ..program import Step
from .arguments import Bound
from .backend import Dim3, Launch
from .memory import Placed, explain_address
from .prepared import Executable, Prepared

_CUDA_NAME = {
    "out-of-bounds": "cudaErrorIllegalAddress",
    "read-only-write": "cudaErrorIllegalAddress",
    "misaligned": "cudaErrorMisalignedAddress",
    "trap": "cudaErrorLaunchFailure",
}


def explain_fault(
    context: np.ndarray,
    executable: Executable,
    prepared: Prepared,
    bound: Bound,
    placed: tuple[Placed, ...],
    launch: Launch,
) -> KernelFault:
    """The error for a fault that a worker recorded in its context."""
    site_number = int(context[SLOT["fault_site"]])
    lane, warp = int(context[SLOT["fault_lane"]]), int(context[SLOT["fault_warp"]])
    block = _unflatten(int(context[SLOT["fault_block"]]), launch.grid)
    thread = _unflatten(warp * 32 + lane, launch.block)
    if site_number < 0:
        step = prepared.steps[executable.code.traps[-site_number - 1]]
        place = _place("trap", step, block, thread, None, None, None, 0)
        return _fault(launch, place, "the kernel executed a trap")
    site = executable.code.sites[site_number]
    step = prepared.steps[site.step]
    address = int(context[SLOT["fault_address"]])
    verb = "write" if site.write else "read"
    amount = f"{site.size}-byte {verb}"
    if site.space == "shared":
        return _shared_fault(launch, step, block, thread, address, site.size, amount, prepared)
    meaning = explain_address(address, bound, placed)
    if meaning.inside and meaning.readonly and site.write:
        kind, text = "read-only-write", f"{amount} to {meaning.array}[{meaning.index}], which is read-only"
    elif address % site.size and meaning.inside:
        kind = "misaligned"
        text = f"{amount} in {meaning.array} at address {address:#x}, which is no multiple of {site.size}"
    elif meaning.array is None:
        kind, text = "out-of-bounds", f"{amount} at address {address:#x}; the launch has no arrays"
    else:
        kind = "out-of-bounds"
        text = (
            f"{amount} of {meaning.array}[{meaning.index}], outside its {meaning.elements} elements"
            if not meaning.inside
            else f"{amount} at {meaning.array}[{meaning.index}] runs past the end of its memory"
        )
    place = _place(kind, step, block, thread, meaning.array, meaning.index, address, site.size)
    return _fault(launch, place, text)


def _shared_fault(
    launch: Launch,
    step: Step,
    block: Dim3,
    thread: Dim3,
    address: int,
    size: int,
    amount: str,
    prepared: Prepared,
) -> KernelFault:
    offset = address - SHARED_WINDOW
    total = prepared.program.shared.static + launch.shared
    if offset % size and 0 <= offset < total:
        kind, text = "misaligned", f"{amount} at shared byte {offset}, which is no multiple of {size}"
    else:
        kind = "out-of-bounds"
        dynamic = f" ({launch.shared} of them dynamic)" if launch.shared else ""
        text = f"{amount} at shared byte {offset}, outside the block's {total} bytes{dynamic}"
    return _fault(launch, _place(kind, step, block, thread, "shared memory", None, offset, size), text)


def _fault(launch: Launch, place: FaultPlace, text: str) -> KernelFault:
    where = f"{place.file}:{place.line}: " if place.file else ""
    message = f"{where}{launch.compiled.name}: {text}, by block {place.block} thread {place.thread}"
    return KernelFault(message, place, cuda_name=_CUDA_NAME[place.kind])


def _place(
    kind: str,
    step: Step,
    block: Dim3,
    thread: Dim3,
    array: str | None,
    index: int | None,
    address: int | None,
    size: int,
) -> FaultPlace:
    source = step.instruction.source
    file, line = (source.file, source.line) if source else ("PTX", step.instruction.line)
    return FaultPlace(kind, file, line, block, thread, array, index, address, size)


def _unflatten(linear: int, extents: Dim3) -> Dim3:
    x, y, _ = extents
    return linear % x, linear // x % y, linear // (x * y)
