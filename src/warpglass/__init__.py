"""warpglass: run, check, profile and race CUDA kernels on any machine.

The names below are all of the public interface. They are looked up when first used, so that importing the
package costs next to nothing.

PYTEST_DONT_REWRITE: no module here asserts for pytest, which would warn that it came too late to rewrite them
where `warpglass run -m pytest` has imported the package already.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ops
    from .errors import (
        ArgumentError,
        CompileError,
        KernelFault,
        KernelTimeout,
        LaunchError,
        UnsupportedError,
        WarpglassError,
    )
    from .judging import judge
    from .lab import Kernel, Run, compile, from_numba, load, reset, run
    from .lab.bench import bench
    from .lab.check import check
    from .lab.occupancy import occupancy
    from .lab.profile import profile
    from .lab.roofline import roofline
    from .ladders.measure import Bench
    from .records.check import Check, Finding
    from .records.marks import all_of, out
    from .records.profile import Profile
    from .report.occupancy import OccupancyReport
    from .report.roofline import RooflineReport
    from .sweeps import sweep, tune

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "Bench",
    "Check",
    "CompileError",
    "Finding",
    "Kernel",
    "KernelFault",
    "KernelTimeout",
    "LaunchError",
    "OccupancyReport",
    "Profile",
    "RooflineReport",
    "Run",
    "UnsupportedError",
    "WarpglassError",
    "__version__",
    "all_of",
    "bench",
    "check",
    "compile",
    "from_numba",
    "judge",
    "load",
    "occupancy",
    "ops",
    "out",
    "profile",
    "reset",
    "roofline",
    "run",
    "sweep",
    "tune",
]
# the rest of the functions are in lab/
_HOMES = {
    "bench": "lab.bench",
    "Bench": "ladders.measure",
    "check": "lab.check",
    "Check": "records.check",
    "Finding": "records.check",
    "all_of": "records.marks",
    "out": "records.marks",
    "occupancy": "lab.occupancy",
    "OccupancyReport": "report.occupancy",
    "profile": "lab.profile",
    "roofline": "lab.roofline",
    "RooflineReport": "report.roofline",
    "judge": "judging",
    "sweep": "sweeps",
    "tune": "sweeps",
    "Profile": "records.profile",
}


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext warpglass`: the magics %%cuda, %%check and %%profile (lab/notebook.py)."""
    importlib.import_module(".lab.notebook", __name__).load_ipython_extension(shell)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ops":  # the only module among them, which binds its own name here
        return importlib.import_module(f".{name}", __name__)
    home = "errors" if name.endswith(("Error", "Fault", "Timeout")) else _HOMES.get(name, "lab")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
