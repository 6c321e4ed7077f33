"""How a function of the CUDA driver API is written here, and how C calls it.

A function is a Python function named as in cuda.h, marked with `call`; its first parameter is the device, the
annotations of the others say how C passes them. It returns None for success and raises Refusal for anything
else. `callbacks` makes of all of them what C can call.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import traceback
from collections.abc import Callable
from copy import copy
from threading import get_ident
from typing import Any

from .device import VirtualDevice
from .interrupts import INTERRUPTS
from .results import Refusal, Result

# How C passes a parameter. An Address is a pointer of the host, a Device one of the device; an Ordinal is the
# number of a device, which is checked.
Address = Device = Handle = Size = UInt = Int = Ordinal = Byte = Short = int


class IpcHandle(ctypes.Structure):
    """CUipcMemHandle, which is passed by value."""

    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


_PASSED: dict[str, Any] = {
    "IpcHandle": IpcHandle,
    "Address": ctypes.c_uint64,
    "Device": ctypes.c_uint64,
    "Handle": ctypes.c_uint64,
    "Size": ctypes.c_uint64,
    "UInt": ctypes.c_uint32,
    "Int": ctypes.c_int32,
    "Ordinal": ctypes.c_int32,
    "Byte": ctypes.c_uint8,
    "Short": ctypes.c_uint16,
}

Function = Callable[..., None]


class Call:
    """One function of the API. `anywhere` says that it needs no current context and no healthy device.

    One that is `still` changes nothing that shortcuts depend on (shortcuts.py).
    """

    def __init__(self, function: Function, anywhere: bool):
        self.function = function
        self.still = False
        self.name = function.__name__
        self.anywhere = anywhere
        kinds = [parameter.annotation for parameter in inspect.signature(function).parameters.values()][1:]
        self._ordinals = [place for place, kind in enumerate(kinds) if kind == "Ordinal"]
        self._prototype = ctypes.CFUNCTYPE(ctypes.c_int32, *(_PASSED[kind] for kind in kinds))

    def callback(self, device: VirtualDevice) -> Any:
        """What C can call."""
        answered = self._answering(device)

        def called(*arguments: int) -> int:
            result = answered(arguments)
            if INTERRUPTS.waiting:
                INTERRUPTS.ask()
            return result

        INTERRUPTS.callbacks.add(called.__code__)
        return self._prototype(called)

    def _answering(self, device: VirtualDevice) -> Callable[[tuple[int, ...]], int]:
        """The function for a device, with the status that C gets."""
        function, anywhere, still, name = self.function, self.anywhere, self.still, self.name
        ordinals = self._ordinals
        change, remember = device.shortcuts.change, device.shortcuts.remember

        def answered(arguments: tuple[int, ...]) -> int:
            try:
                get_ident()
            except SystemError as failure:  # C has set an exception that it has yet to raise
                sys.stderr.write(f"warpglass: {name}: {failure.__cause__!r} was set before it, and is lost\n")
            try:
                if device.forked:
                    return Result.NOT_INITIALIZED
                if not anywhere:
                    device.check()
                for place in ordinals:
                    if arguments[place] != 0:
                        text = f"there is no device {arguments[place]}: warpglass has one, device 0"
                        raise Refusal(Result.INVALID_DEVICE, text)
                if still:
                    function(device, *arguments)
                    remember(name, arguments)
                else:
                    change()
                    try:
                        function(device, *arguments)
                    finally:
                        change()
            except Refusal as refusal:
                device.note(refusal)
                return refusal.result
            except KeyboardInterrupt:
                INTERRUPTS.defer()
                return Result.LAUNCH_FAILED
            except Exception:
                sys.stderr.write(f"warpglass: {self.name} failed, which is a defect of warpglass:\n")
                traceback.print_exc()
                return Result.UNKNOWN
            return Result.SUCCESS

        return answered


CALLS: dict[str, Call] = {}


def call(function: Function) -> Function:
    """Register a function that needs a context."""
    CALLS[function.__name__] = Call(function, anywhere=False)
    return function


def call_anywhere(function: Function) -> Function:
    """Register a function that works without a context, and on a device that refuses work."""
    CALLS[function.__name__] = Call(function, anywhere=True)
    return function


def also(name: str) -> Callable[[Function], Function]:
    """Give a registered function a second name: that of another call that does the same here."""

    def register(function: Function) -> Function:
        CALLS[name] = copy(CALLS[function.__name__])
        CALLS[name].name = name
        return function

    return register


def still(function: Function) -> Function:
    """Say of a registered function that it changes nothing but memory that there is."""
    CALLS[function.__name__].still = True
    return function


def put(place: Address, value: int, kind: Any = ctypes.c_uint64) -> None:
    """Write a result where the caller wants it; nowhere if the pointer is null."""
    if place:
        kind.from_address(place).value = value


def put_int(place: Address, value: int) -> None:
    """Likewise for an int."""
    put(place, value, ctypes.c_int32)


def put_text(place: Address, text: bytes, room: int) -> None:
    """Write a C string of at most `room` bytes."""
    content = text[: room - 1] + b"\0"
    ctypes.memmove(place, content, len(content))


def word(place: Address) -> int:
    """The 64-bit word at an address of the host."""
    return ctypes.c_uint64.from_address(place).value


def text_at(place: Address) -> str:
    """The C string at an address of the host."""
    return ctypes.string_at(place).decode(errors="replace")
