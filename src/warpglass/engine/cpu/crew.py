"""Worker threads that wait in machine code, and the launch that they are at.

Belongs here: starting threads, handing them the parts of a launch, doing what of these is left to Python, and
waiting for the end. What machine code does, and the words that it shares with this file, are in crew_code.py.
Which threads a launch gets is decided in thread_pool.py.
"""

from __future__ import annotations

import ctypes
import queue
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from ...codegen import MachineCode
from ...codegen.context import OK
from ...host.cores import stay_on
from .crew_code import BOARD, FUNCTIONS, IDLE, LINE, OPEN, RING, THREAD, has_futex, module
from .guard import GUARD
from .own_code import own_code
from .worker import aligned

Job = Callable[[int], int]

# Once a part has failed, how long the others may finish blocks that come before the faulting one.
_GRACE = 1.0
# Seconds after which a kernel that is under way is hot: about what optimising its code takes.
LONG_KERNEL = 0.05
LONGEST = 1e6  # seconds; what lock timeouts of all platforms can represent
# Bytes of a worker's stack, which cost nothing until they are used. Quick code keeps most values of a long
# kernel there: 6 KiB for each of its instructions have been seen, and a thread has 8 MiB of its own accord.
_STACK = 256 << 20
_JOB = struct.Struct("=9q")  # the words of the board from "code" on
_LOOKS, _TIMES = 500, 3  # to find out how long one takes


@dataclass(slots=True)
class Native:
    """What the parts of a launch begin with: the `newest` machine code.

    `table` is the address of two words for each part: its context, and what is copied over that first, of
    `words` words, or 0. `goes_on` gets the number of a part and what machine code has returned, if that is
    not OK, and returns what the part has ended with. `keep` is what the addresses lead to.
    """

    newest: Callable[[], MachineCode]
    table: int
    words: int
    goes_on: Callable[[int, int], int]
    keep: object


class Flight:
    """One launch in the air: what its parts do in Python, and whom they tell."""

    def __init__(self, job: Job, native: Native | None, stop: Callable[[], None]):
        """`job` does a part where there is no machine code; `stop` makes all that have begun end soon."""
        self.native = native
        self.code = None if native is None else native.newest()  # the name keeps it alive
        self.errors: list[BaseException] = []
        self.told: queue.SimpleQueue[int] = queue.SimpleQueue()  # that all have ended, or one has failed
        self.stop = stop
        self._job = job

    def do(self, part: int, code: int) -> int:
        """A part, or what machine code, which has returned `code`, has left of it."""
        try:
            if code == OPEN or self.native is None:
                code = self._job(part)
            else:
                code = self.native.goes_on(part, code)
        except BaseException as error:  # the launching thread raises it
            self.errors.append(error)
            code = OK
        if code < 0:
            GUARD.hasten(_GRACE)
            self.told.put(code)
        return code


