"""LLVM IR of what worker threads do between launches: they wait in machine code, without the GIL.

To wake fifteen threads that wait in Python took 0.6 ms: one after the other they need the GIL before they can
let go of it. Here one system call wakes all, and each runs its part and says so without Python.

Belongs here: the words that a launch and its threads share, and the code that works on them. Threads and
launches are made in crew.py.

How it works: the board has the launch under way: what to call, a context for each part, and the state of each
part. The number of the launch is what threads wait for: for a moment awake, then asleep at a futex, where the
system has one. A thread takes the part of its own number, whose buffers are in its caches; the thread on the
launching thread's core changes places with the first. What machine code does not end with OK is left to
Python. Who ends the last part rings for the launching thread, by way of Python, if that sleeps.
"""

from __future__ import annotations

import platform
import sys
from string import Template

from ...codegen.context import OK

# What a thread has to do in Python: the part of a number from 0 on, or one of these.
RING, IDLE = -1, -2
# The states of a part: nobody has begun it, somebody has; else what it has ended with.
OPEN, TAKEN = -(1 << 63), -(1 << 63) + 1

# Words of the board. What is written while threads wait or work is on cache lines of its own.
BOARD = {
    "launch": 0,  # i32: its number
    "code": 16,  # what to call with a part's context; 0: all is done in Python
    "table": 17,  # a context for each part, and what is copied over it first, if that is not 0
    "words": 18,  # how many are copied
    "first": 19,  # the parts before it are the launching thread's
    "count": 20,
    "here": 21,  # the thread on the launching thread's core
    "shared": 22,  # whether parts need not begin once one has ended
    "awake": 23,  # how often the launching thread looks before it sleeps, and the others
    "lingers": 24,
    "syscall": 25,  # the C library's function; 0: threads sleep in Python
    "pending": 32,  # how many parts have not ended, and SLEEPS
    "states": 48,  # the first part's; others are LINE apart
}
LINE = 8
SLEEPS = 1 << 32  # the launching thread has to be rung for
# Words of a thread; its part is -1 while it has none.
THREAD = {"board": 0, "index": 1, "seen": 2, "part": 3, "code": 4, "looks": 5}

_FUTEX = {"x86_64": 202, "aarch64": 98}  # by platform.machine(): the number of the system call
_WAIT, _WAKE = 9 | 128, 10 | 128  # FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET; of one process
# What a processor is told between two looks.
_PAUSE = "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
_YIELD = "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
_HINTS = {"x86_64": _PAUSE, "amd64": _PAUSE, "aarch64": _YIELD, "arm64": _YIELD}


def has_futex() -> bool:
    """Whether threads can sleep in machine code."""
    return sys.platform == "linux" and platform.machine().lower() in _FUTEX


_WORDS = """
define internal i64 @word(ptr %words, i64 %number) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %number
  %value = load i64, ptr %place
  ret i64 %value
}

define internal void @put(ptr %words, i64 %number, i64 %value) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %number
  store i64 %value, ptr %place
  ret void
}

define internal ptr @board_of(ptr %me) alwaysinline {
  %address = call i64 @word(ptr %me, i64 $my_board)
  %board = inttoptr i64 %address to ptr
  ret ptr %board
}

define internal ptr @state_of(ptr %board, i64 %part) alwaysinline {
  %line = mul i64 %part, $line
  %number = add i64 %line, $states
  %place = getelementptr i64, ptr %board, i64 %number
  ret ptr %place
}

; The part of a thread, and the thread of a part.
define internal i64 @swapped(ptr %board, i64 %number) alwaysinline {
  %here = call i64 @word(ptr %board, i64 $here)
  %is.here = icmp eq i64 %number, %here
  %is.first = icmp eq i64 %number, 0
  %other = select i1 %is.first, i64 %here, i64 %number
  %found = select i1 %is.here, i64 0, i64 %other
  ret i64 %found
}

; So many parts more have ended; what is left in the word.
define internal i64 @count_down(ptr %board, i64 %ended) alwaysinline {
  %place = getelementptr i64, ptr %board, i64 $pending
  %before = atomicrmw sub ptr %place, i64 %ended acq_rel
  %left = sub i64 %before, %ended
  ret i64 %left
}
"""

