"""The functions that the bridge's libraries export, in the order of their slots."""

from __future__ import annotations

from collections.abc import Sequence

from ...cuda_runtime.exports import RELEASES, exported
from ...libraries import LIBRARIES as VIRTUAL
from ...numba_device import activation  # noqa: F401  # which fills CALLS
from ...numba_device.compiler import NAMES as NVRTC_NAMES
from ...numba_device.driver_names import exported as of_driver
from ...numba_device.linker import NAMES as NVJITLINK_NAMES
from ...source.cache import digest
from .stubs import DRIVER, Library

# NVIDIA's own, before which ours stand: what programs call, by the library's name.
_STAND_INS = {"nvrtc": NVRTC_NAMES, "nvJitLink": NVJITLINK_NAMES}
STAND_INS = {f"lib{name}.so.13": name for name in _STAND_INS}  # those names by soname
FIRST = 1 + len(RELEASES)  # of the libraries: what is there as soon as a program calls one of them


def libraries() -> tuple[Library, ...]:
    """The libraries with the functions that they export, in the order of their slots."""
    runtimes = (Library(f"libcudart.so.{release}", exported(release)) for release in RELEASES)
    virtual = [(soname, one.exported()) for one in VIRTUAL for soname in one.sonames]
    others = (Library(soname, names) for soname, names in sorted(virtual))  # newer ones come last
    stand_ins = (Library(soname, _STAND_INS[name]) for soname, name in STAND_INS.items())
    return Library(DRIVER, of_driver()), *runtimes, *stand_ins, *others


def digest_of(found: Sequence[Library]) -> str:
    """What tells these libraries from those of another version."""
    return digest(*(word for one in found for word in (one.soname, *one.names)))[:16]
