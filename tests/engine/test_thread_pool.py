"""The engine's worker threads."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from warpglass.codegen.machine import jit
from warpglass.engine.cpu import crew, thread_pool
from warpglass.engine.cpu.crew import Native
from warpglass.engine.cpu.thread_pool import ThreadPool
from warpglass.host.cores import own_cores

# Writes 64 MiB of stack from its highest page down, as a frame of that size comes into use.
DEEP = """
define i64 @run(ptr %context) #0 {
entry:
  %all = alloca [67108864 x i8], align 64
  br label %page
page:
  %at = phi i64 [ 67104768, %entry ], [ %next, %page ]
  %place = getelementptr i8, ptr %all, i64 %at
  store volatile i64 42, ptr %place
  %next = sub i64 %at, 4096
  %more = icmp sge i64 %next, 0
  br i1 %more, label %page, label %end
end:
  %last = load volatile i64, ptr %all
  ret i64 %last
}
"""


def test_workers_have_stacks_for_long_kernels_and_other_threads_their_usual_ones() -> None:
    code = jit.load_object(jit.compile_ir(DEEP, quick=True))
    before = threading.stack_size()
    codes, late = ThreadPool().run(lambda number: code.run(None), 2, lambda: None, 60)
    assert codes == [42, 42]
    assert not late
    assert threading.stack_size() == before


# Returns its context's first word after it has counted the second up, as a kernel would.
COUNTING = """
define i64 @run(ptr %context) #0 {
  %code = load i64, ptr %context
  %count.p = getelementptr i64, ptr %context, i64 1
  %count = load i64, ptr %count.p
  %more = add i64 %count, 1
  store i64 %more, ptr %count.p
  ret i64 %code
}
"""


class Parts:
    """Parts in machine code, which return `codes` at first and 1 whenever Python goes on with them."""

    def __init__(self, *codes: int):
        self.code = jit.load_object(jit.compile_ir(COUNTING, quick=True))
        self.contexts = np.array([(code, 0) for code in codes], np.int64)
        self.kept = np.array([(code, 40) for code in codes], np.int64)
        self.table = np.zeros((len(codes), 2), np.int64)
        for number, row in enumerate(self.table):
            row[0] = self.contexts[number].ctypes.data
            row[1] = self.kept[number].ctypes.data if number % 2 else 0
        self.went_on: list[tuple[int, int]] = []

    def go_on(self, number: int, code: int) -> int:
        self.went_on.append((number, code))
        return 1

    @property
    def native(self) -> Native:
        return Native(lambda: self.code, self.table.ctypes.data, 2, self.go_on, self)

    @property
    def counts(self) -> list[int]:
        return self.contexts[:, 1].tolist()


@pytest.fixture(params=["in machine code", "in Python"])
def sleeping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where threads sleep: systems without a futex have it in Python."""
    if request.param == "in Python":
        monkeypatch.setattr(crew, "has_futex", lambda: False)
        monkeypatch.setattr(crew, "_syscall", lambda: 0)


@pytest.mark.usefixtures("sleeping")
@pytest.mark.parametrize("joins", [False, True])
@pytest.mark.parametrize("count", [2, 3, 70])
def test_parts_run_in_machine_code_and_go_on_in_python(joins: bool, count: int) -> None:
    pool = ThreadPool()
    parts = Parts(*(5 if number % 3 == 1 else 0 for number in range(count)))
    for turn in range(1, 50):
        codes, late = pool.run(
            lambda number: parts.code.run(int(parts.table[number, 0])),
            count,
            lambda: None,
            60,
            native=parts.native,
            joins=joins,
        )
        assert codes == [1 if number % 3 == 1 else 0 for number in range(count)]
        assert not late
        assert parts.counts == [41 if number % 2 else turn for number in range(count)]
        assert sorted(parts.went_on) == [(number, 5) for number in range(1, count, 3)]
        parts.went_on.clear()
        if turn % 10 == 0:
            time.sleep(0.002)  # they sleep


@pytest.mark.usefixtures("sleeping")
def test_threads_may_change_from_launch_to_launch() -> None:
    pool = ThreadPool()
    for turn in range(200):
        count = 2 + turn * 7 % 5
        job = turn.__add__
        assert pool.run(job, count, lambda: None, 60, joins=turn % 3 == 0) == (
            [turn + number for number in range(count)],
            False,
        )


@pytest.mark.parametrize("brief", [False, True])
def test_the_launching_thread_stays_awake_for_brief_kernels_only(
    monkeypatch: pytest.MonkeyPatch, brief: bool
) -> None:
    monkeypatch.setattr(thread_pool, "spare_cores", lambda: 2)
    awake: list[float] = []
    begins = crew.Crew.begin

    def begin(self: crew.Crew, *rest: Any, **how: Any) -> None:
        awake.append(how["awake"])
        begins(self, *rest, **how)

    monkeypatch.setattr(crew.Crew, "begin", begin)
    assert ThreadPool().run(lambda number: 7, 2, lambda: None, 60, brief=brief) == ([7, 7], False)
    assert (awake[0] > 0) == brief


