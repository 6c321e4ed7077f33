"""LLVM versions: the same module, spelled for the one that is installed."""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
import pytest

from warpglass.codegen.machine import jit

MASKED = """
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, <4 x i1>)
declare <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr>, <4 x i1>, <4 x float>)
declare void @llvm.masked.scatter.v4f32.v4p0(<4 x float>, <4 x ptr>, <4 x i1>)

define void @run(ptr %p, <4 x ptr> %at, <4 x i1> %mask) {
  %a = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 1 %p, <4 x i1> %mask, <4 x float> poison)
  %b = call <4 x float> @llvm.masked.gather.v4f32.v4p0(
    <4 x ptr> align 4 %at, <4 x i1> %mask, <4 x float> zeroinitializer)
  %c = load i32, ptr %p, align 2
  call void @llvm.masked.store.v4f32.p0(<4 x float> %a, ptr align 8 %p, <4 x i1> %mask)
  call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %b, <4 x ptr> align 4 %at, <4 x i1> %mask)
  ret void
}
"""


def test_masked_accesses_mean_the_same_before_and_after_llvm_22(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = llvm.llvm_version_info
    own = llvm.parse_assembly(jit.spelled(MASKED))
    own.verify()
    monkeypatch.setattr(llvm, "llvm_version_info", (20, 1, 8))
    older = jit.spelled(MASKED)
    assert older.count("i32 ") == MASKED.count("i32 ") + 4
    assert older.count(", i32,") == 4
    if installed[0] >= 22:  # which reads the older spelling as well
        assert sorted(str(llvm.parse_assembly(older)).splitlines()) == sorted(str(own).splitlines())


# Calls of a function, a constant in memory, and a call of the C library.
NEAR_AND_FAR = """
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@table = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]

define internal i64 @look_up(i64 %k) noinline #0 {
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %found = load i64, ptr %p
  ret i64 %found
}
define i64 @run(ptr %words) #0 {
  %bytes = load i64, ptr %words
  call void @llvm.memset.p0.i64(ptr %words, i8 1, i64 %bytes, i1 false)
  %k = and i64 %bytes, 3
  %found = call i64 @look_up(i64 %k)
  ret i64 %found
}
"""


@pytest.mark.parametrize("quick", [False, True])
def test_code_reaches_its_own_and_the_c_library(quick: bool) -> None:
    words = np.full(32, 7, np.int64)
    words[0] = 8 * 25 + 2  # bytes to fill, the last two of a word of their own
    code = jit.load_object(jit.compile_ir(NEAR_AND_FAR, quick=quick))
    assert code.run(words.ctypes.data) == 7
    assert (words[:25] == 0x0101010101010101).all()
    assert words[25] == 0x0101
    assert (words[26:] == 7).all()


@pytest.mark.skipif(not jit.reaches_near(llvm.get_process_triple()), reason="other hosts call by registers")
def test_optimised_code_calls_no_function_by_register() -> None:
    code = jit.compile_ir(NEAR_AND_FAR)
    assert b"\xff\xd0" not in code  # call rax
    assert jit.compile_ir(NEAR_AND_FAR, quick=True).count(b"\xff\xd0") == 2
