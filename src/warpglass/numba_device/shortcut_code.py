"""LLVM IR of the functions that C gets from the virtual device without Python: answers, launches that repeat.

Belongs here: the code. `run` fills a list with the addresses of the tables (shortcut_tables.py) and of every
other function.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from string import Template

from ..codegen.context import SLOT, STOPPED
from .shortcut_interrupts import guarding
from .shortcut_runtime import FUNCTIONS, runtime_functions
from .shortcut_tables import BEGUN, NUMBERS, TABLES, Remembered

# Nanoseconds after which a launch is left to Python, which has more threads.
_PATIENCE = 200_000

# How a processor's floating-point unit is set to what kernels expect, whatever the program has made of it.
_CONTROLS = {
    "x86_64": (
        "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
        "store i32 8064, ptr %mode\ncall void @llvm.x86.sse.stmxcsr(ptr %before)\n"
        "call void @llvm.x86.sse.ldmxcsr(ptr %mode)",
        "call void @llvm.x86.sse.ldmxcsr(ptr %before)",
    ),
    "aarch64": (
        "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
        "%fpcr = call i64 @llvm.aarch64.get.fpcr()\ncall void @llvm.aarch64.set.fpcr(i64 0)",
        "call void @llvm.aarch64.set.fpcr(i64 %fpcr)",
    ),
}

# Whether the parameters that must stay have stayed, and the others into the block.
_PARAMETERS = """
define internal i1 @take(ptr %record, ptr %pointers) {
entry:
  %count.p = getelementptr i64, ptr %record, i64 $count
  %count = load i64, ptr %count.p
  %places.p = getelementptr i64, ptr %record, i64 $places
  %places = load ptr, ptr %places.p
  %block.p = getelementptr i64, ptr %record, i64 $parameters
  %block = load ptr, ptr %block.p
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %parameter, label %taken
parameter:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %pair = getelementptr [2 x i64], ptr %places, i64 %i
  %offset = load i64, ptr %pair
  %size.p = getelementptr i64, ptr %pair, i64 1
  %size.all = load i64, ptr %size.p
  %size = and i64 %size.all, $size_mask
  %stays = icmp ne i64 %size, %size.all
  %pointer.p = getelementptr ptr, ptr %pointers, i64 %i
  %pointer = load ptr, ptr %pointer.p
  %target = getelementptr i8, ptr %block, i64 %offset
  %eight = icmp eq i64 %size, 8
  br i1 %eight, label %word, label %bytes
word:
  %value = load i64, ptr %pointer, align 1
  %before = load i64, ptr %target, align 1
  %other = icmp ne i64 %value, %before
  %refused = and i1 %other, %stays
  br i1 %refused, label %no, label %write
write:
  store i64 %value, ptr %target, align 1
  br label %next
bytes:
  %j = phi i64 [ 0, %parameter ], [ %j.next, %write.b ]
  %more.bytes = icmp ult i64 %j, %size
  br i1 %more.bytes, label %byte, label %next
byte:
  %source.b = getelementptr i8, ptr %pointer, i64 %j
  %target.b = getelementptr i8, ptr %target, i64 %j
  %value.b = load i8, ptr %source.b
  %before.b = load i8, ptr %target.b
  %other.b = icmp ne i8 %value.b, %before.b
  %refused.b = and i1 %other.b, %stays
  %j.next = add i64 %j, 1
  br i1 %refused.b, label %no, label %write.b
write.b:
  store i8 %value.b, ptr %target.b
  br label %bytes
next:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %parameter, label %taken
no:
  ret i1 false
taken:
  ret i1 true
}
"""

# A launch: 0 if it was made here, what Python says of one that has ended early, -1 if Python is to make it.
# One that Ctrl-C has stopped succeeds: the interrupt is raised when C has returned.
_LAUNCH = """
declare i64 @llvm.smin.i64(i64, i64)

define internal i64 @field(ptr %record, i64 %number) alwaysinline {
  %place = getelementptr i64, ptr %record, i64 %number
  %value = load i64, ptr %place
  ret i64 %value
}

