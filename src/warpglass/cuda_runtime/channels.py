"""Channel descriptions, by which the runtime names the formats of texels."""

from __future__ import annotations

import ctypes

from ..numba_device.results import Refusal, Result

# cudaChannelFormatKind and bits, by CUarray_format.
_FORMATS = {
    1: (1, 8),
    2: (1, 16),
    3: (1, 32),
    8: (0, 8),
    9: (0, 16),
    10: (0, 32),
    16: (2, 16),
    32: (2, 32),
}
_NUMBERS = {kind: number for number, kind in _FORMATS.items()}


class ChannelDescriptor(ctypes.Structure):
    """cudaChannelFormatDesc: bits of four channels, and what they are."""

    _fields_ = [*((name, ctypes.c_int32) for name in "xyzw"), ("kind", ctypes.c_int32)]

    @property
    def format(self) -> tuple[int, int]:
        """CUarray_format and number of channels. Raises Refusal where there is none such."""
        bits = [one for one in (self.x, self.y, self.z, self.w) if one]
        number = _NUMBERS.get((self.kind, self.x))
        if number is None or len(set(bits)) != 1 or len(bits) not in (1, 2, 4):
            text = f"channels of {self.x}, {self.y}, {self.z} and {self.w} bits of kind {self.kind}"
            raise Refusal(Result.INVALID_VALUE, f"{text}: 1, 2 or 4 of 8, 16 or 32 bits can be had")
        return number, len(bits)


def described(number: int, channels: int) -> ChannelDescriptor:
    """The description of a CUarray_format and a number of channels."""
    kind, bits = _FORMATS[number]
    return ChannelDescriptor(*(bits if k < channels else 0 for k in range(4)), kind)
