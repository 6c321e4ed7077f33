"""Waiting for another thread for a moment without going to sleep.

To wake a sleeping thread takes longer than a small kernel runs (20 to 70 us on a virtual machine). So the
thread that has launched watches a word in memory for a moment, in native code without the GIL, before it
blocks. Workers do not: watching, they got in the launching thread's way and doubled the time of a launch. Nor
does the launching thread where workers need all cores: one of them began when another had ended.
"""

from __future__ import annotations

import platform
import time
from functools import cache

from ...codegen import MachineCode
from ...codegen.machine.jit import compile_ir, load_object
from .worker import aligned

_PAUSE = "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
_YIELD = "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
_HINTS = {"x86_64": _PAUSE, "amd64": _PAUSE, "aarch64": _YIELD, "arm64": _YIELD}  # by platform.machine()
_WATCH = """
{declaration}
define i64 @run(ptr %words) #0 {{
entry:
  %count.p = getelementptr i64, ptr %words, i64 1
  %count = load i64, ptr %count.p
  br label %look
look:
  %left = phi i64 [ %count, %entry ], [ %left.next, %again ]
  %word = load volatile i64, ptr %words
  %rung = icmp ne i64 %word, 0
  br i1 %rung, label %end, label %again
again:
  {hint}
  %left.next = sub i64 %left, 1
  %more = icmp sgt i64 %left.next, 0
  br i1 %more, label %look, label %end
end:
  ret i64 0
}}
"""


class SpinWait:
    """A word that one thread watches for up to `seconds` and another sets."""

    def __init__(self, seconds: float):
        self._code, rate = _watcher()
        self._memory = aligned(128)
        self._words = self._memory.data.cast("B").cast("q")
        self._address: int = self._memory.ctypes.data
        self._words[1] = max(1, int(seconds * rate))

    def clear(self) -> None:
        """Make ready for the next notice."""
        self._words[0] = 0

    def notify(self) -> None:
        """End the waiting, present or next."""
        self._words[0] = 1

    def wait(self) -> None:
        """Return when it is notified, or when the time is up."""
        self._code.run(self._address)


@cache
def _watcher() -> tuple[MachineCode, float]:
    """The watching code, and how often a second it looks."""
    declaration, hint = _HINTS.get(platform.machine().lower(), ("", ""))
    code = load_object(compile_ir(_WATCH.format(declaration=declaration, hint=hint), quick=True))
    looks = 2000
    memory = aligned(128)
    memory.data.cast("B").cast("q")[1] = looks
    begun = time.perf_counter()
    code.run(memory.ctypes.data)
    return code, looks / (time.perf_counter() - begun)
