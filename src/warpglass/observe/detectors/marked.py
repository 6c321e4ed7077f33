"""unwritten-output and unread-input: elements of marked arrays that no thread has stored or loaded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...engine.cpu.backend import Begun
from ...engine.launch.arguments import BoundArray
from ...records.check import Finding
from ...records.marks import INPUT, OUTPUT
from . import layout
from .memory import Memory

_HINTS = {
    OUTPUT: "launch enough threads for all elements (round the grid up: (n + block - 1) // block) and let "
    "the last ones do the rest",
    INPUT: "launch enough threads for all elements and handle the tail that is no multiple of the block",
}


def unwritten_outputs(begun: Begun, memory: Memory, purposes: Mapping[int, str]) -> list[Finding]:
    """One finding for each output array with elements that were never stored."""
    return _untouched(begun, memory, purposes, OUTPUT, layout.WRITES, "unwritten-output", "written")


def unread_inputs(begun: Begun, memory: Memory, purposes: Mapping[int, str]) -> list[Finding]:
    """One finding for each input array with elements that were never loaded."""
    return _untouched(begun, memory, purposes, INPUT, layout.READS, "unread-input", "read")


def _untouched(
    begun: Begun,
    memory: Memory,
    purposes: Mapping[int, str],
    purpose: str,
    which: int,
    kind: str,
    verb: str,
) -> list[Finding]:
    found: list[Finding] = []
    for array in begun.scene.bound.arrays:
        if purposes.get(array.position) != purpose or array.view.size == 0:
            continue
        granule = 1 << int(memory.arrays[array.allocation][layout.SHIFT])
        touched = memory.touched(array.allocation, which)
        view = array.view
        if view.contiguous and view.itemsize == granule:
            first = array.offset // granule
            missed = ~touched[first : first + view.size]
            found += _told(array, missed, kind, verb, purpose)
            continue
        starts = np.full(view.shape, array.offset, np.int64)
        for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
            shape = [1] * len(view.shape)
            shape[axis] = extent
            starts += (np.arange(extent) * stride).reshape(shape)
        flat = starts.ravel()
        missed = np.zeros(flat.shape, bool)
        for byte in range(0, view.itemsize, granule):
            missed |= ~touched[(flat + byte) // granule]
        found += _told(array, missed, kind, verb, purpose)
    return found


def _told(array: BoundArray, missed: np.ndarray, kind: str, verb: str, purpose: str) -> list[Finding]:
    """The finding for an array's elements that were missed, if there are any."""
    count = int(np.count_nonzero(missed))
    if not count:
        return []
    first = int(np.argmax(missed))
    message = (
        f"{count} element{'' if count == 1 else 's'} of {array.name} ({array.view.size} in all) "
        f"{'is' if count == 1 else 'are'} never {verb}, the first is {array.name}[{first}]"
    )
    hint = _HINTS[purpose]
    return [Finding(kind, "error", message, array=array.name, index=first, count=count, hint=hint)]