define internal i64 @now(ptr %time) alwaysinline {
  %address = call i64 @word(i64 $clock)
  %function = inttoptr i64 %address to ptr
  %ignored = call i32 %function(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %rest.p = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.p
  %long = mul i64 %seconds, 1000000000
  %found = add i64 %long, %rest
  ret i64 %found
}

define internal void @fill(ptr %record, i64 %to, i64 %from, i64 %words) {
  %target = call i64 @field(ptr %record, i64 %to)
  %source = call i64 @field(ptr %record, i64 %from)
  %count = call i64 @field(ptr %record, i64 %words)
  %target.p = inttoptr i64 %target to ptr
  %source.p = inttoptr i64 %source to ptr
  call void @copy(ptr %target.p, ptr %source.p, i64 %count)
  ret void
}

define internal i64 @run_record(ptr %record) {
entry:
  %time = alloca [2 x i64], align 8
  %before = alloca i32
  %mode = alloca i32
  call void @fill(ptr %record, i64 $context, i64 $context_from, i64 $context_words)
  call void @fill(ptr %record, i64 $control, i64 $control_from, i64 $control_words)
  %code = call i64 @field(ptr %record, i64 $code)
  %context = call i64 @field(ptr %record, i64 $context)
  %function = inttoptr i64 %code to ptr
  %context.p = inttoptr i64 %context to ptr
  %begun = call i64 @now(ptr %time)
  $set_control
  %blocks = call i64 @field(ptr %record, i64 $blocks)
  %slice = call i64 @field(ptr %record, i64 $slice)
  %count.p = getelementptr i64, ptr %context.p, i64 $block_count
  %control = call i64 @field(ptr %record, i64 $control)
  %next.p = inttoptr i64 %control to ptr
  br label %part
part:
  %wanted = phi i64 [ %slice, %entry ], [ %more, %on ]
  %end = call i64 @llvm.smin.i64(i64 %wanted, i64 %blocks)
  store i64 %end, ptr %count.p
  %code.end = call i64 %function(ptr %context.p)
  %early = icmp ne i64 %code.end, 0
  %last = icmp eq i64 %end, %blocks
  %over = or i1 %early, %last
  br i1 %over, label %end.all, label %look
look:
  %then = call i64 @now(ptr %time)
  %so.far = sub i64 %then, %begun
  %long = icmp sgt i64 %so.far, $PATIENCE
  br i1 %long, label %end.all, label %on
on:
  store i64 %end, ptr %next.p
  %more = add i64 %end, %slice
  br label %part
end.all:
  %leaves = phi i1 [ false, %part ], [ true, %look ]
  %begun.blocks = or i64 %end, $BEGUN
  %result = select i1 %leaves, i64 %begun.blocks, i64 %code.end
  $put_control_back
  %ended = call i64 @now(ptr %time)
  %took = sub i64 %ended, %begun
  %spent = call i64 @field(ptr %record, i64 $spent)
  %all = add i64 %spent, %took
  %spent.p = getelementptr i64, ptr %record, i64 $spent
  store i64 %all, ptr %spent.p
  %most = call i64 @field(ptr %record, i64 $most)
  %enough = icmp sgt i64 %all, %most
  %bad = icmp ne i64 %result, 0
  %retract = or i1 %enough, %bad
  %key = call i64 @field(ptr %record, i64 0)
  %key.new = select i1 %retract, i64 0, i64 %key
  store i64 %key.new, ptr %record
  ret i64 %result
}

define internal i32 @launch(i64 %function, i64 %xy, i64 %zx, i64 %yz, i64 %shared, i64 %stream,
                            ptr %parameters) {
entry:
  %handle = lshr i64 %function, 4
  %mixed = mul i64 %xy, 31
  %other = mul i64 %zx, 7
  %sum.1 = add i64 %handle, %mixed
  %sum.2 = add i64 %sum.1, %other
  %stream.handle = lshr i64 %stream, 4
  %of.stream = mul i64 %stream.handle, 13
  %sum = add i64 %sum.2, %of.stream
  %shifted = lshr i64 %sum, 32
  %folded = xor i64 %sum, %shifted
  %index = and i64 %folded, $last_record
  %record = getelementptr [$record x i64], ptr @records, i64 %index
  %thread = call i64 @this_thread()
  %pair = cmpxchg ptr @state, i64 0, i64 1 acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %compare, label %python
compare:
  %slow = call i64 @word(i64 $slow)
  %version = call i64 @word(i64 $version)
  %layout = call i64 @word(i64 $layout)
  $comparisons
  br i1 %all, label %take, label %leave
take:
  %taken = call i1 @take(ptr %record, ptr %parameters)
  br i1 %taken, label %look.after, label %refuse
refuse:
  store i64 0, ptr %record
  br label %leave
look.after:
  %guarded = call i1 @guard(ptr %record)
  br i1 %guarded, label %run, label %leave
run:
  %serial = call i64 @field(ptr %record, i64 $serial)
  %result = call i64 @run_record(ptr %record)
  call void @set_running(i64 0)
  call void @unlock()
  %fine = icmp eq i64 %result, 0
  %stopped = icmp eq i64 %result, $STOPPED
  %good = or i1 %fine, %stopped
  br i1 %good, label %done, label %failed
failed:
  %address = call i64 @word(i64 $failed)
  %told = inttoptr i64 %address to ptr
  %status = call i32 %told(i64 %serial, i64 %result)
  ret i32 %status
leave:
  call void @unlock()
  br label %python
python:
  ret i32 -1
done:
  ret i32 0
}

define internal i64 @both(i32 %low, i32 %high) alwaysinline {
  %low.l = zext i32 %low to i64
  %high.l = zext i32 %high to i64
  %shifted = shl i64 %high.l, 32
  %all = or i64 %low.l, %shifted
  ret i64 %all
}

define internal i32 @cuLaunchKernel(i64 %function, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz,
                                    i32 %shared, i64 %stream, ptr %parameters, ptr %extra) {
entry:
  %none = icmp eq ptr %extra, null
  br i1 %none, label %try, label %python
try:
  %xy = call i64 @both(i32 %gx, i32 %gy)
  %zx = call i64 @both(i32 %gz, i32 %bx)
  %yz = call i64 @both(i32 %by, i32 %bz)
  %bytes = zext i32 %shared to i64
  %status = call i32 @launch(i64 %function, i64 %xy, i64 %zx, i64 %yz, i64 %bytes, i64 %stream,
                             ptr %parameters)
  %made = icmp sge i32 %status, 0
  br i1 %made, label %done, label %python
done:
  ret i32 %status
python:
  %address = call i64 @word(i64 $cuLaunchKernel)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(i64 %function, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz,
                          i32 %shared, i64 %stream, ptr %parameters, ptr %extra)
  ret i32 %said
}

define internal i32 @cuLaunchKernelEx(ptr %config, i64 %function, ptr %parameters, ptr %extra) {
entry:
  %attributes.p = getelementptr i8, ptr %config, i64 48
  %attributes = load i32, ptr %attributes.p
  %simple = icmp eq i32 %attributes, 0
  %none = icmp eq ptr %extra, null
  %both = and i1 %simple, %none
  br i1 %both, label %try, label %python
try:
  %xy = call i64 @field(ptr %config, i64 0)
  %zx = call i64 @field(ptr %config, i64 1)
  %yz = call i64 @field(ptr %config, i64 2)
  %shared.p = getelementptr i64, ptr %config, i64 3
  %shared = load i32, ptr %shared.p
  %bytes = zext i32 %shared to i64
  %stream = call i64 @field(ptr %config, i64 4)
  %status = call i32 @launch(i64 %function, i64 %xy, i64 %zx, i64 %yz, i64 %bytes, i64 %stream,
                             ptr %parameters)
  %made = icmp sge i32 %status, 0
  br i1 %made, label %done, label %python
done:
  ret i32 %status
python:
  %address = call i64 @word(i64 $cuLaunchKernelEx)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(ptr %config, i64 %function, ptr %parameters, ptr %extra)
  ret i32 %said
}
"""

# A function whose answer may be known.
_ANSWER = """
define internal i32 @$name(ptr %place$signature) {
entry:
  $widened
  %id = add i64 $number, 1
  %thread = call i64 @this_thread()
  %mixed = mul i64 %one, 31
  %sum.1 = add i64 %mixed, %two
  %high = lshr i64 %sum.1, 9
  %sum.2 = xor i64 %sum.1, %high
  %sum = add i64 %sum.2, $number
  %index = and i64 %sum, $last_answer
  %answer = getelementptr [$answer x i64], ptr @answers, i64 %index
  %pair = cmpxchg ptr @state, i64 0, i64 1 acquire monotonic
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %compare, label %python
compare:
  %version = call i64 @word(i64 $version)
  %value = call i64 @field(ptr %answer, i64 5)
  $comparisons
  call void @unlock()
  br i1 %all, label %known, label %python
known:
  %cut = $cut
  store i$bits %cut, ptr %place, align 1
  ret i32 0
python:
  %number = add i64 $number, $functions
  %address = call i64 @word(i64 %number)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(ptr %place$signature)
  ret i32 %said
}
"""


def module(remembered: Sequence[Remembered]) -> str:
    """The whole module; `run` fills a list with addresses in the order of `addresses`."""
    declarations, set_control, put_back = _CONTROLS.get(platform.machine().lower(), ("", "", ""))
    words = {**NUMBERS, "set_control": set_control, "put_control_back": put_back}
    words |= {"block_count": SLOT["block_count"], "PATIENCE": _PATIENCE, "BEGUN": BEGUN, "STOPPED": STOPPED}
    same = ("function", "xy", "zx", "yz", "shared", "stream", "thread", "version", "layout")
    launch = Template(_LAUNCH).substitute(words, comparisons=_same("record", same, "slow"))
    parts = [declarations, TABLES]
    parts += [Template(_PARAMETERS).substitute(words), launch, guarding(words)]
    parts.append(runtime_functions(words))
    parts += [_answering(number, one, words) for number, one in enumerate(remembered)]
    names = addresses(remembered)
    stores = "\n".join(
        f"  %p{k} = getelementptr ptr, ptr %list, i64 {k}\n  store ptr @{name}, ptr %p{k}"
        for k, name in enumerate(names)
    )
    parts.append(f"define i64 @run(ptr %list) #0 {{\n{stores}\n  ret i64 0\n}}\n")
    return "\n".join(parts)


def addresses(remembered: Sequence[Remembered]) -> tuple[str, ...]:
    """What `run` tells the addresses of."""
    own = (
        "state",
        "records",
        "answers",
        "change",
        "move",
        "enter",
        "leave",
        "publish",
        "answer",
        "interrupted",
    )
    return (*own, "cuLaunchKernel", "cuLaunchKernelEx", *FUNCTIONS, *(one.name for one in remembered))


def _same(table: str, names: Sequence[str], zero: str | None = None) -> str:
    """Whether the first words of an entry are these values, and another is 0: `%all`."""
    lines = [f"%same.none = icmp eq i64 {f'%{zero}' if zero else '0'}, 0"]
    last = "%same.none"
    for position, name in enumerate(names):
        found, same, both = f"%found.{position}", f"%same.{position}", f"%both.{position}"
        both = "%all" if position == len(names) - 1 else both
        lines += [
            f"{found} = call i64 @field(ptr %{table}, i64 {position})",
            f"{same} = icmp eq i64 {found}, %{name}",
            f"{both} = and i1 {last}, {same}",
        ]
        last = both
    return "\n  ".join(lines)


def _answering(number: int, one: Remembered, words: dict[str, object]) -> str:
    arguments = [*one.arguments, *["i64"] * (2 - len(one.arguments))]
    widened: list[str] = []
    for position, (name, kind) in enumerate(zip(("one", "two"), arguments, strict=True)):
        if position >= len(one.arguments):
            widened.append(f"%{name} = add i64 0, 0")
        elif kind == "i64":
            widened.append(f"%{name} = add i64 %a{position}, 0")
        else:
            widened.append(f"%{name} = zext {kind} %a{position} to i64")
    given = [f"{kind} %a{position}" for position, kind in enumerate(one.arguments)]
    return Template(_ANSWER).substitute(
        words,
        name=one.name,
        signature="".join(f", {text}" for text in given),
        widened="\n  ".join(widened),
        number=number,
        bits=one.bits,
        cut="add i64 %value, 0" if one.bits == 64 else f"trunc i64 %value to i{one.bits}",
        comparisons=_same("answer", ("id", "one", "two", "thread", "version")),
    )
