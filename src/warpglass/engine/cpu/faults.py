"""Turns the few words that a stopped kernel leaves behind into an error in the author's own terms.

Every message reads `file:line: kernel: what happened, and what would be right, by block ... thread ...`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ...codegen import BlockShape, KernelCode
from ...codegen.context import LOCAL_WINDOW, NOWHERE, RESUME, SHARED_WINDOW, SLOT
from ...codegen.memory.sites import Site
from ...errors import FaultPlace, KernelFault, KernelTimeout
from ...isa.lanes import RANK_SHIFT
from ...program import STACK, STACK_BYTES, ModuleVariable, Step
from ..launch.arguments import Bound
from ..launch.backend import Dim3, Launch, lane_list, unflatten
from .address_space import GUARD, Laid, Meaning, explain_address
from .heap import Chunk, Heap
from .object_faults import explain_object
from .prepared import Executable, Prepared
from .system import Account as Served
from .system import System, freed_before
from .variable_names import SharedVariables, plain_name
from .worker import Worker

_CUDA_NAME = {
    "out-of-bounds": "cudaErrorIllegalAddress",
    "read-only-write": "cudaErrorIllegalAddress",
    "use-after-free": "cudaErrorIllegalAddress",
    "misaligned": "cudaErrorMisalignedAddress",
    "trap": "cudaErrorLaunchFailure",
}
# What it means to come to a block that ends in a trap, by the control word of its step.
_TRAPS = {
    "trap": "the kernel stopped itself with a trap",
    "wild-call": "the kernel calls through a pointer that is no device function with this signature",
    "wild-branch": "brx.idx has an index beyond its list of targets",
}
# An address this close to 0 comes from a null pointer: of members of a structure, and where an argument is
# None of 32-bit indices of 16-byte elements.
_NULL_PAGE, _NULL_REACH = 1 << 12, 1 << 36


@dataclass(frozen=True, slots=True)
class Scene:
    """The launch that went wrong."""

    launch: Launch
    prepared: Prepared
    executable: Executable
    bound: Bound
    laid: Laid
    ranges: Sequence[int]  # the range table's entries for global memory
    shared: int  # bytes of shared memory, static and dynamic
    system: System
    heap: Heap


@dataclass(frozen=True, slots=True)
class _Account:
    """What happened: a finding kind, the words for it, and the element if there is one."""

    kind: str
    text: str
    array: str | None = None
    index: int | None = None
    address: int | None = None
    cuda_name: str | None = None


# ---------------------------------------------------------------------------------------- errors
def explain_fault(scene: Scene, context: np.ndarray) -> KernelFault:
    """The error for the fault that a worker has recorded in its words."""
    number = int(context[SLOT["fault_site"]])
    code = scene.executable.code
    block, thread = _position(scene.launch, context, scene.executable.shape)
    if number < 0:
        step = scene.prepared.steps[code.traps[-number - 1]]
        return _error(scene, step, _Account("trap", _TRAPS[step.control or "trap"]), None, block, thread)
    if code.sites[number].space == "system":
        served = scene.system.accounts[int(context[SLOT["fault_block"]])]
        return explain_call(scene, number, served, block, thread)
    address = int(context[SLOT["fault_address"]]) & (1 << 64) - 1
    return explain_access(scene, number, address, block, thread)


def explain_call(scene: Scene, number: int, served: Served, block: Dim3, thread: Dim3) -> KernelFault:
    """The error for a thread whose call of the runtime, at a site, was refused."""
    site = scene.executable.code.sites[number]
    account = _Account(served.kind, served.text, cuda_name=served.cuda_name)
    return _error(scene, scene.prepared.steps[site.step], account, site.size, block, thread)


def explain_access(scene: Scene, number: int, address: int, block: Dim3, thread: Dim3) -> KernelFault:
    """The error for a thread that may not make the access of a site, by number, at an address."""
    site = scene.executable.code.sites[number]
    if site.space == "texture":
        account = _Account(*explain_object(address, scene.laid.placed), address=address)
        return _error(scene, scene.prepared.steps[site.step], account, None, block, thread)
    explain = {"shared": _explain_shared, "local": _explain_local}.get(site.space, _explain)
    account = explain(scene, site, address)
    return _error(scene, scene.prepared.steps[site.step], account, site.size, block, thread)


def _error(
    scene: Scene, step: Step, account: _Account, size: int | None, block: Dim3, thread: Dim3
) -> KernelFault:
    file, line = _source(step)
    place = FaultPlace(
        account.kind, file, line, block, thread, account.array, account.index, account.address, size
    )
    cuda_name = account.cuda_name or _CUDA_NAME[account.kind]
    message = (
        f"{file}:{line}: {scene.launch.compiled.name}: {account.text}{_inlined(step)}, "
        f"by block {block} thread {thread} "
        f"({cuda_name}{_remedy(scene.launch)})"
    )
    return KernelFault(message, place, cuda_name=cuda_name)


def _remedy(launch: Launch) -> str:
    """What makes the device usable again; programs on a virtual device know their own way."""
    return "; warpglass.reset() makes the device usable" if launch.resident is None else ""


def explain_timeout(scene: Scene, contexts: Sequence[np.ndarray], resident: int = 0) -> KernelTimeout:
    """The error for a launch that was stopped, with the place of the first block that was found in a loop.

    `resident` is how many blocks could be under way at once, if they may have waited for others in vain.
    """
    launch = scene.launch
    text = f"did not end within {launch.timeout:g} s (timeout=) and was stopped"
    if resident:
        text += f"; its blocks may wait for each other, but at most {resident} can be under way at once"
    name = launch.compiled.name
    looping = [context for context in contexts if context[SLOT["fault_site"]] != NOWHERE]
    if not looping:
        return KernelTimeout(f"{name} {text} (cudaErrorLaunchTimeout{_remedy(launch)})")
    context = min(looping, key=lambda c: int(c[SLOT["fault_block"]]))
    block, thread = _position(launch, context, scene.executable.shape)
    file, line = source_of_block(scene.prepared, scene.executable.code, int(context[SLOT["fault_site"]]))
    where = f"{file}:{line}: " if file else ""
    message = (
        f"{where}{name} {text}; block {block} thread {thread} was in this loop "
        f"(cudaErrorLaunchTimeout{_remedy(launch)})"
    )
    return KernelTimeout(message, FaultPlace("timeout", file, line, block, thread))


def explain_deadlock(scene: Scene, worker: Worker) -> KernelTimeout:
    """The error for a block in which every thread that has not ended waits at a barrier."""
    stuck = worker.waiting(int(worker.context[SLOT["fault_warp"]]))
    if any(scene.prepared.steps[step].match.member_mask is not None for step in stuck):
        return _explain_stuck_lanes(scene, worker.context, stuck)
    barriers = scene.executable.code.barriers
    waiting: dict[tuple[str, int, int], list[int]] = {}
    for warp, (state, barrier) in enumerate(zip(worker.states, worker.barriers, strict=True)):
        if state >= RESUME:
            step = scene.prepared.steps[barriers[min(state - RESUME, len(barriers) - 1)]]
            waiting.setdefault((*_source(step), barrier), []).append(warp)
    places = "; ".join(
        f"warp{'s' if len(warps) > 1 else ''} {', '.join(map(str, warps))} "
        f"at barrier {barrier} ({file}:{line})"
        for (file, line, barrier), warps in waiting.items()
    )
    file, line, _ = next(iter(waiting), (None, None, None))
    what = f"every thread that has not ended waits at a barrier that cannot open: {places}"
    return _deadlock(scene, worker.context, what, file, line)


def explain_grid_deadlock(scene: Scene, stuck: Mapping[int, Worker], whole: str) -> KernelTimeout:
    """The error for blocks, with their workers, that wait in vain at the barrier of a grid or cluster."""
    code = scene.executable.code
    block, worker = next(iter(stuck.items()))
    header = next(code.yields[one] for one in worker.states if one in code.yields)
    source = source_of_block(scene.prepared, code, header)
    blocks = [unflatten(one, scene.launch.grid) for one in stuck]
    some = ", ".join(map(str, blocks[:4])) + (", ..." if len(blocks) > 4 else "")
    waiting = f"blocks {some} wait" if len(blocks) > 1 else f"block {some} waits"
    what = f"{waiting} at the barrier of the whole {whole} for others that never come to it"
    worker.context[SLOT["fault_block"]] = block
    return _deadlock(scene, worker.context, what, *source)


def _explain_stuck_lanes(scene: Scene, context: np.ndarray, stuck: Mapping[int, int]) -> KernelTimeout:
    """The error for a warp whose lanes wait for each other at different places; masks by step."""
    steps = scene.prepared.steps
    by_lane = sorted(stuck.items(), key=lambda one: one[1] & -one[1])
    places = "; ".join(f"{lane_list(mask)} at {_described(steps[step])}" for step, mask in by_lane)
    waiting = next(step for step in stuck if steps[step].match.member_mask is not None)
    what = f"lanes of warp {int(context[SLOT['fault_warp']])} wait for others that never come: {places}"
    return _deadlock(scene, context, what, *_source(steps[waiting]))


def _deadlock(
    scene: Scene, context: np.ndarray, what: str, file: str | None, line: int | None
) -> KernelTimeout:
    block = unflatten(int(context[SLOT["fault_block"]]), scene.launch.grid)
    name = scene.launch.compiled.name
    message = f"{name}: deadlock in block {block}: {what} (the device needs a reset)"
    return KernelTimeout(message, FaultPlace("deadlock", file, line, block))


def _described(step: Step) -> str:
    file, line = _source(step)
    return f"{'.'.join([step.instruction.opcode, *step.instruction.modifiers])} ({file}:{line})"


def _position(launch: Launch, context: np.ndarray, shape: BlockShape) -> tuple[Dim3, Dim3]:
    lane, warp = int(context[SLOT["fault_lane"]]) % shape.width, int(context[SLOT["fault_warp"]])
    if shape.blocks > 1:
        lane %= shape.together
    block = unflatten(faulty_block(context, shape), launch.grid)
    return block, unflatten(warp * shape.together + lane, launch.block)


def faulty_block(context: np.ndarray, shape: BlockShape) -> int:
    """The block whose fault a worker has recorded: of several that ran together, that of the lane."""
    first, lane = int(context[SLOT["fault_block"]]), int(context[SLOT["fault_lane"]]) % shape.width
    return first + lane // shape.together if shape.blocks > 1 else first


def _source(step: Step) -> tuple[str, int]:
    source = step.instruction.source
    return (source.author.file, source.author.line) if source else ("PTX", step.instruction.line)


def _inlined(step: Step) -> str:
    """Where code comes from that was not written at the author's line, as words to put behind others."""
    source = step.instruction.source
    if source is None or source.author is source:
        return ""
    return f" (inlined from {source.file}:{source.line})"


