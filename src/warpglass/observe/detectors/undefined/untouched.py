"""unwritten-output and unread-input: elements of marked arrays that no thread has stored or loaded."""

from __future__ import annotations

import numpy as np

from ....engine.launch.arguments import BoundArray
from ....records.check import Finding
from ....records.marks import INPUT, OUTPUT
from .. import layout
from ..detector import Detector, Watched
from ..diagnostics.recorded import Words, finding_of


class UntouchedElements(Detector):
    """Which elements have no stamp at the end."""

    def findings(self, watched: Watched) -> list[Finding]:
        # Threads that are missing neither read nor write: what they should have written says it all.
        unwritten = _untouched(watched, OUTPUT, layout.WRITES, "unwritten-output", "written")
        return unwritten or _untouched(watched, INPUT, layout.READS, "unread-input", "read")


def _untouched(watched: Watched, purpose: str, which: int, kind: str, verb: str) -> list[Finding]:
    found: list[Finding] = []
    memory = watched.memory
    for array in watched.begun.scene.bound.arrays:
        if watched.purposes.get(array.position) != purpose or array.view.size == 0:
            continue
        granule = 1 << int(memory.arrays[array.allocation][layout.SHIFT])
        touched = memory.touched(array.allocation, which)
        view = array.view
        if view.contiguous and view.itemsize == granule:
            first = array.offset // granule
            missed = ~touched[first : first + view.size]
            found += _told(array, missed, kind, verb)
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
        found += _told(array, missed, kind, verb)
    return found


def _told(array: BoundArray, missed: np.ndarray, kind: str, verb: str) -> list[Finding]:
    """The finding for an array's elements that were missed, if there are any."""
    count = int(np.count_nonzero(missed))
    if not count:
        return []
    first = int(np.argmax(missed))
    message = (
        f"{count} element{'' if count == 1 else 's'} of {array.name} ({array.view.size} in all) "
        f"{'is' if count == 1 else 'are'} never {verb}, the first is {array.name}[{first}]"
    )
    return [finding_of(kind, Words(message), array=array.name, index=first, count=count)]
