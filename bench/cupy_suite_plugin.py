"""The part of cupy_suite that runs within pytest: which of CuPy's tests are run, by whom, and what is noted.

Belongs here: what pytest calls. One process collects all tests, which takes a while; processes forked off it
then take groups of neighbouring tests from a common list, so that they share kernels, and a new one takes the
place of one that a test ended. The judge is a single process on a real GPU: it runs the tests that failed on
the engine, as they come.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

SHARE, KEPT, UNTIL = "WARPGLASS_CUPY_SHARE", "WARPGLASS_CUPY_RESULTS", "WARPGLASS_CUPY_UNTIL"
PROCESSES, JUDGED = "WARPGLASS_CUPY_PROCESSES", "WARPGLASS_CUPY_JUDGED"
AGAIN = "WARPGLASS_CUPY_AGAIN"  # set where what has failed is run again, before what has not been run
STARTED, PASSED, FAILED, SKIPPED, UNENDED = "started", "passed", "failed", "skipped", "did not end"
ENDED = ".ended"  # the suffix of a file beside the engine's results, there once nothing more is run
BAD = (FAILED, UNENDED)
UNWANTED = {"slow", "multi_gpu"}  # marks of tests that are left out
LONGEST = 60.0  # seconds that a test may take, by the clock
ROUNDS = 10  # of each of which a tenth of every folder's tests is run, one round after another
BROKEN = 99  # the status of a process that a test left without a usable GPU
LATE = 5.0  # seconds over its time that a test is let go on
GROUP = 8  # neighbouring tests that one process runs
_NUMBER = struct.Struct("i")
_began = [0.0]  # this process's processor time at the start of its test


def name_of(item: Any) -> str:
    """A test's name from the folder on, the same wherever CuPy lies."""
    return str(item.nodeid).rpartition("cupy_tests/")[2]


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of results that are whole."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:  # its process was ended while it wrote
                continue


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The last line of each test, by its name, in the order of these lines."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines_of(path):
        if "outcome" in line:
            found.pop(line["test"], None)
            found[line["test"]] = line
    return found


def ended(path: Path) -> dict[str, dict[str, Any]]:
    """The last line of each test that has ended, or ended its process."""
    return {name: one for name, one in read(path).items() if one["outcome"] != STARTED}


def place(name: str) -> float:
    """A test's place from 0 to 1 in the order in which tests are taken: by chance, the same everywhere."""
    return zlib.crc32(name.encode()) / 2**32


def groups(names: Sequence[str], first: Collection[str]) -> list[list[int]]:
    """The tests' numbers in the order in which they are run, those of one file together in small groups."""
    found: list[list[int]] = []
    turns = [0 if name in first else 1 + int(place(name) * ROUNDS) for name in names]
    for turn in range(ROUNDS + 1):
        files: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            if turns[number] == turn:
                files.setdefault(name.partition("::")[0], []).append(number)
        new = [one[at : at + GROUP] for one in files.values() for at in range(0, len(one), GROUP)]
        random.Random(turn).shuffle(new)
        found += new
    return found


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Note how many there are, keep what is chosen and has not been run."""
    wanted = [one for one in items if UNWANTED.isdisjoint(one.keywords)]
    sizes: dict[str, int] = {}
    for one in wanted:
        folder = name_of(one).partition("_tests/")[0]
        sizes[folder] = sizes.get(folder, 0) + 1
    for folder, size in sizes.items():
        _note({"test": folder, "count": size})
    share, known = float(os.environ.get(SHARE, "1")), ended(Path(os.environ[KEPT]))
    known = {name: one for name, one in known.items() if AGAIN not in os.environ or one["outcome"] not in BAD}
    if JUDGED not in os.environ:
        wanted = [one for one in wanted if place(name_of(one)) < share and name_of(one) not in known]
    items[:] = wanted


def pytest_runtestloop(session: Any) -> bool:
    """Run the tests in this process or in several forked off it, until the time is over."""
    if JUDGED in os.environ:
        _judge(session)
        return True
    order = groups([name_of(one) for one in session.items], set(ended(Path(os.environ[KEPT]))))
    with tempfile.TemporaryFile() as queue:
        queue.write(b"".join(_NUMBER.pack(number) for number in range(len(order))))
        queue.flush()
        queue.seek(0)
        _share_out(session, order, queue.fileno(), int(os.environ.get(PROCESSES, "1")))
    return True


def _over(late: float = 0) -> bool:
    return time.time() > float(os.environ.get(UNTIL, "inf")) + late


def _share_out(session: Any, order: list[list[int]], queue: int, processes: int) -> None:
    """Fork processes that take groups from a file, whose position they share.

    A new one goes on with the rest of the group of one that was lost.
    """
    running: set[int] = set()
    rest: list[int] = []
    while running or not _over():
        while len(running) < processes and not _over():
            child = os.fork()
            if child == 0:
                _work(session, order, queue, rest)
            running.add(child)
            rest = []
        if not running:
            return
        child, status = os.waitpid(-1, os.WNOHANG)
        if child not in running:
            time.sleep(0.02)
            if _over(LATE):
                for one in running:
                    os.kill(one, signal.SIGKILL)
                return
            continue
        running.discard(child)
        if status == 0:
            processes -= 1  # nothing is left to be done
        else:
            rest = _lost(session, order, child, status)


def _work(session: Any, order: list[list[int]], queue: int, rest: Sequence[int]) -> None:
    """What a forked process does: the rest of another's group, then groups of its own."""
    sys.stdout.flush()
    _fresh_device()
    while True:
        for number in rest:
            if _over():
                os._exit(0)
            _run(session, session.items[number])
        taken = os.read(queue, _NUMBER.size)
        if not taken:
            os._exit(0)
        rest = order[_NUMBER.unpack(taken)[0]]