class Crew:
    """Threads that do the parts of one launch at a time; those of `cores` stay on a core each."""

    def __init__(self, name: str, most: int, cores: Sequence[int] = ()):
        """Up to `most` threads, which are started when they are needed."""
        self._name = name
        self.most = most
        self._cores = cores
        self._threads: dict[int, threading.Thread] = {}
        self._gates: dict[int, threading.Semaphore] = {}  # where they sleep if machine code cannot
        self._flight: Flight | None = None
        self._code = _code()
        self._board = aligned(8 * (BOARD["states"] + LINE * most))
        self._words = self._board.data.cast("B").cast("q")
        self._words[BOARD["syscall"]] = _syscall()
        self._job = self._board.data.cast("B")[8 * BOARD["code"] : 8 * BOARD["code"] + _JOB.size]
        self._address: int = self._board.ctypes.data
        self._me, self._own = self._thread_words(0)  # the launching thread's

    def begin(
        self,
        flight: Flight,
        count: int,
        *,
        here: int = 0,
        joins: bool = False,
        shared: bool = False,
        awake: float = 0,
        lingers: float = 0,
    ) -> None:
        """Hand out the parts of a launch, the first one to the thread `here`, or to nobody if that `joins`.

        If they are `shared`, one ends when there is nothing left: those that have not begun need not. The
        launching thread watches for so many seconds before it sleeps, and the others for the next launch.
        """
        first, native, rate = int(joins), flight.native, looks_a_second()
        threads = [_swapped(part, here) for part in range(first, count)]
        for index in threads:
            if index not in self._threads:
                self._start(index)
        address = 0 if flight.code is None else flight.code.address
        table, words = (0, 0) if native is None else (native.table, native.words)
        looks = int(awake * rate), int(lingers * rate)
        _JOB.pack_into(self._job, 0, address, table, words, first, count, here, shared, *looks)
        self._flight = flight
        self._code.publish(self._me)
        for index in threads if self._gates else ():
            self._gates[index].release()

    def join(self) -> None:
        """Do the first part on the launching thread."""
        assert self._flight is not None, "there is a launch to join"
        self._finish(self._flight.do(0, OPEN))

    def _finish(self, code: int) -> None:
        self._own[THREAD["code"]] = code
        self._code.finish(self._me)

    def wait(self, timeout: float, notice: Callable[[], None] | None = None) -> bool:
        """Wait for the end, stop the launch after `timeout` seconds; returns whether that was necessary.

        `notice` is called once if it takes longer than LONG_KERNEL. Whatever interrupts the waiting (Ctrl-C)
        is raised once all parts have ended: they use the launch's memory.
        """
        flight = self._flight
        assert flight is not None, "there is a launch to wait for"
        begun = time.monotonic()
        deadline = begun + timeout
        alarm = begun + LONG_KERNEL if notice is not None else deadline
        late = False
        interrupt: BaseException | None = None
        while True:
            try:
                if not self._code.watch(self._address):
                    break
                rest = min(alarm, deadline) - time.monotonic()
                if flight.told.get(timeout=min(max(rest, 0.0), LONGEST)) < 0:
                    deadline = min(deadline, time.monotonic() + _GRACE)
            except queue.Empty:
                if notice is not None and alarm < deadline:
                    alarm = deadline + 2 * LONGEST
                    notice()
                    continue
                late = late or interrupt is None
                deadline += LONGEST
                flight.stop()
            except BaseException as error:  # raised below
                interrupt = error
                deadline += LONGEST
                flight.stop()
        for error in (interrupt, *flight.errors):
            if error is not None:
                raise error
        return late

    def codes(self, count: int) -> list[int]:
        """What the parts have ended with."""
        first = BOARD["states"]
        return self._words[first : first + LINE * count : LINE].tolist()

    def rest(self) -> None:
        """Forget the launch, which has ended."""
        self._flight = None

    def settle(self) -> None:
        """End the last launch if an interrupt fell between its start and the end of the waiting for it."""
        flight = self._flight
        if flight is None:
            return
        flight.stop()
        self._code.close(self._address)
        if self._own[THREAD["part"]] >= 0:  # the launching thread's, which is here
            self._finish(OK)
        flight.errors.clear()  # its own launch has raised them
        self.wait(LONGEST)
        self._flight = None

    def native_id(self, index: int) -> int:
        """The system's number of a thread, which is started if there is none."""
        if index not in self._threads:
            self._start(index)
        return self._threads[index].native_id or 0

    def _start(self, index: int) -> None:
        me, words = self._thread_words(index)
        if not has_futex():
            self._gates[index] = threading.Semaphore(0)
        usual = threading.stack_size(_STACK)
        name = f"{self._name}-{self._cores[index] if self._cores else index}"
        thread = threading.Thread(target=self._serve, args=(index, me, words), name=name, daemon=True)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)
        self._threads[index] = thread

    def _serve(self, index: int, me: int, words: memoryview[int]) -> None:
        """Of a thread: wait for launches, and do what machine code leaves to Python."""
        if self._cores:
            stay_on(self._cores[index])
        serve = self._code.serve
        while True:
            part = serve(me)
            flight = self._flight
            if part == IDLE:
                self._gates[index].acquire()
            elif flight is None:  # rung for, but awake already
                pass
            elif part == RING:
                flight.told.put(OK)
            else:
                words[THREAD["code"]] = flight.do(part, words[THREAD["code"]])

    def _thread_words(self, index: int) -> tuple[int, memoryview[int]]:
        """A thread's words, and where they are."""
        memory = aligned(8 * len(THREAD))
        words = memory.data.cast("B").cast("q")
        words[THREAD["board"]], words[THREAD["index"]] = self._address, index
        words[THREAD["seen"]] = self._words[BOARD["launch"]]
        words[THREAD["part"]] = -1
        return memory.ctypes.data, words


def _swapped(number: int, here: int) -> int:
    return {here: 0, 0: here}.get(number, number)


class _Code:
    """FUNCTIONS as Python calls them, without the GIL."""

    def __init__(self) -> None:
        self._linked = own_code(module())
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        found = [kind(self._linked.address(name)) for name in FUNCTIONS]
        self.serve, self.finish, self.close, self.publish, self.watch = found


_code = cache(_Code)


def _syscall() -> int:
    return ctypes.cast(ctypes.CDLL(None).syscall, ctypes.c_void_p).value or 0 if has_futex() else 0


@cache
def looks_a_second() -> float:
    """How often a thread that watches looks."""
    board = aligned(8 * BOARD["states"])
    words = board.data.cast("B").cast("q")
    words[BOARD["pending"]], words[BOARD["awake"]] = 1, _LOOKS
    taken: list[float] = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        _code().watch(board.ctypes.data)
        taken.append(time.perf_counter() - begun)
    return _LOOKS / min(taken)
