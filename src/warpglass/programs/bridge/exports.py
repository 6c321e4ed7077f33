"""The functions that the bridge's libraries export, in the order of their slots."""

from __future__ import annotations

from collections.abc import Sequence

from ...cuda_runtime.exports import RELEASES, exported
from ...numba_device import activation  # noqa: F401  # which fills CALLS
from ...source.cache import digest
from .driver_names import exported as of_driver
from .stubs import Library


def libraries() -> tuple[Library, ...]:
    """The libraries with the functions that they export, in the order of their slots."""
    runtimes = (Library(f"libcudart.so.{release}", exported(release)) for release in RELEASES)
    return Library("libcuda.so.1", of_driver()), *runtimes


def digest_of(found: Sequence[Library]) -> str:
    """What tells these libraries from those of another version."""
    return digest(*(word for one in found for word in (one.soname, *one.names)))[:16]
