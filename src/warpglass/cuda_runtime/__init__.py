"""The CUDA runtime of the virtual GPU: what a program compiled by nvcc calls, on numba_device's driver.

`activate(model)` makes the virtual GPU (numba_device/) and loads a `libcudart.so.13` and a `libcudart.so.12`
of our own into the process, for programs and libraries that are loaded later and linked with the shared
runtime. What was linked with the static one is led here by `addresses(release)`: the address of every
function by the name that NVIDIA's library exports, the forms for per-thread default streams (_ptsz, _ptds)
and older versions (_v2) included. Both must come before constructors of the program run, which register its
kernels:

    activate("h100")                                         # before the program is loaded
    program = ctypes.CDLL("./program.so", mode=ctypes.RTLD_GLOBAL)
    program.main(1, arguments)

A function of the API is a Python function named as in cuda_runtime_api.h, in the *_calls.py of its subject;
its first parameter is the Runtime (runtime.py), which has the device below it. What the driver does as well
is asked of the driver (`runtime.driver`, `same_as_driver`). Functions that NVIDIA's library has and ours has
not answer cudaErrorNotSupported and say their name on stderr, once.
"""

from __future__ import annotations

from .activation import activate, active_runtime, addresses

__all__ = ["activate", "active_runtime", "addresses"]
