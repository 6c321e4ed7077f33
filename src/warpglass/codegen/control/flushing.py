"""The mode in which an x86 processor flushes subnormal numbers: set around a kernel's blocks."""

from __future__ import annotations

from ..machine.jit import FLUSHING

_OPERANDS, _RESULTS = 1 << 6, 1 << 15  # of MXCSR: what takes subnormal operands and results for zeros

# LLVM may move arithmetic past a change of mode, so the blocks have a function of their own.
RUN_FLUSHING = f"""
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define i64 @run(ptr %context) #0 {{
  %before = alloca i32
  %within = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  %mode = load i32, ptr %before
  %flushing = or i32 %mode, {_OPERANDS | _RESULTS}
  store i32 %flushing, ptr %within
  call void @llvm.x86.sse.ldmxcsr(ptr %within)
  %code = call i64 {FLUSHING}(ptr %context)
  call void @llvm.x86.sse.ldmxcsr(ptr %before)
  ret i64 %code
}}

define internal i64 {FLUSHING}(ptr %context) noinline #0 {{"""
