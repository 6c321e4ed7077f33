"""Operands of a wrong type and modifiers that exclude each other: refused where ptxas refuses them.

Each line was given to ptxas 13.0 (sm_90a); `good` and `bad` are its verdicts.
"""

from __future__ import annotations

import pytest

from warpglass import ptx
from warpglass.errors import CompileError
from warpglass.program import build_program

TYPES = "pred b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 b64 u64 s64 f64".split()

GOOD = """
add.s64 %b64_0, %u64_0, %s64_0
add.s32 %u32_0, %b32_0, -1
add.f32 %b32_0, %f32_0, 0f3F800000
add.f64 %f64_0, %b64_0, %f64_0
and.b32 %f32_0, %s32_0, %b32_0
and.b16 %f16_0, %u16_0, %b16_0
and.pred %pred_0, %pred_1, %pred_0
mov.b32 %f32_0, %u32_0
mov.b64 %f64_0, %s64_0
mov.b32 %r32, {%f16_0, %f16_1}
selp.b64 %f64_0, %u64_0, %s64_0, %pred_0
setp.eq.b32 %pred_0, %f32_0, %u32_0
setp.lt.s32 %pred_0, %u32_0, %b32_0
setp.lo.u32 %pred_0, %s32_0, %b32_0
shl.b64 %u64_0, %b64_0, %s32_0
mul.wide.s32 %u64_0, %s32_0, %u32_0
fma.rn.f16 %b16_0, %f16_0, %b16_0, %b16_0
cvt.u32.u64 %u64_0, %b64_0
cvt.s64.s8 %s64_0, %u32_0
cvt.rn.f32.s16 %b64_0, %s64_0
cvt.sat.u8.s32 %u16_0, %u32_0
cvt.rn.f16.f32 %b32_0, %b64_0
ld.global.u8 %b64_0, [%u64_0]
ld.global.b16 %f64_0, [%u64_0]
ld.global.f32 %b64_0, [%u64_0]
ld.global.v2.f32 {%u32_0, %u32_1}, [%u64_0]
st.global.u8 [%u64_0], %s32_0
st.global.b32 [%s64_0+4], %f64_0
st.shared.u32 [%u32_0], %b64_0
atom.global.add.f32 %f32_0, [%u64_0], %b32_0
popc.b64 %s32_0, %f64_0
mov.f32 %f32_0, 3.0
mov.f32 %f32_0, 0d4008000000000000
mov.f64 %f64_0, 0f40400000
mov.b32 %f32_0, 3
mov.b32 %b32_0, 0f40400000
mov.b64 %b64_0, 3.0
mov.b64 %b64_0, {0f3f800000, 0f3f800000}
and.b32 %b32_0, %b32_0, 0f3f800000
selp.b64 %u64_0, 1.0, 2.0, %pred_0
slct.u32.f32 %u32_0, 1, 2, 1.0
cvt.rn.f32.u32 %f32_0, -1
st.global.v2.f32 [%u64_0], {1.0, 2.0}
st.global.v2.u32 [%u64_0], {1, 2}
mov.pred %pred_0, 1
"""

