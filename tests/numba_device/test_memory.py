"""The virtual device's memory."""

from __future__ import annotations

import numpy as np

from warpglass.numba_device.memory import DeviceMemory


def test_what_was_laid_out_does_not_outlive_what_is_unmapped() -> None:
    memory, size = DeviceMemory(1 << 30), 1 << 16
    content = np.zeros(size, np.uint8)
    base = memory.reserve(size, size)
    memory.map(base, size, content.ctypes.data, content)
    layout = memory.layout
    assert len(memory.lay_out(b"").placed) == 1
    memory.unmap(base, size)
    assert memory.layout != layout
    assert not memory.lay_out(b"").placed