def _fresh_device() -> None:
    """Let a forked process use the virtual GPU: collecting tests has asked no more of it than what it is."""
    hook = sys.modules.get("warpglass.numba_device.hook")
    device = hook.active_device() if hook else None
    if device is not None and device.forked:
        device._forked = False


def _lost(session: Any, order: list[list[int]], child: int, status: int) -> list[int]:
    """Note the test in which a process ended; what it had still to do of its group."""
    code = os.waitstatus_to_exitcode(status)
    last = None
    for one in read(Path(os.environ[KEPT])).values():
        last = one if one.get("process") == child else last
    if last is None:
        return []
    name = last["test"]
    if last["outcome"] == STARTED:
        took = f"took more than {LONGEST:g} s"
        why = took if code == -signal.SIGALRM else f"its process ended with {code}"
        note(Path(os.environ[KEPT]), {"test": name, "outcome": UNENDED, "why": why, "process": child})
    number = next(n for n, item in enumerate(session.items) if name_of(item) == name)
    group = next(one for one in order if number in one)
    return group[group.index(number) + 1 :]


def _run(session: Any, item: Any) -> None:
    """Run a test; end the process if what has failed leaves the GPU in error."""
    before = session.testsfailed
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    if session.testsfailed > before:
        runtime = sys.modules["cupy"].cuda.runtime
        try:
            runtime.deviceSynchronize()
        except runtime.CUDARuntimeError:
            os._exit(BROKEN)


def _judge(session: Any) -> None:
    """Run what has failed on the engine, as long as something may still fail there."""
    items = {name_of(one): one for one in session.items}
    failures, done = Path(os.environ[JUDGED]), set(read(Path(os.environ[KEPT])))
    last = False
    while not last:
        last = failures.with_suffix(ENDED).exists()
        for name, one in ended(failures).items():
            if _over():
                return
            if one["outcome"] in BAD and name in items and name not in done:
                done.add(name)
                _run(session, items[name])
        time.sleep(0.5)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: Any) -> None:
    """Note that a test begins, and end it, with its process, if it takes too long."""
    _began[:] = [time.process_time()]
    _note({"test": name_of(item), "outcome": STARTED, "process": os.getpid()})
    signal.setitimer(signal.ITIMER_REAL, LONGEST)


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Note what became of a test."""
    if call.excinfo is None:
        outcome, why = PASSED, ""
    elif call.excinfo.typename == "Skipped":
        outcome, why = SKIPPED, str(call.excinfo.value)
    else:
        outcome, why = FAILED, f"{call.excinfo.typename}: {call.excinfo.value}"
    if item.get_closest_marker("xfail") is not None and outcome == FAILED:
        outcome = SKIPPED
    if call.when == "call" or outcome != PASSED:
        note = {"test": name_of(item), "outcome": outcome, "why": why[:2000]}
        if outcome == FAILED:
            note["where"] = _where(call.excinfo)
        took = {"seconds": round(call.duration, 3), "processor": round(time.process_time() - _began[-1], 3)}
        _note({**note, **took, "process": os.getpid()})
    if call.when == "teardown":
        signal.setitimer(signal.ITIMER_REAL, 0)


def _note(line: dict[str, Any]) -> None:
    note(Path(os.environ[KEPT]), line)


def _where(excinfo: Any) -> str:
    """The last places of a failure, for who looks for its cause."""
    return " < ".join(f"{one.path}:{one.lineno + 1}" for one in reversed(excinfo.traceback[-6:]))


def note(kept: Path, line: dict[str, Any]) -> None:
    """Add a line to the results, in one call: those of several processes do not mix."""
    text = (json.dumps(line) + "\n").encode()
    file = os.open(kept, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, text)
    os.close(file)
