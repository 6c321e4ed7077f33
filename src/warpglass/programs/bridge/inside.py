"""What Python does first in a program's process: it switches the virtual GPU on and fills the bridge's slots.

Runs once, called by bridge.c in the thread that made the program's first CUDA call.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...cuda_runtime import activate, active_runtime, addresses
from ...cuda_runtime.exports import RELEASES
from ...libraries import activate as activate_libraries
from ...numba_device import driver_names, hook
from ...numba_device.activation import active_device, active_library, stand_in_library
from ..records import Wish
from .exports import FIRST, STAND_INS, digest_of, libraries
from .standard_output import share
from .stubs import Library


def fill(slots: int, digest: str, python: int, early: int) -> None:
    """Fill the slots at an address with our functions.

    `digest` tells for which functions the slots are, `python` whether this was a Python process before;
    `early` is where bridge.c has what was registered before.
    """
    found = libraries()
    if digest_of(found) != digest:
        sys.exit("warpglass was replaced by another version while this program was running; start it again")
    if not python:
        share()
    model = os.environ.get(hook.MODEL) or "h100"
    wish = Wish.read()
    if wish is not None and not python:
        from .watching import watch  # detectors and counters, which a plain run does not wait for

        watch(wish, model)
    activate(model)
    _table.slots = (ctypes.c_uint64 * sum(len(one.names) for one in found)).from_address(slots)
    _table.libraries = found
    driver, device = active_library(), active_device()
    assert driver is not None, "the runtime has switched the driver on"
    assert device is not None, "and with it the device"
    device.memory.zeros = not python  # programs that pass their tests on a GPU rely on it unknowingly
    _put(0, driver_names.addresses(driver.address))
    for release, number in zip(RELEASES, range(1, FIRST), strict=True):
        _put(number, addresses(release))
    _register(_Early.from_address(early))


def fill_library(slot: int) -> None:
    """Fill the slots of the library that a slot belongs to, which a program calls for the first time."""
    number = next(n for n in range(len(_table.libraries)) if slot < _table.first(n + 1))
    soname = _table.libraries[number].soname
    device = active_device()
    assert device is not None, "the runtime has switched it on"
    if soname in STAND_INS:
        library = stand_in_library(STAND_INS[soname])
        if library is None:
            sys.exit(f"{soname} is called, and it is not installed: pip install warpglass installs it")
    else:
        library = activate_libraries(device, (soname,))[soname]
    _put(number, {name: library.address(name) or library.closed for name in _table.libraries[number].names})


class _Row(ctypes.Structure):
    """struct registered of bridge.c: something of a fat binary, of the kind with this number."""

    _fields_ = [
        ("handle", ctypes.c_uint64),
        ("kind", ctypes.c_uint64),
        ("host", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
    ]


class _Early(ctypes.Structure):
    """What bridge.c calls `early`."""

    _fields_ = [("rows", ctypes.POINTER(_Row)), ("count", ctypes.c_uint64)]


def _register(early: _Early) -> None:
    """Register what was registered before there was a runtime."""
    runtime = active_runtime()
    assert runtime is not None, "it was switched on"
    known = runtime.registered
    add = (None, known.add_kernel, known.add_variable, known.add_managed)
    for row in early.rows[: early.count]:
        one = add[row.kind]
        if row.handle and one is None:
            known.adopt_binary(row.handle)
        elif row.handle and one is not None:
            one(row.handle, row.host, row.name.decode(errors="replace"))


@dataclass
class _Table:
    """The slots of this process, and whose they are."""

    slots: Any = None
    libraries: tuple[Library, ...] = ()

    def first(self, number: int) -> int:
        """The first slot of a library."""
        return sum(len(one.names) for one in self.libraries[:number])


_table = _Table()


def _put(number: int, known: Mapping[str, int]) -> None:
    """Fill the slots of a library."""
    names, first = _table.libraries[number].names, _table.first(number)
    _table.slots[first : first + len(names)] = [known[name] for name in names]


def leave() -> None:
    """Do what Python does at its end: the process ends by exit()."""
    _release_first_thread()
    with contextlib.suppress(Exception):
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]  # as Py_FinalizeEx does
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _release_first_thread() -> None:
    """Let nobody wait for the thread that Python takes for the main one: the first that made a CUDA call.

    It is the program's, of OpenMP's for instance, and lives on or has ended without Python's knowledge. Until
    Python 3.12 a lock tells of its end.
    """
    first = threading.main_thread()
    lock = getattr(first, "_tstate_lock", None)
    if lock is not None and first is not threading.current_thread():
        threading._shutdown_locks.discard(lock)  # pyright: ignore[reportAttributeAccessIssue]
