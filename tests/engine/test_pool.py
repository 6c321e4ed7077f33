"""The engine's worker threads."""

from __future__ import annotations

import threading

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