BAD = """
add.s64 %b64_0, %u64_0, %u32_0
add.s64 %u32_0, %u64_0, %u64_0
add.s32 %f32_0, %b32_0, -1
add.s32 %u64_0, %u64_0, %u64_0
add.f32 %f32_0, %u32_0, %f32_0
add.f64 %f64_0, %s64_0, %f64_0
and.b32 %u32_0, %u64_0, %u32_0
and.b32 %u32_0, %pred_0, %u32_0
and.pred %pred_0, %u32_0, %pred_0
mov.u32 %f32_0, %u32_0
mov.u64 %u64_0, %tid
mov.b32 %b32_0, {%u32_0, %u32_0}
selp.b32 %u32_0, %u32_0, %u32_0, %u32_0
setp.lt.b32 %pred_0, %b32_0, %b32_0
setp.lo.s32 %pred_0, %s32_0, %s32_0
setp.eq.b32 %u32_0, %b32_0, %b32_0
setp.gt.and.b64 %pred_0, %b64_0, %b64_0, %pred_0
set.lt.u32.b16 %u32_0, %b16_0, %b16_0
set.eq.f16.bf16 %f16_0, %b16_0, %b16_0
shl.b64 %u64_0, %b64_0, %u64_0
mul.wide.s32 %s32_0, %s32_0, %u32_0
fma.rn.f16 %u16_0, %f16_0, %b16_0, %b16_0
fma.rn.bf16 %f16_0, %b16_0, %b16_0, %b16_0
ex2.approx.bf16 %b16_0, %b16_0
cvt.u64.u32 %u32_0, %u32_0
cvt.u32.u64 %u32_0, %u32_0
cvt.sat.u32.u16 %u32_0, %u16_0
cvt.sat.s64.u32 %s64_0, %u32_0
cvt.rn.f32.s32 %f64_0, %s32_0
cvt.rn.bf16.f32 %b32_0, %f32_0
ld.global.u32 %u16_0, [%u64_0]
ld.global.u32 %f32_0, [%u64_0]
ld.global.f32 %f64_0, [%u64_0]
ld.global.f32 %u32_0, [%u64_0]
ld.global.u32 %u32_0, [%f64_0]
st.global.u64 [%u64_0], %u32_0
atom.global.add.u32 %u32_0, [%u64_0], %u64_0
@%u32_0 ret
mov.f32 %f32_0, 3
mov.b32 %b32_0, 3.0
mov.b64 %b64_0, 0f40400000
mov.u32 %u32_0, 0f40400000
mov.b16 %b16_0, 1.0
add.f32 %f32_0, %f32_0, 0x40400000
add.f16 %f16_0, %f16_0, 0x3c00
add.f16 %f16_0, %f16_0, 1.0
fma.rn.f64 %f64_0, %f64_0, 2, %f64_0
setp.lt.f32 %pred_0, %f32_0, 3
slct.f32.s32 %f32_0, 1, 2, %s32_0
shl.b32 %b32_0, %b32_0, 1.0
cvt.rn.f32.s32 %f32_0, 3.0
cvt.rzi.s32.f32 %s32_0, 3
atom.global.add.f32 %f32_0, [%u64_0], 1
st.global.f32 [%u64_0], 3
st.global.b32 [%u64_0], 3.0
st.global.v2.f32 [%u64_0], {1, 2}
st.global.v2.u32 [%u64_0], {1.0, 2}
"""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def build(line: str) -> None:
    registers = "\n".join(f".reg .{type_} %{type_}_<2>;" for type_ in TYPES)
    text = (
        ".version 8.7\n.target sm_90a\n.address_size 64\n"
        f".visible .entry k()\n{{\n{registers}\n.reg .b32 %r32;\n{line};\nret;\n}}\n"
    )
    build_program(ptx.parse(text, "k"), "k")


@pytest.mark.parametrize("line", lines(GOOD))
def test_good(line: str) -> None:
    build(line)


@pytest.mark.parametrize("line", lines(BAD))
def test_bad(line: str) -> None:
    with pytest.raises(CompileError):
        build(line)


def message(line: str) -> str:
    with pytest.raises(CompileError) as caught:
        build(line)
    return str(caught.value)


def test_messages_say_what_is_right() -> None:
    assert message("add.s64 %b64_0, %u64_0, %u32_0") == (
        "kernel k has an operand of a wrong type\n"
        "add.s64 cannot have %u32_0, which is .u32 (PTX line 23); it needs .b64, .u64 or .s64"
    )
    assert "%f64_0, which is .f64 (PTX line 23); it needs .b32 or .f32, or wider" in message(
        "ld.global.f32 %f64_0, [%u64_0]"
    )
    assert "the integer 3 (PTX line 23); it needs a floating constant, such as 3.0" in message(
        "mov.f32 %f32_0, 3"
    )
    assert "0d4008000000000000 (PTX line 23); it needs an integer" in message("mov.u32 %u32_0, 3.0")
    assert "there are no constants of .f16" in message("add.f16 %f16_0, %f16_0, 1.0")
    assert "a guard needs a .pred register; %u32_0 is .u32" in message("@%u32_0 ret")
    assert ".b32 is compared by .eq and .ne; for an order take .u32 or .s32" in message(
        "setp.lt.b32 %pred_0, %b32_0, %b32_0"
    )
    assert "every .u16 is a .u32; leave .sat out" in message("cvt.sat.u32.u16 %u32_0, %u16_0")


def test_all_operands_are_named_at_once() -> None:
    assert "has 3 operands of a wrong type" in message("add.s64 %u32_0, %f64_0, %u16_0")
