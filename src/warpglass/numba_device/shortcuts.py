"""What C gets from the virtual device without Python: answers that are known, launches that repeat.

A package's launch asks the driver a few questions first, the same ones each time, and a call from C to Python
takes microseconds. So some answers are remembered until a call changes something, and a short launch that is
made a third time, with other parameters at most, is run by machine code at once (shortcut_code.py). Whatever
is not in the tables goes to the functions in Python.

Belongs here: what is put into the tables, and when it no longer holds.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..codegen import MachineCode
from ..engine.cpu.own_code import own_code
from ..engine.cpu.replay import Replay
from ..engine.launch.backend import Dim3
from .shortcut_code import addresses, module
from .shortcut_interrupts import hears_interrupts
from .shortcut_runtime import FUNCTIONS
from .shortcut_tables import (
    ANSWER_WORDS,
    ANSWERS,
    RECORD,
    RECORD_AT,
    RECORDS,
    STATE,
    STATE_AT,
    STAYS,
    Remembered,
)

# Functions whose answers hold until something changes.
REMEMBERED = (
    Remembered("cuCtxGetCurrent", (), 64),
    Remembered("cuCtxGetDevice", (), 32),
    Remembered("cuKernelGetFunction", ("i64",), 64),
    Remembered("cuFuncGetAttribute", ("i32", "i64"), 32),
)
_NUMBERS = {one.name: number for number, one in enumerate(REMEMBERED)}
_LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx")
_WIDTHS = {32: ctypes.c_uint32, 64: ctypes.c_uint64}
# Nanoseconds of a launch's runs after which Python looks at it again, so that its code may be optimised.
_MOST = 20_000_000
_WORD = (1 << 64) - 1

LaunchKey = tuple[int, Dim3, Dim3, int, int]  # function, grid, block, shared memory, stream
_Seen = tuple[LaunchKey, int, int, int]  # a launch: key, version, layout, thread


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A launch that machine code can make, with offset and size of each parameter, and the size of all.

    `failed` is called with the code that the kernel has ended with, and its parameters, when it ends early;
    with BEGUN and the number of blocks that have run when it takes long.
    """

    replay: Replay
    places: Sequence[tuple[int, int]]
    size: int
    failed: Callable[[int, bytes], int]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is in a place of the table, and must live as long."""

    launch: Repeatable
    key: LaunchKey
    serial: int
    pairs: Any


class Shortcuts:
    """The tables of the process; its one device fills them."""

    def __init__(self) -> None:
        self._machine = MachineCode(own_code(module(REMEMBERED)))
        names = addresses(REMEMBERED)
        found = (ctypes.c_uint64 * len(names))()
        self._machine.run(ctypes.addressof(found))
        self._addresses = dict(zip(names, found, strict=True))
        words = len(STATE) + len(REMEMBERED)
        self._state = (ctypes.c_uint64 * words).from_address(self._addresses["state"])
        # `change` forgets all, because something changes, `move` launches, because memory comes or goes; both
        # return when no launch is under way in machine code.
        self.change, self.move = map(self._function, ("change", "move"))
        self.enter, self.leave = map(self._function, ("enter", "leave"))
        self._publish, self._answer = self._function("publish"), self._function("answer")
        self._told = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int64)(self._tell)
        library = ctypes.CDLL(None)
        for name, function in (
            ("thread", library.pthread_self),
            ("clock", library.clock_gettime),
            ("give_way", library.sched_yield),
            ("sigaction", library.sigaction),
            ("failed", self._told),
        ):
            self._state[STATE_AT[name]] = _address(function)
        self._functions: list[Mapping[str, Any]] = []
        self._serials = itertools.count(1)
        self._kept: dict[int, _Kept] = {}
        self._before: dict[int, _Kept] = {}  # what each has replaced: its last launch may be about to fail
        self._putting = threading.Lock()
        self._seen: dict[int, _Seen] = {}  # the last launches

    def _function(self, name: str) -> Callable[..., None]:
        kinds = (ctypes.c_uint64, ctypes.c_uint64) if name in ("publish", "answer") else ()
        return ctypes.CFUNCTYPE(None, *kinds)(self._addresses[name])

    def lead(self, functions: Mapping[str, Any]) -> dict[str, Any]:
        """What C is to call instead of these functions in Python; they get what is not known."""
        self._functions.append(functions)  # they live as long as their addresses are in the table
        led = [name for name in (*_LAUNCHES, *_NUMBERS, *FUNCTIONS) if name in functions]
        for name in led:
            number = _NUMBERS.get(name)
            place = STATE_AT[name] if number is None else STATE_AT["functions"] + number
            self._state[place] = _address(functions[name])
        return {**functions, **{name: ctypes.c_void_p(self._addresses[name]) for name in led}}

    def set_wrong(self, wrong: bool) -> None:
        """Say whether the runtime has an error to tell of."""
        self._state[STATE_AT["wrong"]] = int(wrong)

    @property
    def _version(self) -> int:
        return self._state[STATE_AT["version"]]

    @property
    def _layout(self) -> int:
        return self._state[STATE_AT["layout"]]

    # ------------------------------------------------------------------------------------ what changes
    def after_fork(self) -> None:
        """Forget all, and threads that are no more."""
        for name in ("busy", "slow"):
            self._state[STATE_AT[name]] = 0
        self._state[STATE_AT["version"]] += 1

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let Python make a launch: none is made by machine code meanwhile."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def hears_interrupts(self) -> bool:
        """Let Ctrl-C end launches of machine code in the calling thread; whether it can."""
        return hears_interrupts(self._state, self._addresses["interrupted"])

    # ------------------------------------------------------------------------------------ answers
    def remember(self, name: str, arguments: Sequence[int]) -> None:
        """Keep what a function has just written to where its first argument says, if its answers are kept."""
        number = _NUMBERS.get(name)
        if number is None or not arguments[0]:
            return
        value = _WIDTHS[REMEMBERED[number].bits].from_address(arguments[0]).value
        one, two = (*arguments[1:], 0, 0)[:2]
        mixed = (one * 31 + two) & _WORD
        index = ((mixed ^ mixed >> 9) + number) % ANSWERS
        words = (number + 1, one, two, threading.get_ident(), self._version, value)
        buffer = (ctypes.c_uint64 * ANSWER_WORDS)(*words)  # the name keeps it alive
        self._answer(index, ctypes.addressof(buffer))

    # ------------------------------------------------------------------------------------ launches
    def offer(self, key: LaunchKey, make: Callable[[], Repeatable | None]) -> None:
        """Note a launch that Python has just made; the second time in a row it is put into the table."""
        index = _record_of(key)
        kept = self._kept.get(index)
        if kept is not None and kept.key == key:  # it was put there and came to an end
            kept.launch.replay.spend(1e-9 * self._word(index, "spent"))
        seen = key, self._version, self._layout, threading.get_ident()
        if self._seen.get(index) != seen:
            self._seen[index] = seen
            return
        launch = make()
        if launch is not None:
            pairs = (ctypes.c_uint64 * (2 * len(launch.places)))()
            for number, (offset, size) in enumerate(launch.places):
                stays = STAYS if offset in launch.replay.fixed else 0
                pairs[2 * number], pairs[2 * number + 1] = offset, size | stays
            self._put(index, seen, _Kept(launch, key, next(self._serials), pairs))

    def _put(self, index: int, seen: _Seen, kept: _Kept) -> None:
        (function, grid, block, shared, stream), version, layout, thread = seen
        replay = kept.launch.replay
        words = {
            "function": function,
            "grid_xy": grid[0] | grid[1] << 32,
            "grid_z_block_x": grid[2] | block[0] << 32,
            "block_yz": block[1] | block[2] << 32,
            "shared": shared,
            "stream": stream,
            "thread": thread,
            "version": version,
            "layout": layout,
            "code": replay.code.address,
            "context": replay.worker.address,
            "context_from": replay.context.ctypes.data,
            "context_words": len(replay.context),
            "control": replay.control,
            "control_from": replay.control_words.ctypes.data,
            "control_words": len(replay.control_words),
            "parameters": replay.parameters,
            "places": ctypes.addressof(kept.pairs),
            "count": len(kept.launch.places),
            "spent": 0,
            "most": _MOST,
            "serial": kept.serial,
            "blocks": replay.blocks,
            "slice": replay.slice,
            "stop": replay.stop,
        }
        buffer = (ctypes.c_uint64 * len(RECORD))(*(words[name] for name in RECORD))
        with self._putting:  # the table and what is kept for it change together
            self._publish(index, ctypes.addressof(buffer))
            if index in self._kept:
                self._before[index] = self._kept[index]
            self._kept[index] = kept

    def _word(self, index: int, name: str) -> int:
        place = self._addresses["records"] + 8 * (index * len(RECORD) + RECORD_AT[name])
        return ctypes.c_uint64.from_address(place).value

    def _tell(self, serial: int, code: int) -> int:
        known = (*self._kept.values(), *self._before.values())
        kept = next(one for one in known if one.serial == serial)
        return kept.launch.failed(code, ctypes.string_at(kept.launch.replay.parameters, kept.launch.size))


def _record_of(key: LaunchKey) -> int:
    """A launch's place in the table, as machine code finds it."""
    function, grid, block, _, stream = key
    mixed = (function >> 4) + 31 * (grid[0] | grid[1] << 32) + 7 * (grid[2] | block[0] << 32)
    mixed = mixed + 13 * (stream >> 4) & _WORD
    return (mixed ^ mixed >> 32) % RECORDS


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
