"""LLVM versions: the same module, spelled for the one that is installed."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from warpglass.codegen import jit

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
