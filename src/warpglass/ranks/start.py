"""Starting ranks: a process or a thread for each, every one with a communicator to the others."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from typing import Any

from ..errors import ArgumentError, WarpglassError
from ..host.cores import core_count
from ..host.processes import end_with_parent, refuse_importing
from .communicator import RankLost
from .nccl import Nccl, check_devices, nccl_binding, use_device
from .pipes import Pipes, connect

Device = int | str  # the number of a GPU, or "cpu"
_CPU = "cpu"


@dataclass(frozen=True)
class _Answer:
    """What became of a rank: what its function returned, or what it raised."""

    value: Any = None
    text: str = ""
    kind: type[WarpglassError] | None = None


def run(
    function: Callable[..., Any],
    devices: Sequence[Device],
    *args: Any,
    processes: bool = True,
    timeout: float | None = None,
) -> list[Any]:
    """Call `function(communicator, *args)` once for each device, all at once, and return what each returned.

    `devices` are numbers of GPUs, which NCCL connects, or "cpu" for each rank that has the engine of this
    machine. Ranks are processes, for which the function must be one that can be imported; otherwise threads
    of this process. If one fails the others are ended, and WarpglassError (ArgumentError, if it was one) says
    which and why; likewise after `timeout` seconds.
    """
    on_cpu = check_ranks(devices)
    if processes:
        refuse_importing("ranks.run")
    size = len(devices)
    ends = connect(size) if on_cpu else [{} for _ in devices]
    begin = _run_processes if processes else _run_threads
    answers = begin(function, devices, args, ends, time.monotonic() + timeout if timeout else None)
    # Where one fails the others miss it: what they say of that matters only if nobody says more.
    failed = [rank for rank, one in enumerate(answers) if one is not None and one.kind is not None]
    failed.sort(key=lambda rank: answers[rank].kind is RankLost)
    if failed:
        first = answers[failed[0]]
        kind = ArgumentError if issubclass(first.kind, ArgumentError) else WarpglassError
        raise kind(f"rank {failed[0]} of {size}: {first.text}")
    missing = [str(rank) for rank, one in enumerate(answers) if one is None]
    if missing:
        raise WarpglassError(f"rank {', '.join(missing)} of {size} did not end within {timeout:g} s")
    return [one.value for one in answers]


def check_ranks(devices: Sequence[Device]) -> bool:
    """Whether the ranks are the engine's; raises ArgumentError for devices that do not go together."""
    if not devices:
        raise ArgumentError("devices is empty; name at least one: 0 or 'cpu'")
    numbers = [one for one in devices if isinstance(one, int)]
    if len(numbers) == len(devices):
        check_devices(numbers)
        return False
    if any(one != _CPU for one in devices):
        raise ArgumentError(f"devices {list(devices)}: either numbers of GPUs, or 'cpu' for every rank")
    return True


def _communicator(rank: int, size: int, ends: Any, device: Device, identity: Any) -> Any:
    if not isinstance(device, int):
        return Pipes(rank, ends)
    use_device(device)
    return Nccl(rank, size, nccl_binding().NcclCommunicator(size, identity, rank))


def _identity(devices: Sequence[Device]) -> Any:
    return None if devices[0] == _CPU else nccl_binding().get_unique_id()


def _answer(function: Callable[..., Any], args: Sequence[Any], communicator: Callable[[], Any]) -> _Answer:
    """Do a rank's work, and say what became of it."""
    made = None
    try:
        made = communicator()
        return _Answer(function(made, *args))
    except WarpglassError as problem:
        kinds = [kind for kind in (RankLost, ArgumentError) if isinstance(problem, kind)]
        return _Answer(text=str(problem), kind=kinds[0] if kinds else WarpglassError)
    except (Exception, SystemExit) as problem:  # it is the user's function
        place = traceback.extract_tb(problem.__traceback__)[-1]
        said = f"{type(problem).__name__}: {problem} ({place.filename}:{place.lineno})"
        return _Answer(text=said, kind=WarpglassError)
    finally:
        if made is not None:
            made.close()


# ---------------------------------------------------------------------------------------- processes
def _run_processes(
    function: Callable[..., Any],
    devices: Sequence[Device],
    args: Sequence[Any],
    ends: Sequence[Any],
    until: float | None,
) -> list[Any]:
    context, size, identity = multiprocessing.get_context("spawn"), len(devices), _identity(devices)
    started: list[Any] = []
    answers: list[Any] = [None] * size
    try:
        waiting: dict[Any, int] = {}
        for rank, device in enumerate(devices):
            ours, theirs = context.Pipe(duplex=False)
            work = partial(_communicator, rank, size, ends[rank], device, identity)
            threads = max(1, core_count() // size)
            process = context.Process(
                target=_process, args=(theirs, function, args, work, threads), daemon=True
            )
            try:
                process.start()
            except (pickle.PicklingError, AttributeError, TypeError) as problem:
                raise ArgumentError(
                    f"ranks that are processes take a function and arguments that can be pickled: {problem}"
                ) from None
            started.append(process)
            theirs.close()
            waiting[ours] = rank
        for one in ends:
            for end in one.values():
                end.close()
        _collect(waiting, answers, started, until)
    finally:
        for process in started:
            process.terminate()
            process.join()
    return answers


def _process(
    answer: Any, function: Callable[..., Any], args: Sequence[Any], communicator: Any, threads: int
) -> None:
    os.environ.setdefault("WARPGLASS_THREADS", str(threads))
    end_with_parent()
    found = _answer(function, args, communicator)
    try:
        answer.send(found)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        answer.send(_Answer(text=f"what it returned cannot be pickled: {problem}", kind=ArgumentError))


def _collect(
    waiting: dict[Any, int], answers: list[Any], started: Sequence[Any], until: float | None
) -> None:
    """Wait for all, or for one that fails on its own account."""
    while waiting:
        rest = None if until is None else max(0.0, until - time.monotonic())
        ready: list[Any] = list(wait(list(waiting), rest))
        if not ready:
            return
        for one in ready:
            rank = waiting.pop(one)
            try:
                answers[rank] = one.recv()
            except EOFError:
                started[rank].join()
                text = f"its process ended with status {started[rank].exitcode}"
                answers[rank] = _Answer(text=text, kind=WarpglassError)
        if any(one is not None and one.kind not in (None, RankLost) for one in answers):
            return


# ---------------------------------------------------------------------------------------- threads
def _run_threads(
    function: Callable[..., Any],
    devices: Sequence[Device],
    args: Sequence[Any],
    ends: Sequence[Any],
    until: float | None,
) -> list[Any]:
    size, identity = len(devices), _identity(devices)
    answers: list[Any] = [None] * size
    made: list[Any] = [None] * size

    def work(rank: int, device: Device) -> None:
        def communicator() -> Any:
            made[rank] = _communicator(rank, size, ends[rank], device, identity)
            return made[rank]

        answers[rank] = _answer(function, args, communicator)
        if answers[rank].kind is not None:
            for one in made:
                if one is not None:
                    one.abort()

    threads = [
        threading.Thread(target=work, args=(rank, device), daemon=True) for rank, device in enumerate(devices)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
    return list(answers)
