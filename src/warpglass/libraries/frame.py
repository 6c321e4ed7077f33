"""How a function of a virtual library is written: one Python function for all element types.

A row is a Python function with the C name in its decorator; `{T}` stands for the letter of an element type
and makes one C function of each. Annotations say how C passes the parameters (`_PASSED`); the first
parameter is the Session, which has the device's memory, and the second the handle, if there is one.

    @CUBLAS.row("cublas{T}scal_v2", "S D C Z")
    def scal(s: Session, handle: Handle, n: Count, alpha: Address, x: Device, incx: Count) -> None: ...

It returns None for success and raises Failed for any other status. Functions of NVIDIA's library that have no
row answer that they are not supported, and say their name once.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..numba_device.device import VirtualDevice
from ..numba_device.graphs import Call, Kind
from ..numba_device.results import Refusal
from ..numba_device.stream_calls import Stream, stream_of
from .memory import Memory

# How C passes a parameter. A Device is a pointer to memory of the device, an Address one that may be of the
# host; a Count is an int, or 64 bits wide in functions whose names end in _64.
Handle = Address = Device = Count = Int = UInt = Int64 = Size = int
Single = Double = float
_PASSED: dict[str, Any] = {
    "Handle": ctypes.c_uint64,
    "Address": ctypes.c_uint64,
    "Device": ctypes.c_uint64,
    "Count": ctypes.c_int32,
    "Int": ctypes.c_int32,
    "UInt": ctypes.c_uint32,
    "Int64": ctypes.c_int64,
    "Size": ctypes.c_uint64,
    "Byte": ctypes.c_int8,
    "Single": ctypes.c_float,
    "Double": ctypes.c_double,
}
# Element types by the letter in a function's name: what they are, and what their absolute values are.
ELEMENTS = {
    "H": np.dtype("f2"),
    "S": np.dtype("f4"),
    "D": np.dtype("f8"),
    "C": np.dtype("c8"),
    "Z": np.dtype("c16"),
}
Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
T = TypeVar("T")


class Failed(Exception):
    """A call fails with this status of its library; the text is for the user."""

    def __init__(self, status: int, text: str = ""):
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Statuses:
    """What a library returns for what can go wrong everywhere."""

    not_initialized: int
    invalid_value: int
    internal_error: int
    not_supported: int


class Session:
    """One library on one device, as functions see it, with the element type that is called for."""

    def __init__(self, library: Library, device: VirtualDevice, letter: str = ""):
        self.library = library
        self.device = device
        self.memory = Memory(device)
        self.letter = letter
        self.element = ELEMENTS.get(letter[:1], np.dtype("V0"))

    def of(self, letter: str) -> Session:
        """The same for another element type."""
        return Session(self.library, self.device, letter)

    @property
    def real(self) -> np.dtype[Any]:
        """The type of absolute values."""
        return self.element.type(0).real.dtype

    @property
    def complex(self) -> bool:
        """Whether the element type is complex."""
        return self.element.kind == "c"

    def add(self, thing: object) -> int:
        """A handle for an object of the library's."""
        cell = (ctypes.c_uint64 * 8)()  # programs may look at what a handle points to
        handle = ctypes.addressof(cell)
        self.library.objects[handle] = thing, cell
        return handle

    def number(self, thing: object) -> int:
        """A handle that is a small number, as some libraries have."""
        handle = next(self.library.numbers)
        self.library.objects[handle] = thing, None
        return handle

    def get(self, handle: int, kind: type[T]) -> T:
        """The object of a handle; raises Failed if there is none of this kind."""
        found = self.library.objects.get(handle, (None,))[0]
        if not isinstance(found, kind):
            statuses = self.library.statuses
            status = statuses.invalid_value if handle else statuses.not_initialized
            raise Failed(status, f"{handle:#x} is no {kind.__name__.lower()}")
        return found

    def enqueue(self, stream: int, work: Callable[[], Any], given: tuple[Any, ...] = ()) -> None:
        """Do work of a stream: now, or with a graph's launch where the stream is captured."""
        captured = _captured(self.device, stream)
        if captured is None:
            work()
        else:
            captured.capture(Call(Kind.EMPTY, lambda device: work(), given))

    def remove(self, handle: int) -> None:
        """Forget an object."""
        self.library.objects.pop(handle, None)


@dataclass(eq=False)
class Context:
    """What a handle of a library stands for; libraries add what else they keep."""

    stream: int = 0
    device_pointers: bool = False  # results and factors lie in memory of the device
    options: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One C function: its name, the Python function and the letter it is called with, and its subject."""

    name: str
    function: Function
    letter: str
    wide: bool  # counts are 64 bits
    section: str
    family: str  # the pattern that made the name, and the letter as it is written in it
    written: str
    given: str = ""  # the kinds of its parameters where the function does not say

    @cached_property
    def words(self) -> list[str]:
        """How its parameters are passed."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return self.given.split() or [str(one.annotation) for one in parameters]

    @property
    def kinds(self) -> list[Any]:
        """The C types of its parameters."""
        wide = {"Count": ctypes.c_int64} if self.wide else {}
        return [wide.get(word) or _PASSED[word] for word in self.words]


