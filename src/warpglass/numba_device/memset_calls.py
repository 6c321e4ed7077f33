"""Functions of the driver API that fill rows of memory (cuMemsetD2D*), and the work of memset nodes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calls import Byte, Device, Short, Size, UInt, call, still
from .device import VirtualDevice
from .graphs import Kind
from .memory_calls import place_of
from .results import Refusal, Result
from .stream_calls import and_async


@dataclass(frozen=True, slots=True)
class Fill:
    """Rows of `width` elements of `element` bytes that become `value`, `pitch` bytes apart."""

    target: int
    pitch: int
    value: int
    element: int
    width: int
    height: int

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.MEMSET

    def run(self, device: VirtualDevice) -> None:
        """Fill them."""
        row = self.width * self.element
        pitch = self.pitch if self.height > 1 else row
        if self.element not in (1, 2, 4) or self.target % self.element or pitch % self.element:
            text = f"elements of {self.element} bytes at {self.target:#x}, rows {pitch} bytes apart"
            raise Refusal(Result.INVALID_VALUE, text)
        if row > pitch:
            raise Refusal(Result.INVALID_VALUE, f"rows of {row} bytes, {pitch} bytes apart, overlap")
        if not row or not self.height:
            return
        size = pitch * (self.height - 1) + row
        memory: Any = (ctypes.c_uint8 * size).from_address(place_of(device, self.target, size))
        values = np.frombuffer(memory, f"u{self.element}")
        strides = pitch, self.element
        rows = np.lib.stride_tricks.as_strided(values, (self.height, self.width), strides)
        rows[:] = self.value & ((1 << 8 * self.element) - 1)
        for number in range(self.height) if device.memory.watched else ():
            device.memory.define(self.target + number * pitch, row)


@and_async
@still
@call
def cuMemsetD2D8(
    device: VirtualDevice, target: Device, pitch: Size, value: Byte, width: Size, height: Size
) -> None:
    Fill(target, pitch, value, 1, width, height).run(device)


@and_async
@still
@call
def cuMemsetD2D16(
    device: VirtualDevice, target: Device, pitch: Size, value: Short, width: Size, height: Size
) -> None:
    Fill(target, pitch, value, 2, width, height).run(device)


@and_async
@still
@call
def cuMemsetD2D32(
    device: VirtualDevice, target: Device, pitch: Size, value: UInt, width: Size, height: Size
) -> None:
    Fill(target, pitch, value, 4, width, height).run(device)
