"""Switching the virtual device on when it is first wanted, in this process and those that it starts.

Belongs here: the environment variables by which processes tell each other, and the import hook. It imports
nothing heavy: every Python process under `warpglass run` runs it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import extension_modules
from .versions import check_version, refuse_imported

if TYPE_CHECKING:
    from .device import VirtualDevice

MODEL = "WARPGLASS_VIRTUAL_GPU"  # the model of the GPU; set in every process under `warpglass run`
OWN_DEVICE = "WARPGLASS_DEVICE"  # what "auto" means where warpglass itself makes launches
# Set to 0: numba's advice about launches that leave a GPU idle stood between a program's own words.
LOW_OCCUPANCY = "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"
SIMULATOR = "NUMBA_ENABLE_CUDASIM"
# Flags for each nvcc that a program starts: cubins with line numbers carry their PTX (images.py).
NVCC_FLAGS, KEEP_PTX = "NVCC_APPEND_FLAGS", "-lineinfo"
# Packages that ask for a driver when they are imported or used.
_ASKING = frozenset(("cuda.bindings", "cuda.core", "cupy", "numba.cuda", "numba_cuda", "numba_cuda_mlir"))
_WITH_LIBRARIES = frozenset(("cupy",))  # which look for cuBLAS and others by themselves
_STARTUP = str(Path(__file__).parent / "startup")


class _Hook:
    """Activates the device before the first package that asks for one is found; refuses unknown versions."""

    def __init__(self) -> None:
        self._done = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find nothing; importlib goes on with the next finder."""
        if name in _ASKING:
            check_version(name)
            if wanted() and not self._done:
                self._done = True
                package = importlib.import_module("warpglass.numba_device")
                device = package.activate(os.environ[MODEL])
                if name in _WITH_LIBRARIES:
                    importlib.import_module("warpglass.libraries").activate(device)
        return None


def wanted() -> bool:
    """Whether this process, or one that started it, asks for the device."""
    return bool(os.environ.get(MODEL))


def active_device() -> VirtualDevice | None:
    """The device, if something has asked for it in this process."""
    activation = sys.modules.get(f"{__package__}.activation")
    return None if activation is None else activation.active_device()


def install() -> None:
    """Wait for the first import of such a package, if this process runs under `warpglass run`."""
    if wanted():
        watch_imports()


def watch_imports() -> None:
    """Look at each import of such a package."""
    if not any(isinstance(one, _Hook) for one in sys.meta_path):
        sys.meta_path.insert(0, _Hook())
        extension_modules.watch(MODEL)


@contextmanager
def lent(model: str) -> Iterator[None]:
    """Let this process and all that it starts find the device for a while, and no other.

    Once something has asked for it, this process keeps it.
    """
    before = os.environ.copy()
    os.environ[OWN_DEVICE] = "cpu"
    spread(model)
    try:
        yield
    finally:
        sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Hook)]
        extension_modules.ignore()
        for name in (MODEL, OWN_DEVICE, "PYTHONPATH", NVCC_FLAGS):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]


def variables(model: str, before: Mapping[str, str]) -> dict[str, str]:
    """The variables under which a process, and all that it starts, finds the device."""
    folders = before.get("PYTHONPATH", "").split(os.pathsep)
    if _STARTUP not in folders:
        folders = [_STARTUP, *filter(None, folders)]
    flags = before.get(NVCC_FLAGS, "").split()
    return {
        LOW_OCCUPANCY: "0",
        **{name: value for name, value in before.items() if name != SIMULATOR},
        MODEL: model,
        "PYTHONPATH": os.pathsep.join(folders),
        NVCC_FLAGS: " ".join(flags if KEEP_PTX in flags else [*flags, KEEP_PTX]),
    }


def spread(model: str, *, late: bool = False) -> None:
    """Let this process and all that it starts find the device; explain what stands in the way.

    With `late`, where others may have imported something that has found no device: raises ArgumentError then.
    """
    if late:
        refuse_imported()
    explain_simulator()
    os.environ.update(variables(model, os.environ))
    os.environ.pop(SIMULATOR, None)
    install()


def explain_simulator() -> None:
    """Say that numba's simulator is not used, if it is asked for."""
    if os.environ.get(SIMULATOR, "0") not in ("", "0"):
        sys.stderr.write(
            f"warpglass: {SIMULATOR} is set; it is ignored, since warpglass takes the simulator's place: the "
            "program is compiled by numba's real compiler and runs on the engine\n"
        )
