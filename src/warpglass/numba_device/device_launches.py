"""What a grid has asked for: launches of kernels, copies and fills, made when it has ended.

Since CUDA 12 a kernel cannot wait for what it launches, which has ended when the grid that launched it has:
so all is done in the order in which it was asked for, each with what it asks for itself, and last what the
grid put into its stream for tail launches. The grid's notes are variables of its module (device_runtime.cu).
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from ..engine.launch.backend import Launch
from .device import VirtualDevice
from .device_runtime import CAPACITY, PARAMETERS
from .memory_calls import cuMemcpyDtoD, cuMemsetD8, place_of
from .modules import LoadedKernel, LoadedModule
from .results import Refusal, Result

_NOTES, _NOTED = "warpglass_notes", "warpglass_noted"
_HEAD = struct.Struct("<Q3I3IIIQ")
_ROWS = struct.Struct("<6Q")
_KERNEL, _COPY, _FILL = 1, 2, 3
_TAIL = 3  # cudaStreamTailLaunch


@dataclass(frozen=True, slots=True)
class _Note:
    """One thing that is to be done."""

    kind: int
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: int
    parameters: bytes


def launch_all(device: VirtualDevice, kernel: LoadedKernel, launch: Launch) -> None:
    """Launch a kernel, and then what it launches."""
    kernel.note_seconds(launch, device.launch(launch))
    module = kernel.module
    if not module.launches:
        return
    notes = _taken(device, module)
    notes.sort(key=lambda note: note.stream == _TAIL)
    for note in notes:
        if device.sticky is not None:
            return
        try:
            _carry_out(device, module, note)
        except Refusal as refusal:
            device.say(refusal.result, f"what {kernel.compiled.name} launches: {refusal}")


def _taken(device: VirtualDevice, module: LoadedModule) -> list[_Note]:
    """The notes of the last launch, which are forgotten: what is launched makes notes of its own."""
    places = [place_of(device, *module.variable(name)) for name in (_NOTED, _NOTES)]
    counter = ctypes.c_uint32.from_address(places[0])
    count, counter.value = min(counter.value, CAPACITY), 0
    size = module.variable(_NOTES)[1] // CAPACITY
    content = ctypes.string_at(places[1], count * size)
    return [_note(content[at : at + size]) for at in range(0, count * size, size)]


def _note(content: bytes) -> _Note:
    function, gx, gy, gz, bx, by, bz, shared, kind, stream = _HEAD.unpack_from(content)
    return _Note(kind, function, (gx, gy, gz), (bx, by, bz), shared, stream, content[PARAMETERS:])


def _carry_out(device: VirtualDevice, module: LoadedModule, note: _Note) -> None:
    if note.kind == _KERNEL:
        names = module.entries
        if not 0 < note.function <= len(names):
            raise Refusal(Result.INVALID_VALUE, f"{note.function:#x} is no kernel")
        kernel = module.kernel(names[note.function - 1])
        kernel.check(note.grid, note.block, note.shared)
        parameters = note.parameters[: kernel.layout.size]
        launch_all(device, kernel, kernel.launch(note.grid, note.block, note.shared, parameters))
    elif note.kind in (_COPY, _FILL):
        target, target_pitch, source, source_pitch, width, height = _ROWS.unpack_from(note.parameters)
        for row in range(height):
            if note.kind == _COPY:
                cuMemcpyDtoD(device, target + row * target_pitch, source + row * source_pitch, width)
            else:
                cuMemsetD8(device, target + row * target_pitch, source & 0xFF, width)
