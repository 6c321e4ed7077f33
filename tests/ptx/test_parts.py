"""Modules taken apart: each kernel with what it reaches."""

from __future__ import annotations

import pytest

from warpglass import ptx
from warpglass.ptx.parts import Parts

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
MODULE = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.func (.param .b32 r) twice(.param .b32 x);
.func (.param .b32 r) four_times(.param .b32 x)
;
.global .align 8 .u64 table[1] = { listed };
.visible .const .u32 size = 4;
.func listed() { ret; } // }
.weak .func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret;
}
.func (.param .b32 r) four_times(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [x];
    { // a call {
        .param .b32 p; .param .b32 q;
        st.param.b32 [p], %r1;
        call.uni (q), twice, (p);
        ld.param.b32 %r1, [q];
}
    st.param.b32 [r], %r1; ret;
}
.visible .entry calls(.param .u32 x)
.maxntid 32, 1, 1
{
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [x];
    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), four_times, (p); }
    ret;
}
.visible .entry alone() { ret; }
"""
)


def names(text: str) -> set[str]:
    return {one.name for one in ptx.parse(text, "a part").functions}


def test_a_kernel_comes_with_what_it_reaches() -> None:
    parts = Parts(MODULE)
    assert parts.entries == ("calls", "alone")
    assert not parts.whole
    assert parts.defined == {"calls", "alone", "listed", "twice", "four_times"}
    assert names(parts.of("calls")) == {"calls", "four_times", "twice", "listed"}
    assert names(parts.of("alone")) == {"alone", "listed"}
    assert names(parts.outside) == {"listed"}
    assert {one.name for one in ptx.parse(parts.outside, "outside").variables} == {"table", "size"}


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ".visible .entry only() { ret; }\n.func other() { ret; }\n",
        HEAD + ".visible .entry one() {\n    .global .u32 own;\n    ret; }\n.visible .entry two() { ret; }\n",
    ],
    ids=["of one kernel", "with variables of a kernel"],
)
def test_what_is_not_taken_apart_stays_whole(text: str) -> None:
    parts = Parts(text)
    assert parts.outside == text
    assert all(parts.of(entry) == text for entry in parts.entries)


def test_what_is_cut_off_is_the_parsers_business() -> None:
    parts = Parts(MODULE.rstrip().removesuffix("}"))
    with pytest.raises(ptx.PtxSyntaxError):
        ptx.parse(parts.of("alone"))
    ptx.parse(parts.of("calls"))


def test_lines_stay_in_place() -> None:
    part = Parts(MODULE).of("alone", in_place=True)
    lines = MODULE.split("\n")
    kept = [(place, line) for place, line in enumerate(part.split("\n")) if line.strip()]
    assert kept
    assert all(lines[place].endswith(line) for place, line in kept)
    assert "four_times" not in part


def test_long_texts_are_read_for_one_kernel() -> None:
    """What is wrong with other kernels is told of short texts only."""
    wrong = MODULE + ".visible .entry wrong() { add.u32 %r1, [; }\n"
    with pytest.raises(ptx.PtxSyntaxError):
        ptx.parse_authored(wrong, "short", "alone")
    padded = wrong + "//" + " " * (1 << 20)
    read = ptx.parse_authored(padded, "long", "alone")
    assert {one.name for one in read.functions} == {"alone", "listed"}
    with pytest.raises(ptx.PtxSyntaxError, match=f"{wrong.count(chr(10))}"):
        ptx.parse_authored(padded, "long", "wrong")
