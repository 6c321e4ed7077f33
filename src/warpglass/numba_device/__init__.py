"""Programs for CUDA find a GPU that is not there: the virtual device, and how it is switched on.

`activate()` loads a `libcuda.so.1` of our own into the process (shared_library.py), whose functions work on a
VirtualDevice (device.py), one file of functions per subject (*_calls.py). Whatever then asks for the driver
by name, numba.cuda, numba_cuda_mlir, cuda.core and cuda.bindings among them, finds one device, the engine.

Both functions are looked up when they are first used: who only starts programs (hook.py) needs no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..host.deferred import deferred

if TYPE_CHECKING:
    from .activation import activate, active_device

__all__ = ["activate", "active_device"]

__getattr__ = deferred(__name__, dict.fromkeys(__all__, "activation"))
