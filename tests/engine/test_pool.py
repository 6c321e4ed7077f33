"""The engine's worker threads."""

from __future__ import annotations

import threading

from warpglass.codegen import jit
from warpglass.engine.pool import Pool

# Touches both ends of 64 MiB of stack.
DEEP = """
define i64 @run(ptr %context) #0 {
  %all = alloca [67108864 x i8], align 64
  %end = getelementptr i8, ptr %all, i64 67108863
  store volatile i8 7, ptr %all
  store volatile i8 35, ptr %end
  %a = load volatile i8, ptr %all
  %b = load volatile i8, ptr %end
  %sum = add i8 %a, %b
  %wide = zext i8 %sum to i64
  ret i64 %wide
}
"""


def test_workers_have_stacks_for_long_kernels_and_other_threads_their_usual_ones() -> None:
    code = jit.load_object(jit.compile_ir(DEEP, quick=True))
    before = threading.stack_size()
    codes, late = Pool().run(lambda number: code.run(None), 2, lambda: None, 60)
    assert codes == [42, 42]
    assert not late
    assert threading.stack_size() == before
