"""The versions of packages that programs are known to run with here.

Nothing here reaches into a package, so other versions may well work; but nobody has tried, and a program that
fails because of its package should not look like one that fails because of itself.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata

from ..errors import ArgumentError, PackageError

ANY = "WARPGLASS_ANY_VERSION"
# By a module's name: its distribution, the first and the last minor version that tests/numba_device passes.
_KNOWN = {
    "numba.cuda": ("numba-cuda", (0, 28), (0, 30)),
    "numba_cuda_mlir": ("numba-cuda-mlir", (0, 5), (0, 6)),
}


_NO_NUMBA_CUDA = (
    "numba.cuda needs the package numba-cuda, which is not installed: install warpglass with its extra, "
    "pip install 'warpglass[numba-cuda]', or write `from numba_cuda_mlir import cuda`, which is installed"
)
# Modules that look for NVIDIA's driver once, when they are imported, and keep that there is none.
_DRIVERS = (
    "numba.cuda.cudadrv.driver",
    "numba_cuda.numba.cuda.cudadrv.driver",
    "numba_cuda_mlir.numba_cuda.cudadrv.driver",
)


def refuse_imported() -> None:
    """Raise ArgumentError if a module that has found no driver was imported; it would never see ours."""
    for name in _DRIVERS:
        driver = getattr(sys.modules.get(name), "driver", None)
        if getattr(driver, "initialization_error", None):
            package = "numba.cuda" if name.startswith("numba.cuda.") else name.partition(".")[0]
            raise ArgumentError(
                f"{package} was imported before the virtual device was switched on, and has found no GPU: "
                "call warpglass.numba_device.activate() before importing it, or start the program with "
                "`warpglass run`"
            )


def check_version(module: str) -> None:
    """Raise PackageError if a module's version is not known; WARPGLASS_ANY_VERSION=1 lets any pass."""
    if module not in _KNOWN or os.environ.get(ANY, "0") not in ("", "0"):
        return
    distribution, first, last = _KNOWN[module]
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        if module == "numba.cuda":  # numba's own, of old, which stands in for the package that is missing
            raise PackageError(_NO_NUMBA_CUDA, name=module) from None
        return
    minor = re.match(r"(\d+)\.(\d+)", version)
    if minor is None or not first <= (int(minor[1]), int(minor[2])) <= last:
        wanted = f"{distribution}>={_named(first)},<{last[0]}.{last[1] + 1}"
        raise PackageError(
            f"warpglass knows {distribution} {_named(first)} to {_named(last)}, and this is {version}: "
            f"pip install '{wanted}', or set {ANY}=1 to try it",
            name=module,
        )


def _named(minor: tuple[int, int]) -> str:
    return f"{minor[0]}.{minor[1]}"
