"""The engine's worker threads."""

from __future__ import annotations

import threading
import time

import pytest

from warpglass.codegen import jit
from warpglass.engine import pool
from warpglass.engine.pool import Pool

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
    codes, late = Pool().run(lambda number: code.run(None), 2, lambda: None, 60)
    assert codes == [42, 42]
    assert not late
    assert threading.stack_size() == before


def test_the_launching_thread_stays_awake_for_brief_kernels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[int] = []
    monkeypatch.setattr(pool, "spare_cores", lambda: 1)
    monkeypatch.setattr(pool.Doorbell, "watch", lambda bell: watched.append(1))
    one = pool.Pool()
    for _ in range(5):
        assert one.run(lambda number: 7, 1, lambda: None, 60, brief=False) == ([7], False)
    assert not watched
    for _ in range(50):
        one.run(lambda number: 0, 1, lambda: None, 60)
    assert watched


def test_the_launching_thread_may_be_a_worker() -> None:
    workers, where = Pool(), dict[int, int]()

    def job(number: int) -> int:
        where[number] = threading.get_ident()
        return -number

    assert workers.run(job, 3, lambda: None, 60, joins=True) == ([0, -1, -2], False)
    assert where[0] == threading.get_ident()
    assert len(set(where.values())) == 3
    assert workers.run(job, 1, lambda: None, 60) == ([0], False)
    assert where[0] != threading.get_ident()


def test_what_a_launching_worker_raises_comes_when_all_have_ended() -> None:
    workers, ended = Pool(), threading.Event()

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
