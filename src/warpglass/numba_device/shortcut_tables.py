"""The tables of what C gets from the virtual device without Python, and the code that changes them.

Belongs here: the tables word by word, their lock, and LLVM IR of what reads and writes a word. The functions
that use them are in shortcut_code.py; what is in the tables is shortcuts.py's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

STATE = (
    "busy",  # 1 while a launch runs in machine code, or a table changes
    "slow",  # launches that are under way in Python
    "version",  # grows whenever something changes that answers and records depend on
    "layout",  # grows whenever memory comes or goes, on which records depend
    "thread",  # pthread_self
    "clock",  # clock_gettime
    "give_way",  # sched_yield
    "failed",  # to be told that a launch has ended early: number of its record, code
    "sigaction",
    "handler",  # Python's of SIGINT, which `interrupted` calls
    "running",  # the stop flag of a launch that Ctrl-C may have to end
    "cuLaunchKernel",  # the functions in Python
    "cuLaunchKernelEx",
    "cudaLaunchKernel",  # the runtime's
    "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "wrong",  # 0 while no thread of the runtime's has an error
    "functions",  # where the remembered functions in Python begin
)
STATE_AT = {name: position for position, name in enumerate(STATE)}

# A launch that repeats: what must be the same, and what to copy before machine code is run.
RECORD = (
    "function",
    "grid_xy",  # two extents in one word, the first in the lower half
    "grid_z_block_x",
    "block_yz",
    "shared",
    "stream",
    "thread",
    "version",
    "layout",
    "code",
    "context",  # a worker's words, their contents and size in words
    "context_from",
    "context_words",
    "control",
    "control_from",
    "control_words",
    "parameters",  # the block of parameters
    "places",  # a pair for each parameter: its offset, its size and whether it must stay the same
    "count",
    "spent",  # nanoseconds
    "most",  # nanoseconds after which Python is to look at it again
    "serial",
    "blocks",
    "slice",  # blocks after each of which it is seen how long the launch takes
    "stop",  # the flag that makes it end; 0 for a launch that Ctrl-C need not end
)
RECORD_AT = {name: position for position, name in enumerate(RECORD)}
RECORDS = 64
STAYS = 1 << 32  # a parameter that must stay the same
BEGUN = 1 << 32  # what a launch that takes long returns, and the number of its blocks that have run

# An answer: function, two arguments, thread, version, value.
ANSWER_WORDS, ANSWERS = 6, 256


@dataclass(frozen=True, slots=True)
class Remembered:
    """A function whose first parameter is where to write; what C passes after it, and the answer's bits."""

    name: str
    arguments: tuple[str, ...]  # types of LLVM, one or two
    bits: int


_WORDS = f"""
@state = internal global [32 x i64] zeroinitializer, align 64
@records = internal global [{RECORDS} x [{len(RECORD)} x i64]] zeroinitializer, align 64
@answers = internal global [{ANSWERS} x [{ANSWER_WORDS} x i64]] zeroinitializer, align 64
"""

# Locking: a launch gives up at once where others wait.
_ACCESS = """
define internal i64 @word(i64 %number) alwaysinline {
  %place = getelementptr i64, ptr @state, i64 %number
  %value = load volatile i64, ptr %place
  ret i64 %value
}

define internal i64 @this_thread() alwaysinline {
  %address = call i64 @word(i64 $thread)
  %function = inttoptr i64 %address to ptr
  %found = call i64 %function()
  ret i64 %found
}

define internal void @lock() {
entry:
  br label %try
try:
  %pair = cmpxchg ptr @state, i64 0, i64 1 acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %end, label %wait
wait:
  %address = call i64 @word(i64 $give_way)
  %function = inttoptr i64 %address to ptr
  %ignored = call i32 %function()
  br label %try
end:
  ret void
}

define internal void @unlock() alwaysinline {
  store atomic i64 0, ptr @state release, align 8
  ret void
}

define internal void @add(i64 %number, i64 %value) alwaysinline {
  call void @lock()
  %place = getelementptr i64, ptr @state, i64 %number
  %before = load i64, ptr %place
  %after = add i64 %before, %value
  store i64 %after, ptr %place
  call void @unlock()
  ret void
}

define internal void @change() {
  call void @add(i64 $version, i64 1)
  ret void
}

define internal void @move() {
  call void @add(i64 $layout, i64 1)
  ret void
}

define internal void @enter() {
  call void @add(i64 $slow, i64 1)
  ret void
}

define internal void @leave() {
  call void @add(i64 $slow, i64 -1)
  ret void
}

define internal void @copy(ptr %to, ptr %from, i64 %words) {
entry:
  %some = icmp sgt i64 %words, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr i64, ptr %from, i64 %i
  %target = getelementptr i64, ptr %to, i64 %i
  %value = load i64, ptr %source
  store i64 %value, ptr %target
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %words
  br i1 %more, label %loop, label %end
end:
  ret void
}

define internal void @publish(i64 %number, ptr %from) {
  call void @lock()
  %record = getelementptr [$record x i64], ptr @records, i64 %number
  call void @copy(ptr %record, ptr %from, i64 $record)
  call void @unlock()
  ret void
}

define internal void @answer(i64 %number, ptr %from) {
  call void @lock()
  %entry = getelementptr [$answer x i64], ptr @answers, i64 %number
  call void @copy(ptr %entry, ptr %from, i64 $answer)
  call void @unlock()
  ret void
}
"""

NUMBERS = {
    **RECORD_AT,
    **STATE_AT,  # both have a thread, a version and a layout: code asks for these
    "record": len(RECORD),
    "answer": ANSWER_WORDS,
    "last_record": RECORDS - 1,
    "last_answer": ANSWERS - 1,
    "size_mask": STAYS - 1,
}
TABLES = _WORDS + Template(_ACCESS).substitute(NUMBERS)
