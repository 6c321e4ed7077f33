"""The versions of packages that programs are known to run with here.

Nothing here reaches into a package, so other versions may well work; but nobody has tried, and a program that
fails because of its package should not look like one that fails because of itself.
"""

from __future__ import annotations

import os
import re
from importlib import metadata

ANY = "WARPGLASS_ANY_VERSION"
# By a module's name: its distribution, the first and the last minor version that tests/numba_device passes.
_KNOWN = {
    "numba.cuda": ("numba-cuda", (0, 28), (0, 30)),
    "numba_cuda_mlir": ("numba-cuda-mlir", (0, 5), (0, 6)),
}


def check_version(module: str) -> None:
    """Raise ImportError if a module's version is not known; WARPGLASS_ANY_VERSION=1 lets any pass."""
    if module not in _KNOWN or os.environ.get(ANY, "0") not in ("", "0"):
        return
    distribution, first, last = _KNOWN[module]
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return
    minor = re.match(r"(\d+)\.(\d+)", version)
    if minor is None or not first <= (int(minor[1]), int(minor[2])) <= last:
        wanted = f"{distribution}>={_named(first)},<{last[0]}.{last[1] + 1}"
        raise ImportError(
            f"warpglass knows {distribution} {_named(first)} to {_named(last)}, and this is {version}: "
            f"pip install '{wanted}', or set {ANY}=1 to try it",
            name=module,
        )


def _named(minor: tuple[int, int]) -> str:
    return f"{minor[0]}.{minor[1]}"
