"""How Ctrl-C ends a launch that machine code makes in a Python program.

Python's handler in C only notes that SIGINT has come, and the one in Python is called when the launch is
over, which may be never. So a handler of machine code is put before it, which sets the launch's stop flag. It
is gone whenever Python is given another handler: machine code asks before each launch whether it is there.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Mapping
from string import Template
from typing import Any

from .shortcut_tables import STATE_AT

_WORDS = 64  # more than a struct sigaction has anywhere; its first word is the handler

# The handler, and whether it is there for a launch that may have to be ended.
_GUARD = """
define internal void @interrupted(i32 %signal, ptr %info, ptr %context) {
entry:
  %stop = call i64 @word(i64 $running)
  %none = icmp eq i64 %stop, 0
  br i1 %none, label %python, label %end
end:
  %stop.p = inttoptr i64 %stop to ptr
  store volatile i64 1, ptr %stop.p
  br label %python
python:
  %address = call i64 @word(i64 $handler)
  %function = inttoptr i64 %address to ptr
  call void %function(i32 %signal, ptr %info, ptr %context)
  ret void
}

define internal void @set_running(i64 %stop) alwaysinline {
  %place = getelementptr i64, ptr @state, i64 $running
  store volatile i64 %stop, ptr %place
  ret void
}

define internal i1 @guard(ptr %record) {
entry:
  %action = alloca [$action x i64], align 16
  %stop = call i64 @field(ptr %record, i64 $stop)
  %none = icmp eq i64 %stop, 0
  br i1 %none, label %fine, label %ask
ask:
  %address = call i64 @word(i64 $sigaction)
  %function = inttoptr i64 %address to ptr
  %ignored = call i32 %function(i32 $SIGINT, ptr null, ptr %action)
  %handler = load ptr, ptr %action
  %ours = icmp eq ptr %handler, @interrupted
  br i1 %ours, label %run, label %other
run:
  call void @set_running(i64 %stop)
  br label %fine
other:
  ret i1 false
fine:
  ret i1 true
}
"""


def guarding(numbers: Mapping[str, object]) -> str:
    """Its code."""
    return Template(_GUARD).substitute(numbers, SIGINT=int(signal.SIGINT), action=_WORDS)


def hears_interrupts(state: Any, interrupted: int) -> bool:
    """Let Ctrl-C end launches of the calling thread's by a handler at an address; whether that can be.

    It can on the main thread, where KeyboardInterrupt is raised, while SIGINT raises that.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    action, sigaction = (ctypes.c_uint64 * _WORDS)(), ctypes.CDLL(None).sigaction
    sigaction(signal.SIGINT, None, action)
    if action[0] != interrupted:
        state[STATE_AT["handler"]], action[0] = action[0], interrupted
        sigaction(signal.SIGINT, action, None)
    return True
