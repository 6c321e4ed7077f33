"""Calls of native compilers in a process of their own, so that no text can hang, starve or end this one.

Belongs here: starting such helper processes, their limits (budget.py), and what it means when one ends. A
helper stays for later calls; it costs its start once. What it does is apart_child.py's; the functions that it
calls take and return byte strings.

Helpers end with this process, whatever ends it: they watch their pipe of requests (apart_child.py), whose
other end nobody else holds, forks included. None is waited for at the end of this process. One that has
needed much memory ends after its answer.

Time is limited on every platform, memory and processor time where the system has resource.setrlimit (not
Windows); the latter ends helpers that this process, which watches the clock, cannot. In a Python
without an interpreter to start (sys.executable is empty, as where Python is embedded), calls are made in this
process, without limits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from ..errors import CompileError
from ..host.budget import MEMORY, Limits, compile_limits, in_units, too_slow
from .apart_child import DONE, _function, receive, send

# The status of a helper that has used its processor time, and of those that somebody ends.
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0) or None
_ENDED_BY_OTHERS = {-getattr(signal, name, 0) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")} - {0}
_HEAVY = 512 << 20  # bytes of memory that an idle helper may hold
# Where helpers work, whatever the current directory is.
FOLDER = Path(__file__).resolve().parent
# A program may be made to find a GPU that is not there (numba_device/hook.py); compilers need none.
_NOT_THEIRS = "WARPGLASS_VIRTUAL_GPU"
_CHILD = FOLDER / "apart_child.py"


class FailedApart(Exception):
    """The function raised an exception; `kind` is its class's name."""

    def __init__(self, kind: str, text: str):
        self.kind = kind
        super().__init__(text)


class OverBudget(CompileError):
    """A call took longer than it may or ended its process, as for want of memory."""


class Apart:
    """One function of one file, called in helper processes; several threads get one each."""

    def __init__(self, path: Path, function: str):
        self._target = (str(path), function)
        self._lock = threading.Lock()
        self._idle: list[tuple[Limits, subprocess.Popen[bytes]]] = []
        self._alive: set[subprocess.Popen[bytes]] = set()  # the idle ones and those at work
        if hasattr(os, "register_at_fork"):  # a helper belongs to the process that started it
            os.register_at_fork(after_in_child=self._forget)

    def call(self, what: str, *arguments: bytes, limits: Limits | None = None) -> list[bytes]:
        """Return what the function makes of `arguments`, within `limits` or those of compilers.

        Raises FailedApart for its exceptions, OverBudget if it is stopped at a limit or breaks down, and
        CompileError if somebody else ends its process; `what` names in messages what is compiled.
        """
        limits = limits or compile_limits()
        helper = self._take(limits)
        if helper is None:
            return [bytes(part) for part in _function(*self._target)(*arguments)]
        late = threading.Event()

        def stop() -> None:
            late.set()
            helper.kill()

        timer = threading.Timer(limits.patience, stop)
        timer.daemon = True
        timer.start()
        answer: list[bytes] | None = None
        try:
            answer = self._ask(helper, arguments)
        finally:
            timer.cancel()
            if answer is None or int(answer[1]) > _HEAVY:
                self._end(helper)
            else:
                with self._lock:
                    self._idle.append((limits, helper))
        if answer is None:
            is_slow = late.is_set() or helper.returncode == _OUT_OF_TIME
            raise (
                OverBudget(too_slow(what, limits.seconds).summary) if is_slow else _died(what, helper, limits)
            )
        status, _, *parts = answer
        if status != DONE:
            raise FailedApart(parts[0].decode(), parts[1].decode(errors="replace"))
        return parts

    @staticmethod
    def _ask(helper: subprocess.Popen[bytes], arguments: tuple[bytes, ...]) -> list[bytes] | None:
        assert helper.stdin is not None
        assert helper.stdout is not None
        try:
            send(helper.stdin, list(arguments))
            return receive(helper.stdout)
        except OSError:  # it ended before it had read everything
            return None

    def _take(self, limits: Limits) -> subprocess.Popen[bytes] | None:
        """A helper with these limits that nobody uses, or a new one; None where none can be started."""
        with self._lock:
            while self._idle:
                its_limits, helper = self._idle.pop()
                if its_limits == limits and helper.poll() is None:
                    return helper
                self._end(helper)
        if not sys.executable:
            return None
        folders = [str(Path(folder).absolute()) for folder in sys.path if folder]  # it works elsewhere
        command = [
            sys.executable,
            str(_CHILD),
            *self._target,
            str(limits.memory),
            str(limits.seconds),
            *folders,
        ]
        environment = {name: value for name, value in os.environ.items() if name != _NOT_THEIRS}
        pipe = subprocess.PIPE
        try:
            helper = subprocess.Popen(
                command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=FOLDER
            )
        except OSError as error:
            raise CompileError(f"cannot start the compiler's process: {error.strerror}") from None
        self._alive.add(helper)
        return helper

    def _end(self, helper: subprocess.Popen[bytes]) -> None:
        self._alive.discard(helper)
        helper.kill()
        for stream in (helper.stdin, helper.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # of a message that it never read
                    stream.close()
        helper.wait()

    def _forget(self) -> None:
        """Let go of the pipes in a fork; a thread that is not here may hold the streams' own locks."""
        alive, self._alive, self._idle, self._lock = self._alive, set(), [], threading.Lock()
        nothing = os.open(os.devnull, os.O_RDWR)
        for helper in alive:
            for stream in (helper.stdin, helper.stdout):
                if stream is not None:
                    os.dup2(nothing, stream.fileno(), inheritable=False)
        os.close(nothing)


def _died(what: str, helper: subprocess.Popen[bytes], limits: Limits) -> CompileError:
    kind, memory = (
        CompileError if helper.returncode in _ENDED_BY_OTHERS else OverBudget,
        in_units(limits.memory),
    )
    return kind(
        f"{what}: the compiler broke down (its process ended with status {helper.returncode}); the program "
        f"may need more than the {memory} of memory that it has ({MEMORY}), or nest too deeply"
    )
