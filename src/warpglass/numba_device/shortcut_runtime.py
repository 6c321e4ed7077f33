"""LLVM IR of the CUDA runtime's functions that C gets without Python: a launch, its configuration, no error.

A thread that has configurations keeps them in a slot of its own; where its slot is another's, or full, Python
keeps them. dim3 is passed by value: both architectures take two registers for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

# The functions, by the names under which the state has the addresses of those in Python.
FUNCTIONS = (
    "cudaLaunchKernel",
    "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration",
    "cudaGetLastError",
    "cudaPeekAtLastError",
)
_SLOTS, _DEPTH, _WORDS = 64, 8, 6  # slots, configurations in one, words of a configuration

_CONFIGURATIONS = """
@configurations = internal global [$slots x [$slot x i64]] zeroinitializer, align 64

define internal ptr @my_slot() {
  %thread = call i64 @this_thread()
  %page = lshr i64 %thread, 12
  %region = lshr i64 %thread, 20
  %mixed = xor i64 %page, %region
  %index = and i64 %mixed, $last_slot
  %slot = getelementptr [$slot x i64], ptr @configurations, i64 %index
  %pair = cmpxchg ptr %slot, i64 0, i64 %thread acquire monotonic
  %owner = extractvalue { i64, i1 } %pair, 0
  %got = extractvalue { i64, i1 } %pair, 1
  %own = icmp eq i64 %owner, %thread
  %mine = or i1 %got, %own
  %found = select i1 %mine, ptr %slot, ptr null
  ret ptr %found
}

define internal i32 @__cudaPushCallConfiguration(i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, i64 %shared,
                                                 i64 %stream) {
entry:
  %slot = call ptr @my_slot()
  %none = icmp eq ptr %slot, null
  br i1 %none, label %python, label %mine
mine:
  %depth.p = getelementptr i64, ptr %slot, i64 1
  %depth = load i64, ptr %depth.p
  %deeper = add i64 %depth, 1
  store i64 %deeper, ptr %depth.p
  %full = icmp uge i64 %depth, $depth
  br i1 %full, label %python, label %room
room:
  %words = mul i64 %depth, $words
  %first = add i64 %words, 2
  %p0 = getelementptr i64, ptr %slot, i64 %first
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %p4 = getelementptr i64, ptr %p0, i64 4
  %p5 = getelementptr i64, ptr %p0, i64 5
  store i64 %gxy, ptr %p0
  store i32 %gz, ptr %p1
  store i64 %bxy, ptr %p2
  store i32 %bz, ptr %p3
  store i64 %shared, ptr %p4
  store i64 %stream, ptr %p5
  ret i32 0
python:
  %address = call i64 @word(i64 $__cudaPushCallConfiguration)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, i64 %shared, i64 %stream)
  ret i32 %said
}

define internal i32 @__cudaPopCallConfiguration(ptr %grid, ptr %block, ptr %shared, ptr %stream) {
entry:
  %slot = call ptr @my_slot()
  %none = icmp eq ptr %slot, null
  br i1 %none, label %python, label %mine
mine:
  %depth.p = getelementptr i64, ptr %slot, i64 1
  %depth = load i64, ptr %depth.p
  %empty = icmp eq i64 %depth, 0
  br i1 %empty, label %python, label %some
some:
  %last = sub i64 %depth, 1
  store i64 %last, ptr %depth.p
  %over = icmp uge i64 %last, $depth
  br i1 %over, label %python, label %here
here:
  %words = mul i64 %last, $words
  %first = add i64 %words, 2
  %p0 = getelementptr i64, ptr %slot, i64 %first
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %p4 = getelementptr i64, ptr %p0, i64 4
  %p5 = getelementptr i64, ptr %p0, i64 5
  %gxy = load i64, ptr %p0
  %gz = load i32, ptr %p1
  %bxy = load i64, ptr %p2
  %bz = load i32, ptr %p3
  %bytes = load i64, ptr %p4
  %handle = load i64, ptr %p5
  store i64 %gxy, ptr %grid, align 4
  %grid.z = getelementptr i8, ptr %grid, i64 8
  store i32 %gz, ptr %grid.z
  store i64 %bxy, ptr %block, align 4
  %block.z = getelementptr i8, ptr %block, i64 8
  store i32 %bz, ptr %block.z
  store i64 %bytes, ptr %shared
  store i64 %handle, ptr %stream
  ret i32 0
python:
  %address = call i64 @word(i64 $__cudaPopCallConfiguration)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(ptr %grid, ptr %block, ptr %shared, ptr %stream)
  ret i32 %said
}
"""

_LAUNCH = """
define internal i32 @cudaLaunchKernel(i64 %function, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, ptr %parameters,
                                      i64 %shared, i64 %stream) {
entry:
  %bx = trunc i64 %bxy to i32
  %high = lshr i64 %bxy, 32
  %by = trunc i64 %high to i32
  %zx = call i64 @both(i32 %gz, i32 %bx)
  %yz = call i64 @both(i32 %by, i32 %bz)
  %status = call i32 @launch(i64 %function, i64 %gxy, i64 %zx, i64 %yz, i64 %shared, i64 %stream,
                             ptr %parameters)
  %made = icmp sge i32 %status, 0
  br i1 %made, label %done, label %python
done:
  ret i32 %status
python:
  %address = call i64 @word(i64 $cudaLaunchKernel)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other(i64 %function, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, ptr %parameters, i64 %shared,
                          i64 %stream)
  ret i32 %said
}
"""

# A function that returns the last error; 0 while no thread has one and the device is not broken.
_LAST_ERROR = """
define internal i32 @$name() {
entry:
  %wrong = call i64 @word(i64 $wrong)
  %none = icmp eq i64 %wrong, 0
  br i1 %none, label %done, label %python
done:
  ret i32 0
python:
  %address = call i64 @word(i64 $number)
  %other = inttoptr i64 %address to ptr
  %said = call i32 %other()
  ret i32 %said
}
"""


def runtime_functions(numbers: Mapping[str, object]) -> str:
    """Their code, for a module that has the code of the driver's (shortcut_code.py)."""
    sizes = {
        "slots": _SLOTS,
        "last_slot": _SLOTS - 1,
        "slot": 2 + _DEPTH * _WORDS,
        "depth": _DEPTH,
        "words": _WORDS,
    }
    known = {**numbers, **sizes}
    errors = (
        Template(_LAST_ERROR).substitute(known, name=name, number=numbers[name])
        for name in ("cudaGetLastError", "cudaPeekAtLastError")
    )
    return "\n".join(
        (Template(_CONFIGURATIONS).substitute(known), Template(_LAUNCH).substitute(known), *errors)
    )