def source_of_block(prepared: Prepared, code: KernelCode, index: int) -> tuple[str | None, int | None]:
    """File and line of a basic block of a kernel's code: of a step of it."""
    number = code.places[index]
    return (None, None) if number is None else _source(prepared.steps[number])


# ---------------------------------------------------------------------------------------- arrays
def _explain(scene: Scene, site: Site, address: int) -> _Account:
    verb = "write" if site.write else "read"
    amount = f"{site.size}-byte {verb}"
    if address >> RANK_SHIFT + 8 == SHARED_WINDOW >> RANK_SHIFT + 8:
        return _explain_member(scene, site, address)
    signed = address - (1 << 64) if address >> 63 else address
    if abs(signed) < (_NULL_REACH if _nulls(scene) else _NULL_PAGE):
        text = f"{amount} through a null pointer{_nulls(scene) or ': pass an array'} (address {signed:#x})"
        return _Account("out-of-bounds", text, address=address)
    freed = scene.launch.resident.freed(address) if scene.launch.resident is not None else None
    if freed is not None:
        text = f"{amount} at {freed}, which the program has freed"
        return _Account("use-after-free", text, address=address)
    variable = scene.prepared.module.find(address)
    if variable is not None:
        return _explain_variable(*variable, site, address, amount)
    chunk = scene.heap.find(address)
    if chunk is not None:
        return _explain_heap(chunk, site, address, amount)
    parameters = scene.prepared.parameters
    found = parameters.find(address) if parameters is not None else None
    if found is not None:
        return _explain_parameters(*found, site, address, amount)
    meaning = explain_address(address, scene.bound, scene.laid.placed)
    if meaning is None:
        text = f"{amount} at address {address:#x}, where nothing is: the launch has no arrays"
        return _Account("out-of-bounds", text, address=address)
    if abs(signed) < _NULL_REACH or (meaning.away > GUARD // 2 and len(scene.bound.arrays) > 1):
        side = "past the end" if address >= meaning.first else "before the start"
        text = (
            f"{amount} at address {address:#x}, far from every array: the nearest is {meaning.name}, "
            f"{meaning.away:#x} bytes {side} of it"
        )
        return _Account("out-of-bounds", text, address=address)
    name = meaning.name
    flat = scene.launch.compiled.language != "python"  # C++ has pointers, whatever the array's shape
    element = meaning.element(site.size, flat)
    if meaning.allocated and meaning.readonly and site.write:
        kind = "read-only-write"
        text = f"{amount} to {element}, but {name} is read-only: pass a writable array"
    elif meaning.allocated and address % site.size:
        kind, text = "misaligned", f"{amount} at {_misalignment(meaning, address, site.size)}"
    else:
        joint = "to" if site.write else "of"
        kind, text = "out-of-bounds", f"{amount} {joint} {element}, but {meaning.extent(flat)}"
    return _Account(kind, text, name, meaning.index, address)


def _explain_variable(
    variable: ModuleVariable, distance: int, site: Site, address: int, amount: str
) -> _Account:
    element = max(variable.element, site.size)  # C++ compilers declare most variables as bytes
    name, index = plain_name(variable.name), distance // element
    joint = "to" if site.write else "of"
    if distance >= variable.size or (distance + site.size > variable.size and address % site.size == 0):
        has = f"{name} has {variable.size // element} elements of {element} bytes"
        return _Account("out-of-bounds", f"{amount} {joint} {name}[{index}], but {has}", name, index, address)
    if site.write and not variable.writable:
        text = f"{amount} to {name}[{index}], which is in constant memory"
        return _Account("read-only-write", text, name, index, address)
    text = f"{amount} at byte {distance} of {name}, whose address is no multiple of {site.size}"
    return _Account("misaligned", text, name, index, address)


def _explain_parameters(distance: int, size: int, site: Site, address: int, amount: str) -> _Account:
    text = f"{amount} at byte {distance} of the kernel's parameters"
    if distance + site.size > size and address % site.size == 0:
        return _Account("out-of-bounds", f"{text}, which have {size} bytes", address=address)
    if site.write:
        return _Account("read-only-write", f"{text}, which are constant", address=address)
    return _Account("misaligned", f"{text}, which is no multiple of {site.size}", address=address)


def _nulls(scene: Scene) -> str:
    """Which arguments were None, as a clause, "" if none was."""
    arguments = zip(scene.prepared.binder.names, scene.launch.args, strict=False)
    names = [name for name, argument in arguments if argument is None]
    if not names:
        return ""
    return f": {', '.join(names)} {'is' if len(names) == 1 else 'are'} None; pass an array"


def _misalignment(meaning: Meaning, address: int, size: int) -> str:
    """Where a misaligned access went, and whether the array or the index is to blame."""
    start = meaning.first % size
    text = f"byte {address - meaning.first} of {meaning.name}, whose address is no multiple of {size}"
    if not start:
        return text
    return f"{text}: {meaning.name} itself starts {start} bytes past one; pass {meaning.name}.copy()"


# ---------------------------------------------------------------------------------------- shared memory
def _explain_heap(chunk: Chunk, site: Site, address: int, amount: str) -> _Account:
    offset = address - chunk.base
    block, thread = chunk.owner
    what = f"{amount} at byte {offset} of memory that block {block} thread {thread} got from malloc"
    if chunk.freed_by is not None and 0 <= offset < chunk.size:  # by now, if not when the access was made
        return _Account(
            "use-after-free", f"{what}, but {freed_before(*chunk.freed_by)}", "malloc", offset, address
        )
    if 0 <= offset < chunk.size and address % site.size:
        return _Account(
            "misaligned", f"{what}, which is no multiple of {site.size}", "malloc", offset, address
        )
    return _Account("out-of-bounds", f"{what}, but it has {chunk.size} bytes", "malloc", offset, address)


def _explain_member(scene: Scene, site: Site, address: int) -> _Account:
    """An access of shared memory whose address names a block of the cluster."""
    rank, size = (address >> RANK_SHIFT & 0xFF) - 1, prod(scene.executable.shape.cluster)
    if rank < size:
        return _explain_shared(scene, site, address - (rank + 1 << RANK_SHIFT))
    blocks = f"{size} block{'' if size == 1 else 's'}"
    what = f"{site.size}-byte {'write to' if site.write else 'read of'} shared memory of rank {rank}"
    text = f"{what}, but the cluster has {blocks}"
    return _Account("out-of-bounds", text, "shared memory", None, address)


def _explain_shared(scene: Scene, site: Site, address: int) -> _Account:
    # Shared addresses have 32 bits, whatever the register that held this one.
    offset = (address - SHARED_WINDOW + (1 << 31)) % (1 << 32) - (1 << 31)
    layout = scene.prepared.program.shared
    dynamic = scene.launch.shared
    total = layout.static + dynamic
    name, start = SharedVariables(scene.prepared.program, scene.launch.compiled.language).at(offset)
    index = (offset - start) // site.size
    verb = "write" if site.write else "read"
    where = name if name == "shared memory" else f"{name} in shared memory"
    what = f"{site.size}-byte {verb} at byte {offset - start} of {where}"
    if 0 <= offset < total and offset % site.size:
        text = f"{what}, whose address is no multiple of {site.size}"
        return _Account("misaligned", text, name, index, offset)
    if offset >= layout.static and layout.static in layout.offsets.values():
        given = f"{dynamic} bytes of" if dynamic else "no"
        has = f"the launch gave {given} dynamic shared memory (k[grid, block, 0, bytes])"
    else:
        has = f"the block has {total} bytes" + (f", of which {name} starts at byte {start}" if start else "")
    return _Account("out-of-bounds", f"{what}, but {has}", name, index, offset)


def _explain_local(scene: Scene, site: Site, address: int) -> _Account:
    offset = address - LOCAL_WINDOW
    size = scene.prepared.program.local.size
    verb = "write" if site.write else "read"
    what = f"{site.size}-byte {verb} at byte {offset} of the thread's local arrays"
    if 0 <= offset < size and offset % site.size:
        text = f"{what}, which is no multiple of {site.size}"
        return _Account("misaligned", text, "local memory", offset // site.size, offset)
    stack = scene.prepared.program.local.offsets.get(STACK)
    if stack is not None and offset >= stack:
        function = plain_name(scene.prepared.program.origins[site.step])
        text = (
            f"{what}: the thread's stack of {STACK_BYTES} bytes is full, because {function} calls itself too "
            f"deeply or has too large variables"
        )
        return _Account("out-of-bounds", text, "local memory", offset // site.size, offset)
    text = f"{what}, but they take {size} bytes together"
    return _Account("out-of-bounds", text, "local memory", offset // site.size, offset)