class Library:
    """A library of NVIDIA's that is imitated: its functions by C name, and the statuses that they return.

    `name` is NVIDIA's ("cuBLAS"), `file` that of exports/, `sonames` what programs ask for. `told` are called
    after every call with the library's name, the function's and its seconds.
    """

    told: list[Callable[[str, str, float], None]] = []  # noqa: RUF012  # of all libraries

    def __init__(self, name: str, file: str, sonames: tuple[str, ...], statuses: Statuses):
        self.name, self.file, self.sonames, self.statuses = name, file, sonames, statuses
        self.rows: dict[str, Row] = {}
        self.objects: dict[int, tuple[object, Any]] = {}
        self.numbers = count(1)
        self._said: set[tuple[str, str]] = set()

    def row(self, pattern: str, letters: str = "", also: str = "", kinds: str = "") -> Callable[[F], F]:
        """Register a function under every name that a pattern makes; `Sc=C` writes the letter C as Sc.

        `also` are further names of the same function, likewise patterns.
        """

        def register(function: F) -> F:
            section = (sys.modules[function.__module__].__doc__ or "").partition(":")[0].strip()
            for one in (pattern, *also.split()):
                for word in letters.split() or ("",):
                    written, _, letter = word.partition("=")
                    for suffix, wide in (("", False), ("_64", True)):
                        name = one.format(T=written, t=written.lower()) + suffix
                        self.rows[name] = Row(
                            name, function, letter or written, wide, section, one + suffix, written, kinds
                        )
            return function

        return register

    def sizes(self, pattern: str, letters: str, kinds: str, kind: Any = ctypes.c_int32) -> None:
        """Register functions that say how much workspace another takes: 1, since none is used.

        `kinds` are those of their parameters; the one that begins with `>` gets the answer.
        """
        words = kinds.split()
        place = next(number for number, word in enumerate(words) if word.startswith(">"))

        def size(s: Session, *arguments: Any) -> None:
            kind.from_address(arguments[place]).value = 1

        self.row(pattern, letters, kinds=kinds.replace(">", ""))(immediate(size))

    def exported(self) -> tuple[str, ...]:
        """All names that NVIDIA's library exports, and those of other releases that have rows."""
        lines = (Path(__file__).parent / "exports" / f"{self.file}.txt").read_text("utf-8").split()
        return tuple(dict.fromkeys([*lines, *(name for name in self.rows if not name.endswith("_64"))]))

    def callbacks(self, device: VirtualDevice) -> dict[str, Any]:
        """What C can call, by name."""
        return {name: self._callback(device, name) for name in self.exported()}

    def _callback(self, device: VirtualDevice, name: str) -> Any:
        row = self.rows.get(name)
        if row is None:
            return ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: self._missing(name))
        session = Session(self, device, row.letter)
        function = row.function

        def called(*arguments: Any) -> int:
            started = time.perf_counter()
            try:
                device.shortcuts.change()
                device.behind.settle()
                return self._ordered(session, row, arguments) or 0
            except Failed as failed:
                return self._say(name, failed.status, str(failed))
            except Refusal as refusal:
                return self._say(name, self.statuses.invalid_value, str(refusal))
            except Exception:
                sys.stderr.write(f"warpglass: {name} failed, which is a defect of warpglass:\n")
                traceback.print_exc()
                return self.statuses.internal_error
            finally:
                for tell in self.told:
                    tell(self.name, name, time.perf_counter() - started)

        result = (
            ctypes.c_uint64 if inspect.signature(function).return_annotation == "Address" else ctypes.c_int32
        )
        return ctypes.CFUNCTYPE(result, *row.kinds)(called)

    def _ordered(self, session: Session, row: Row, arguments: Any) -> Any:
        """Call a function, or let it wait for a graph's launch where its stream is captured.

        Factors on the host are then those of now.
        """
        function, device = row.function, session.device
        context = self.objects.get(arguments[0], (None,))[0] if arguments else None
        work = isinstance(context, Context) and not getattr(function, "immediate", False)
        stream = _captured(device, context.stream) if work and isinstance(context, Context) else None
        if stream is not None:
            later = session.memory.kept(arguments, [word == "Address" for word in row.words])
            stream.capture(Call(Kind.EMPTY, lambda device: function(session, *later), later))
            return 0
        return function(session, *arguments)

    def _missing(self, name: str) -> int:
        return self._say(name, self.statuses.not_supported, f"the virtual {self.name} has no such function")

    def _say(self, name: str, status: int, text: str) -> int:
        if text and (name, text) not in self._said:
            self._said.add((name, text))
            sys.stdout.flush()
            sys.stderr.write(f"warpglass: {name}: {text}\n")
        return status


def _captured(device: VirtualDevice, handle: int) -> Stream | None:
    """The stream of a handle if it is captured."""
    stream = stream_of(device, handle) if handle else None
    return stream if stream is not None and stream.captured is not None else None


def immediate(function: F) -> F:
    """Say of a function that it does no work of its stream: it is never captured."""
    function.immediate = True  # type: ignore[attr-defined]
    return function


def each(problems: int, *steps: tuple[int, int]) -> Iterator[tuple[int, ...]]:
    """The addresses of each problem of a strided batch, from pairs of first address and step in bytes."""
    for number in range(problems):
        yield tuple(first + number * step for first, step in steps)