# Parts come to their ends. `close` is for the launching thread.
_ENDING = """
define internal i64 @close_open(ptr %board) {
entry:
  %first = call i64 @word(ptr %board, i64 $first)
  %count = call i64 @word(ptr %board, i64 $count)
  br label %part
part:
  %i = phi i64 [ %first, %entry ], [ %i.next, %next ]
  %closed = phi i64 [ 0, %entry ], [ %closed.next, %next ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %end
look:
  %place = call ptr @state_of(ptr %board, i64 %i)
  %state = load atomic i64, ptr %place monotonic, align 8
  %open = icmp eq i64 %state, $OPEN
  br i1 %open, label %try, label %next
try:
  %pair = cmpxchg ptr %place, i64 $OPEN, i64 $OK acq_rel monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br label %next
next:
  %own = phi i1 [ false, %look ], [ %got, %try ]
  %one = zext i1 %own to i64
  %closed.next = add i64 %closed, %one
  %i.next = add i64 %i, 1
  br label %part
end:
  ret i64 %closed
}

define i64 @close(ptr %board) #0 {
  %closed = call i64 @close_open(ptr %board)
  %left = call i64 @count_down(ptr %board, i64 %closed)
  ret i64 %left
}

define i64 @finish(ptr %me) #0 {
entry:
  %board = call ptr @board_of(ptr %me)
  %part = call i64 @word(ptr %me, i64 $part)
  %code = call i64 @word(ptr %me, i64 $my_code)
  %place = call ptr @state_of(ptr %board, i64 %part)
  store atomic i64 %code, ptr %place release, align 8
  call void @put(ptr %me, i64 $part, i64 -1)
  %shared = call i64 @word(ptr %board, i64 $shared)
  %is.shared = icmp ne i64 %shared, 0
  br i1 %is.shared, label %others, label %end
others:
  %closed = call i64 @close_open(ptr %board)
  br label %end
end:
  %more = phi i64 [ 0, %entry ], [ %closed, %others ]
  %ended = add i64 %more, 1
  %left = call i64 @count_down(ptr %board, i64 %ended)
  ret i64 %left
}
"""

# A worker thread: it ends what Python has gone on with, if there is something, and does what comes next.
_SERVING = """
define internal i1 @find_launch(ptr %me, ptr %board) {
entry:
  %seen.long = call i64 @word(ptr %me, i64 $seen)
  %seen = trunc i64 %seen.long to i32
  %looks = call i64 @word(ptr %me, i64 $looks)
  br label %look
look:
  %left = phi i64 [ %looks, %entry ], [ %left.next, %again ], [ 0, %asleep ]
  %launch = load atomic i32, ptr %board acquire, align 4
  %new = icmp ne i32 %launch, %seen
  br i1 %new, label %found, label %wait
wait:
  %left.next = sub i64 %left, 1
  %awake = icmp sgt i64 %left, 0
  br i1 %awake, label %again, label %sleep
again:
  $hint
  br label %look
sleep:
  %syscall = call i64 @word(ptr %board, i64 $syscall)
  %none = icmp eq i64 %syscall, 0
  br i1 %none, label %idle, label %asleep
asleep:
  %function = inttoptr i64 %syscall to ptr
  %index = call i64 @word(ptr %me, i64 $index)
  %place = and i64 %index, 31
  %bit = shl i64 1, %place
  %ignored = call i64 (i64, ...) %function(i64 $futex, ptr %board, i64 $WAIT, i64 %seen.long, i64 0, i64 0,
                                           i64 %bit)
  br label %look
idle:
  ret i1 false
found:
  %launch.long = zext i32 %launch to i64
  call void @put(ptr %me, i64 $seen, i64 %launch.long)
  ret i1 true
}

define internal i1 @take(ptr %me, ptr %board) {
entry:
  %index = call i64 @word(ptr %me, i64 $index)
  %part = call i64 @swapped(ptr %board, i64 %index)
  %first = call i64 @word(ptr %board, i64 $first)
  %count = call i64 @word(ptr %board, i64 $count)
  %late = icmp sge i64 %part, %first
  %early = icmp slt i64 %part, %count
  %mine = and i1 %late, %early
  %lingers = call i64 @word(ptr %board, i64 $lingers)
  %elsewhere = icmp ne i64 %part, 0
  %stays = and i1 %mine, %elsewhere
  %looks = select i1 %stays, i64 %lingers, i64 0
  call void @put(ptr %me, i64 $looks, i64 %looks)
  br i1 %mine, label %try, label %no
try:
  %place = call ptr @state_of(ptr %board, i64 %part)
  %pair = cmpxchg ptr %place, i64 $OPEN, i64 $TAKEN acq_rel monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %yes, label %no
yes:
  call void @put(ptr %me, i64 $part, i64 %part)
  ret i1 true
no:
  ret i1 false
}

define internal i64 @work(ptr %me, ptr %board, ptr %code) {
entry:
  %part = call i64 @word(ptr %me, i64 $part)
  %table = call i64 @word(ptr %board, i64 $table)
  %table.p = inttoptr i64 %table to ptr
  %row = getelementptr [2 x ptr], ptr %table.p, i64 %part
  %context = load ptr, ptr %row
  %kept.p = getelementptr ptr, ptr %row, i64 1
  %kept = load ptr, ptr %kept.p
  %none = icmp eq ptr %kept, null
  br i1 %none, label %run, label %fill
fill:
  %words = call i64 @word(ptr %board, i64 $words)
  %bytes = mul i64 %words, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %context, ptr %kept, i64 %bytes, i1 false)
  br label %run
run:
  %result = call i64 %code(ptr %context)
  ret i64 %result
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define i64 @serve(ptr %me) #0 {
entry:
  %board = call ptr @board_of(ptr %me)
  %began = call i64 @word(ptr %me, i64 $part)
  %python = icmp sge i64 %began, 0
  br i1 %python, label %end, label %wait
end:
  %left = call i64 @finish(ptr %me)
  %rings = icmp eq i64 %left, $SLEEPS
  br i1 %rings, label %ring, label %wait
wait:
  %some = call i1 @find_launch(ptr %me, ptr %board)
  br i1 %some, label %look, label %idle
look:
  %taken = call i1 @take(ptr %me, ptr %board)
  br i1 %taken, label %begin, label %wait
begin:
  %code = call i64 @word(ptr %board, i64 $code)
  %none = icmp eq i64 %code, 0
  br i1 %none, label %leave, label %run
run:
  %code.p = inttoptr i64 %code to ptr
  %result = call i64 @work(ptr %me, ptr %board, ptr %code.p)
  %usual = icmp eq i64 %result, $OK
  br i1 %usual, label %ended, label %leave
ended:
  call void @put(ptr %me, i64 $my_code, i64 $OK)
  br label %end
leave:
  %how = phi i64 [ $OPEN, %begin ], [ %result, %run ]
  call void @put(ptr %me, i64 $my_code, i64 %how)
  %part = call i64 @word(ptr %me, i64 $part)
  ret i64 %part
ring:
  ret i64 $RING
idle:
  ret i64 $IDLE
}
"""