@pytest.mark.skipif(len(own_cores()) < 2, reason="there is only one core to be on")
def test_a_single_worker_begins_beside_the_launching_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """On its core, and it may leave that once it has run for a while."""
    cores, noticed = own_cores(), list[bool]()
    pool = ThreadPool()
    for core in cores:
        monkeypatch.setattr(thread_pool, "current_core", lambda core=core: core)
        assert pool.run(lambda number: sum(1 << one for one in own_cores()), 1, lambda: None, 60) == (
            [1 << core],
            False,
        )

    def job(number: int) -> int:
        while not noticed:
            time.sleep(0.01)
        return len(own_cores())

    assert pool.run(job, 1, lambda: None, 60, lambda: noticed.append(True)) == ([len(cores)], False)


def test_who_comes_when_all_is_done_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "current_core", lambda: own_cores()[0])  # so each worker has one thread
    pool, starts = ThreadPool(), crew.Crew._start
    with monkeypatch.context() as patched:  # a thread that does not come
        patched.setattr(crew.Crew, "_start", lambda self, index: index or starts(self, index))
        assert pool.run(lambda number: 5, 2, lambda: None, 60, shared=True) == ([5, 0], False)
        parts = Parts(0, 0)
        assert pool.run(abs, 2, lambda: None, 60, shared=True, native=parts.native) == ([0, 0], False)
        assert parts.counts == [1, 0]
    assert pool.run(lambda number: 5, 2, lambda: None, 60) == ([5, 5], False)


def test_the_launching_thread_may_be_a_worker() -> None:
    workers, where = ThreadPool(), dict[int, int]()

    def job(number: int) -> int:
        where[number] = threading.get_ident()
        return -number

    assert workers.run(job, 3, lambda: None, 60, joins=True) == ([0, -1, -2], False)
    assert where[0] == threading.get_ident()
    assert len(set(where.values())) == 3
    assert workers.run(job, 1, lambda: None, 60) == ([0], False)
    assert where[0] != threading.get_ident()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="systems that place threads themselves")
@pytest.mark.parametrize("joins", [False, True])
def test_workers_stay_on_a_core_each_where_all_cores_work(joins: bool) -> None:
    workers, cores = ThreadPool(), own_cores()
    if len(cores) < 2:
        pytest.skip("one core")
    mine = os.sched_getaffinity(0)
    for count in (len(cores), len(cores) - 1, len(cores) + 1):
        where = dict[int, set[int]]()

        def job(number: int, where: dict[int, set[int]] = where) -> int:
            where[number] = os.sched_getaffinity(0)
            return number

        assert workers.run(job, count, lambda: None, 60, joins=joins) == (list(range(count)), False)
        others = [where[number] for number in range(1 if joins else 0, count)]
        if count == len(cores):
            assert all(len(one) == 1 for one in others)
            assert len(set().union(*others)) == len(others)
        elif count > 1:
            assert all(one == mine for one in others)
    assert os.sched_getaffinity(0) == mine


def test_no_worker_waits_for_the_core_of_a_launching_one(monkeypatch: pytest.MonkeyPatch) -> None:
    workers, cores = ThreadPool(), own_cores()
    if len(cores) < 2:
        pytest.skip("one core")
    for core in cores:
        monkeypatch.setattr(thread_pool, "current_core", lambda core=core: core)
        where = dict[int, set[int]]()

        def job(number: int, where: dict[int, set[int]] = where) -> int:
            where[number] = os.sched_getaffinity(0)
            return 0

        workers.run(job, len(cores), lambda: None, 60, joins=True)
        assert set().union(*(where[number] for number in range(1, len(cores)))) == set(cores) - {core}


@pytest.mark.parametrize("joins", [False, True])
def test_a_launch_that_nobody_ended_is_settled(joins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    workers, running = ThreadPool(), threading.Event()
    stopped = threading.Event()

    def job(number: int) -> int:
        running.set()
        stopped.wait(60)
        return 0

    with monkeypatch.context() as patched:  # as if Ctrl-C came in front of the waiting
        patched.setattr(crew.Crew, "join" if joins else "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            workers.run(job, 2, stopped.set, 60, joins=joins)
    assert joins or running.wait(60)
    workers.settle()
    assert workers.run(lambda number: number, 2, lambda: None, 60) == ([0, 1], False)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_a_launching_worker_raises_comes_when_all_have_ended() -> None:
    workers, ended = ThreadPool(), threading.Event()

    def job(number: int) -> int:
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        ended.set()
        return 0

    with pytest.raises(KeyboardInterrupt):
        workers.run(job, 2, lambda: None, 60, joins=True)
    assert ended.is_set()
    workers.settle()
    assert workers.run(lambda number: number, 2, lambda: None, 60, joins=True) == ([0, 1], False)
