"""The engine's worker threads."""

from __future__ import annotations

import os
import threading
import time

import pytest

from warpglass.codegen.machine import jit
from warpglass.engine.cpu import thread_pool
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


def test_the_launching_thread_stays_awake_for_brief_kernels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[int] = []
    monkeypatch.setattr(thread_pool, "spare_cores", lambda: 2)
    monkeypatch.setattr(thread_pool.SpinWait, "wait", lambda spin: watched.append(1))
    two = thread_pool.ThreadPool()
    for _ in range(5):
        assert two.run(lambda number: 7, 2, lambda: None, 60, brief=False) == ([7, 7], False)
    assert not watched
    for _ in range(50):
        two.run(lambda number: 0, 2, lambda: None, 60)
    assert watched


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
    """A worker that another launch keeps from its start has nothing left to do."""
    monkeypatch.setattr(thread_pool, "current_core", lambda: 0)  # so each worker has one thread
    pool, held, done = ThreadPool(), threading.Event(), list[int]()
    assert pool.run(lambda number: number, 2, lambda: None, 60)[0] == [0, 1]  # there are threads
    busy = [inbox for inbox, _ in pool._assign(2, 0)][1]
    keeper = thread_pool.Flight(1, lambda number: held.wait(30) * 0, lambda: None, None, [], shared=False)
    busy.put((keeper, 0))

    def job(number: int) -> int:
        done.append(number)
        return 5

    assert pool.run(job, 2, lambda: None, 60, shared=True) == ([5, 0], False)
    held.set()
    assert pool.run(job, 2, lambda: None, 60) == ([5, 5], False)
    assert done == [0, 0, 1] or done == [0, 1, 0]


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
        patched.setattr(thread_pool.Flight, "wait", interrupted)
        if joins:
            begins = thread_pool.Flight.work
            patched.setattr(
                thread_pool.Flight,
                "work",
                lambda one, number: begins(one, number) if number else interrupted(),
            )
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