# The launching thread, which has words, too: it publishes what is on the board, and watches for the end.
# `watch` returns 0 if all has ended; else who ends the last part rings.
_LAUNCHING = """
define i64 @publish(ptr %me) #0 {
entry:
  %board = call ptr @board_of(ptr %me)
  %first = call i64 @word(ptr %board, i64 $first)
  %count = call i64 @word(ptr %board, i64 $count)
  call void @put(ptr %board, i64 $pending, i64 %count)
  br label %part
part:
  %i = phi i64 [ 0, %entry ], [ %i.next, %part.on ]
  %threads = phi i64 [ 0, %entry ], [ %threads.next, %part.on ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %part.on, label %begin
part.on:
  %others = icmp sge i64 %i, %first
  %state = select i1 %others, i64 $OPEN, i64 $TAKEN
  %place = call ptr @state_of(ptr %board, i64 %i)
  store atomic i64 %state, ptr %place release, align 8
  %thread = call i64 @swapped(ptr %board, i64 %i)
  %bit.place = and i64 %thread, 31
  %others.long = zext i1 %others to i64
  %bit = shl i64 %others.long, %bit.place
  %threads.next = or i64 %threads, %bit
  %i.next = add i64 %i, 1
  br label %part
begin:
  %joins = icmp sgt i64 %first, 0
  %own = select i1 %joins, i64 0, i64 -1
  call void @put(ptr %me, i64 $part, i64 %own)
  %before = atomicrmw add ptr %board, i32 1 acq_rel
  %syscall = call i64 @word(ptr %board, i64 $syscall)
  %none = icmp eq i64 %syscall, 0
  br i1 %none, label %end, label %wake
wake:
  %function = inttoptr i64 %syscall to ptr
  %woken = call i64 (i64, ...) %function(i64 $futex, ptr %board, i64 $WAKE, i64 2147483647, i64 0, i64 0,
                                         i64 %threads)
  br label %end
end:
  ret i64 0
}

define i64 @watch(ptr %board) #0 {
entry:
  %place = getelementptr i64, ptr %board, i64 $pending
  %looks = call i64 @word(ptr %board, i64 $awake)
  br label %look
look:
  %left = phi i64 [ %looks, %entry ], [ %left.next, %again ]
  %word = load atomic i64, ptr %place acquire, align 8
  %pending = and i64 %word, $COUNT
  %none = icmp eq i64 %pending, 0
  br i1 %none, label %end, label %wait
wait:
  %left.next = sub i64 %left, 1
  %awake = icmp sgt i64 %left, 0
  br i1 %awake, label %again, label %sleep
again:
  $hint
  br label %look
sleep:
  %before = atomicrmw or ptr %place, i64 $SLEEPS acq_rel
  %left.over = and i64 %before, $COUNT
  ret i64 %left.over
end:
  ret i64 0
}
"""

FUNCTIONS = ("serve", "finish", "close", "publish", "watch")


def module() -> str:
    """The module of FUNCTIONS, which take a thread's words, or the board, and return an i64."""
    machine = platform.machine().lower()
    declaration, hint = _HINTS.get(machine, ("", ""))
    words = {
        **BOARD,
        **THREAD,
        "my_board": THREAD["board"],
        "my_code": THREAD["code"],
        "code": BOARD["code"],
        "line": LINE,
        "hint": hint,
        "futex": _FUTEX.get(machine, 0),
        "WAIT": _WAIT,
        "WAKE": _WAKE,
        "OPEN": OPEN,
        "TAKEN": TAKEN,
        "OK": OK,
        "SLEEPS": SLEEPS,
        "COUNT": SLEEPS - 1,
        "RING": RING,
        "IDLE": IDLE,
    }
    parts = (_WORDS, _ENDING, _SERVING, _LAUNCHING)
    return "\n".join([declaration, *(Template(part).substitute(words) for part in parts)])
