"""Loose NaNs: what leaves a kernel is the hardware's NaN, and a loaded one keeps its payload."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel

HARDWARE, LOADED = 0x7FFFFFFF, 0x7F8ABCDE

_PRELUDE = """
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4]; setp.lt.u32 %p1, %r1, 16;
"""
_ADD = "add.f32 %f2, %f1, %f1; "

# How a result may be looked at: instructions, what is stored, and what is seen in lanes below 16 and above.
_BODIES = {
    "stored": (_ADD, "%f2", HARDWARE, HARDWARE),
    "an integer": (_ADD + "mov.b32 %r2, %f2; add.u32 %r2, %r2, 1;", "%r2", HARDWARE + 1, HARDWARE + 1),
    "moved": (_ADD + "mov.b32 %r2, %f2; mov.b32 %r3, %r2;", "%r3", HARDWARE, HARDWARE),
    "widened": (_ADD + "cvt.f64.f32 %fd1, %f2; mov.b64 {%r2, %r3}, %fd1;", "%r3", 0x7FFFFFFF, 0x7FFFFFFF),
    "chosen beside a loaded one": (_ADD + "selp.f32 %f3, %f2, %f1, %p1;", "%f3", HARDWARE, LOADED),
    "over a loaded one": ("mov.f32 %f2, %f1; @%p1 add.f32 %f2, %f1, %f1;", "%f2", HARDWARE, LOADED),
    "over a constant": ("mov.f32 %f2, 0f7F8ABCDE; @%p1 mul.f32 %f2, %f1, %f1;", "%f2", HARDWARE, LOADED),
    "sent to other lanes": (
        _ADD + "mov.b32 %r2, %f2; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;",
        "%r3",
        HARDWARE,
        HARDWARE,
    ),
    "compared": (
        _ADD + "mov.b32 %r2, %f2; setp.eq.u32 %p2, %r2, 2147483647; selp.u32 %r3, 1, 0, %p2;",
        "%r3",
        1,
        1,
    ),
    "kept over a barrier": (_ADD + "bar.sync 0;", "%f2", HARDWARE, HARDWARE),
    "accumulated": (
        "mov.f32 %f2, 0f00000000; mov.u32 %r2, 0;\nL: add.f32 %f2, %f2, %f1; add.u32 %r2, %r2, 1;"
        " setp.lt.u32 %p2, %r2, 5; @%p2 bra L;",
        "%f2",
        HARDWARE,
        HARDWARE,
    ),
    "not touched": ("mov.f32 %f2, %f1;", "%f2", LOADED, LOADED),
}


@pytest.mark.parametrize("engine", [*CPU_ENGINES, pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", _BODIES)
def test_nan_is_the_hardwares_once_it_is(name: str, engine: str):
    body, stored, below, above = _BODIES[name]
    store = f" st.global.b32 [%rd5], {stored}; ret;"
    given, out = np.full(32, LOADED, np.uint32), np.zeros(32, np.uint32)
    run_ptx(kernel(_PRELUDE + body + store, "u64 a, u64 out"), 1, 32, [given, out], engine=engine)
    assert out.tolist() == [below] * 16 + [above] * 16
