"""Constant expressions: what they are worth, as ptxas 13.0 has it."""

from __future__ import annotations

import struct

import pytest

from tests.ptx_text import kernel
from warpglass.ptx import PtxSyntaxError, parse
from warpglass.ptx.tree import Address, Displaced, Float, Instruction, Integer, Register

VALUES = {
    "!0": 1,
    "!!3": 1,
    "~0&0xff": 255,
    "(1+2)*3": 9,
    "((3))": 3,
    "1+2<<3": 24,
    "1<<40": 1 << 40,
    "-16>>2": -4,
    "-7/2": -3,
    "7/2*2": 6,
    "10-3-2": 5,
    "6&3|8": 10,
    "6^3": 5,
    "1|2": 3,
    "1|2==2": 1,
    "5>3": 1,
    "3<2": 0,
    "5>=5": 1,
    "-1<0": 1,
    "1!=2": 1,
    "1&&0": 0,
    "2||0": 1,
    "0?4:5": 5,
    "1?2:0?3:4": 2,
    "3>2?1:0": 1,
    "(.s64)0xffffffffffffffff>>1": -1,
    "(.u64)-1>>60": 15,
    "(.u64)-1/2": (1 << 63) - 1,
    "2*WARP_SZ": 64,
    "WARP_SZ/2": 16,
    "0x10+010+0b11": 27,
    "-1U/2": (1 << 63) - 1,
    "-1/2U": (1 << 63) - 1,
    "-1>>1U": -1,
    "-4U>>1": (1 << 63) - 2,
    "-1<1U": 0,
    "~0>>4": (1 << 60) - 1,
    "0xffffffffffffffff+1": 0,
    "0x7fffffffffffffff*4": -4,
    "(0x7fffffffffffffff+1)>>1": -(1 << 62),
    "(1<<63)>>63": -1,
    "(1U<<63)>>63": 1,
    "1<<65": 2,
    "-1>>70": -1,
    "(-7) % 3": 0,
    "((-7) % 3)-9<0": 0,
    "(1?2U:4)-5<0": 0,
    "(1?4:2U)-5<0": 1,
    "(1<2U)-5<0": 1,
    "!0U-5<0": 1,
    "(-4|0)/2": -2,
    "(-4|0U)/2": (1 << 63) - 2,
    "-5==0xfffffffffffffffbU": 1,
    "(.s64)1U-5<0": 1,
    "1.0<2.0": 1,
    "(1.5>=2.0)+1": 1,
}
# Floating expressions, with the double that ptxas makes of them.
FLOATING = {
    "1.0/3.0": 1 / 3,
    "1.0+2.0*3.0": 7.0,
    "-(1.5)": -1.5,
    "- 1.0 + 2.0": 1.0,
    "5.0-2.0-1.0": 2.0,
    "0d3FF0000000000000*2.0": 2.0,
    "16777216.0+1.0-16777216.0": 1.0,
}


@pytest.mark.parametrize("written", VALUES)
def test_values(written: str):
    body = (
        f"mov.b64 %rd1, {written}; ld.global.u32 %r1, [%rd1+({written})]; add.u64 %rd2, %rd1+({written}), 4;"
    )
    items = parse(kernel(f"{body} ret;"), "k").functions[0].body or ()
    move, load, add = [item for item in items if isinstance(item, Instruction)][:3]
    assert move.operands[1] == Integer(VALUES[written])
    assert load.operands[1] == Address(Register("%rd1"), VALUES[written])
    assert add.operands[1] == Displaced(Register("%rd1"), VALUES[written])


@pytest.mark.parametrize("written", FLOATING)
def test_floating_values(written: str):
    body = f"mov.f64 %fd1, {written}; ret;"
    items = parse(kernel(body), "k").functions[0].body or ()
    move = next(item for item in items if isinstance(item, Instruction))
    bits = int.from_bytes(struct.pack(">d", FLOATING[written]))
    assert move.operands[1] == Float(bits, 64)


def test_in_initial_values():
    text = kernel("ret;").replace(".visible", ".global .b64 x[3] = {WARP_SZ, 1 ? 4 : 5, (.u64)-1};\n.visible")
    assert parse(text, "k").variables[0].initial == (Integer(32), Integer(4), Integer((1 << 64) - 1))


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("1 ? 2", "':' of the constant expression"),
        ("(1 + 2", "')' of the constant expression"),
        ("1 / 0", "division by zero"),
        ("1.0 / 0.0", "division by zero"),
        ("1.5 + 2", "an integer and a floating constant on both sides of '+'"),
        ("!1.0", "'!' of a constant expression takes integers only"),
        ("1 ? 2.0 : 3.0", "'?:' of a constant expression takes integers only"),
        ("0f3F800000 * 2.0", "after operand '0f3F800000'"),
        ("2.0 * 0f3F800000", "the literal 0f3F800000 has no part in expressions"),
        ("(.s32)5", "'.s32' is not a number"),
    ],
)
def test_mistakes(written: str, words: str):
    with pytest.raises(PtxSyntaxError) as caught:
        parse(kernel(f"mov.b64 %rd1, {written}; ret;"), "k")
    assert words in str(caught.value)
