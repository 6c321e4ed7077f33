"""The memory of a device that a kernel has broken; both back ends keep one.

CUDA calls an error sticky if it corrupts the context: every later call fails with it until the device is
reset (CUDA Runtime API, cudaErrorIllegalAddress and its like). The engine could go on, but a program that
runs here and fails on a GPU would help nobody, so it behaves the same.
"""

from __future__ import annotations

from ...errors import LaunchError


class StickyState:
    """The first sticky error since the last reset, if there was one."""

    def __init__(self) -> None:
        self._first: LaunchError | None = None

    @property
    def first(self) -> LaunchError | None:
        """The error that broke the device; None while it is usable."""
        return self._first

    def note(self, error: LaunchError) -> None:
        """Remember an error if it is sticky and the first."""
        if error.sticky and self._first is None:
            self._first = error

    def check(self) -> None:
        """Raise if the device is broken: the error of old, now reported by the call itself."""
        first = self._first
        if first is not None:
            raise LaunchError(
                f"{first.cuda_name}: the device refuses all work until it is reset (warpglass.reset), since "
                f"an earlier launch failed: {first}",
                cuda_name=first.cuda_name,
                synchronous=True,
                sticky=True,
            )

    def clear(self) -> None:
        """Forget the error: the device was reset."""
        self._first = None
