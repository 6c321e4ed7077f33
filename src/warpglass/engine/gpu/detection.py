"""Whether there is a GPU to run on, which one WARPGLASS_DEVICE asks for, and why there is none."""

from __future__ import annotations

import os
from functools import cache

from ...errors import WarpglassError
from .driver import CudaError, Driver


def available() -> bool:
    """Whether there is a GPU to run on; never raises where there is no driver."""
    return problem() is None


def problem() -> str | None:
    """Why there is no GPU to run on, in words; None if there is one.

    The environment variable WARPGLASS_DEVICE chooses: "cpu" hides all GPUs, "gpu" is the first, "gpu:1" the
    second.
    """
    wanted = os.environ.get("WARPGLASS_DEVICE", "").strip().lower()
    if wanted == "cpu":
        return "WARPGLASS_DEVICE=cpu hides the GPUs"
    count, reason = _count_devices()
    if reason is not None:
        return reason
    ordinal = chosen_ordinal()
    return None if ordinal < count else f"there are {count} GPUs, but WARPGLASS_DEVICE asks for gpu:{ordinal}"


def chosen_ordinal() -> int:
    """The number of the GPU that WARPGLASS_DEVICE asks for; raises WarpglassError if it asks for nonsense."""
    wanted = os.environ.get("WARPGLASS_DEVICE", "").strip().lower()
    name, _, ordinal = wanted.partition(":")
    if name not in ("", "auto", "gpu", "cpu") or (ordinal and not ordinal.isdecimal()):
        raise WarpglassError(f"WARPGLASS_DEVICE={wanted!r} is not understood; use cpu, gpu or gpu:N")
    return int(ordinal or 0)


@cache
def _count_devices() -> tuple[int, str | None]:
    """The number of GPUs, and why there is none."""
    try:
        import cuda.bindings.driver as api

        driver = Driver(api)
        driver.call("cuInit", 0)
        count = int(driver.call("cuDeviceGetCount"))
    except ImportError as error:
        return 0, f"cuda-bindings is not installed ({error})"
    except CudaError as error:
        return 0, f"the CUDA driver does not start: {error}"
    except (RuntimeError, OSError):  # cuda-pathfinder's way of saying that there is no libcuda
        return 0, "no NVIDIA driver is installed"
    return count, None if count else "the CUDA driver sees no GPU"
