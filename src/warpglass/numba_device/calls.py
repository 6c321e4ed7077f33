"""How a function of a CUDA API is written here, and how C calls it.

A function is a Python function named as in cuda.h, marked with `call`; its first parameter is the device, the
annotations of the others say how C passes them. It returns None for success and raises Refusal for anything
else; one whose result is no status returns it. `Calls` is a table of them, `CALLS` the driver API's.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import traceback
from collections.abc import Callable
from copy import copy
from threading import get_ident
from typing import Any, Protocol, TypeVar

from .behind import Behind, stem_of
from .interrupts import INTERRUPTS
from .results import Refusal, Result
from .shortcuts import Shortcuts

# How C passes a parameter. An Address is a pointer of the host, a Device one of the device; an Ordinal is the
# number of a device, which is checked.
Address = Device = Handle = Size = UInt = Int = Ordinal = Byte = Short = int


_PASSED: dict[str, Any] = {
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

Function = Callable[..., Any]
_Structure = TypeVar("_Structure", bound=type[ctypes.Structure])


def by_value(kind: _Structure) -> _Structure:
    """Let C pass a structure by value where a parameter is annotated with its name."""
    _PASSED[kind.__name__] = kind
    return kind


@by_value
class IpcHandle(ctypes.Structure):
    """CUipcMemHandle."""

    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Target(Protocol):
    """What functions of an API work on, their first argument."""

    @property
    def forked(self) -> bool:
        """Whether the process was forked off one that had begun to use the device."""
        ...

    @property
    def shortcuts(self) -> Shortcuts:
        """What C gets without Python."""
        ...

    @property
    def behind(self) -> Behind:
        """Work that is not done yet."""
        ...

    def check(self) -> None:
        """Raise Refusal if the calling thread has no context, or the device is broken."""
        ...

    def note(self, refusal: Refusal) -> None:
        """Remember that a call has failed."""
        ...


class Call:
    """One function of an API. `anywhere` says that it needs no current context and no healthy device.

    One that is `still` changes nothing that shortcuts depend on (shortcuts.py), and one that `moves` has
    memory come or go and changes nothing else.
    """

    def __init__(self, function: Function, anywhere: bool):
        self.function = function
        self.still = self.moves = False
        self.name = function.__name__
        self.anywhere = anywhere
        signature = inspect.signature(function)
        kinds = [parameter.annotation for parameter in signature.parameters.values()][1:]
        self._ordinals = [place for place, kind in enumerate(kinds) if kind == "Ordinal"]
        result = _PASSED.get(signature.return_annotation, ctypes.c_int32)
        self._prototype = ctypes.CFUNCTYPE(result, *(_PASSED[kind] for kind in kinds))

    def callback(self, target: Target) -> Any:
        """What C can call."""
        answered = self._answering(target)

        def called(*arguments: int) -> int:
            result = answered(arguments)
            if INTERRUPTS.waiting:
                INTERRUPTS.ask()
            return result

        INTERRUPTS.callbacks.add(called.__code__)
        return self._prototype(called)

    def _answering(self, target: Target) -> Callable[[tuple[int, ...]], int]:
        """The function for a device, with the status that C gets."""
        function, anywhere, still, name = self.function, self.anywhere, self.still, self.name
        ordinals = self._ordinals
        shortcuts = target.shortcuts
        change, remember = shortcuts.move if self.moves else shortcuts.change, shortcuts.remember
        behind, stem = target.behind, stem_of(name)

        def answered(arguments: tuple[int, ...]) -> int:
            try:
                get_ident()
            except SystemError as failure:  # C has set an exception that it has yet to raise
                sys.stderr.write(f"warpglass: {name}: {failure.__cause__!r} was set before it, and is lost\n")
            try:
                if target.forked:
                    return Result.NOT_INITIALIZED
                if behind.busy:
                    behind.settle_for(stem)
                if not anywhere:
                    target.check()
                for place in ordinals:
                    if arguments[place] != 0:
                        text = f"there is no device {arguments[place]}: warpglass has one, device 0"
                        raise Refusal(Result.INVALID_DEVICE, text)
                if still:
                    result = function(target, *arguments)
                    remember(name, arguments)
                else:
                    change()
                    try:
                        result = function(target, *arguments)
                    finally:
                        change()
            except Refusal as refusal:
                target.note(refusal)
                return refusal.result
            except KeyboardInterrupt:
                INTERRUPTS.defer()
                return Result.LAUNCH_FAILED
            except Exception:
                sys.stderr.write(f"warpglass: {self.name} failed, which is a defect of warpglass:\n")
                traceback.print_exc()
                return Result.UNKNOWN
            return Result.SUCCESS if result is None else result

        return answered


class Calls(dict[str, Call]):
    """The functions of an API by name, which its methods register."""

    def call(self, function: Function) -> Function:
        """Register a function that needs a context."""
        self[function.__name__] = Call(function, anywhere=False)
        return function

    def call_anywhere(self, function: Function) -> Function:
        """Register a function that works without a context, and on a device that refuses work."""
        self[function.__name__] = Call(function, anywhere=True)
        return function

    def also(self, name: str) -> Callable[[Function], Function]:
        """Give a registered function a second name: that of another call that does the same here."""

        def register(function: Function) -> Function:
            self[name] = copy(self[function.__name__])
            self[name].name = name
            return function

        return register

    def still(self, function: Function) -> Function:
        """Say of a registered function that it changes nothing but memory that there is."""
        self[function.__name__].still = True
        return function

    def moves(self, function: Function) -> Function:
        """Say of a registered function that memory comes or goes by it, and nothing else changes."""
        self[function.__name__].moves = True
        return function


CALLS = Calls()
call, call_anywhere, also = CALLS.call, CALLS.call_anywhere, CALLS.also
still, moves = CALLS.still, CALLS.moves


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
