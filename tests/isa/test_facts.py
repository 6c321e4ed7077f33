"""What rows say of themselves beside their meaning."""

from __future__ import annotations

import re

import pytest

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.errors import UnsupportedError
from warpglass.isa import Match, Row
from warpglass.isa.manual import MANUAL
from warpglass.isa.table import ROWS
from warpglass.program import build_program
from warpglass.ptx import tree

EVERY_ROW = [row for rows in ROWS.values() for row in rows]


def only(text: str) -> Match:
    """The match of a kernel's first instruction."""
    program = build_program(ptx.parse(kernel(f"{text} ret;", "u64 x"), "test"), "k")
    return program.blocks[0].all_steps[0].match


def named(rows: list[Row]) -> list[str]:
    return [row.pattern.text for row in rows]


def test_every_memory_instruction_says_what_it_does_to_memory():
    moves = ("_param",)  # of a parameter to a register, by the program itself
    silent = [row for row in EVERY_ROW if row.unit == "memory" and not (row.access or row.control)]
    assert not named([row for row in silent if row.pattern.opcode not in moves])
    assert not named([row for row in EVERY_ROW if row.access and row.unit != "memory"])


def test_a_row_without_a_meaning_says_how_it_steers():
    assert not named([row for row in EVERY_ROW if row.steers and row.control is None])


@pytest.mark.parametrize(
    ("text", "kind", "space", "size"),
    [
        ("ld.global.u16 %r1, [%rd1];", "load", "global", 2),
        ("ld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "load", "generic", 16),
        ("ld.shared::cta.b128 %rq1, [%rd1];", "load", "shared", 16),
        ("ldu.global.v2.u32 {%r1, %r2}, [%rd1];", "load", "global", 8),
        ("ld.param.u64 %rd1, [x];", "parameter", "param", 8),
        ("st.local.v2.f64 [%rd1], {%fd1, %fd2};", "store", "local", 16),
        ("atom.shared.cas.b64 %rd2, [%rd1], %rd3, %rd4;", "atomic", "shared", 8),
        ("red.global.add.noftz.v8.f16 [%rd1], {%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7, %rs8};",
         "reduction", "global", 16),
        ("cp.async.ca.shared.global [%r1], [%rd1], 8;", "copy", "shared", 8),
    ],
)  # fmt: skip
def test_accesses(text: str, kind: str, space: str, size: int):
    found = only(text).access
    assert found is not None
    assert (found.kind, found.space, found.size) == (kind, space, size)
    assert found.writes == (kind not in ("load", "parameter"))


@pytest.mark.parametrize(
    "text", ["mov.u32 %r1, %r2;", "mbarrier.inval.b64 [%rd1];", "prefetch.global.L1 [%rd1];"]
)
def test_what_accesses_nothing_of_its_own(text: str):
    assert only(text).access is None


def test_operands_by_their_names_in_the_notation():
    swap = only("atom.cas.b32 %r1, [%rd1], %r2, 7;")
    operands = tree.Register("%r1"), tree.Register("%r2"), tree.Integer(7)
    assert tuple(map(swap.operand, "dbc")) == operands
    assert swap.operand("mask") is None
    assert only("bar.warp.sync 7;").member_mask == tree.Integer(7)


# Sections that a row could be thought to be in by its opcode alone, and is not.
SECTIONS = [
    ("add.type  d, a, b", "integer-arithmetic", "add"),
    ("add.cc.type  d, a, b", "extended-precision-arithmetic", "add-cc"),
    ("madc.half.cc.type  d, a, b, c", "extended-precision-arithmetic", "madc"),
    ("rcp.approx.ftz.f64  d, a", "floating-point", "rcp-approx-ftz-f64"),
    ("mov.type  d, a", "data-movement-and-conversion", "mov"),
    ("ld.space{.cache}.nc{.prefetch}{.vec}.type  d*, [a]", "data-movement-and-conversion", "ld-global-nc"),
    ("shfl.mode.b32  d[|p], a, b, c", "data-movement-and-conversion", "shfl"),
    ("cp.async.wait_all", "data-movement-and-conversion", "cp-async-wait-group"),
    ("fence.proxy.alias", "parallel-synchronization-and-communication", "membar"),
    ("bar.warp.sync  mask:b32", "parallel-synchronization-and-communication", "bar-warp-sync"),
    ("_call.vprintf  d:b32, a:b64, b:b64", "control-flow", "call"),
]


def test_every_row_has_a_section_of_the_manual():
    found = {row.pattern.text: row.url for row in EVERY_ROW}
    section = re.compile(
        r"https://docs\.nvidia\.com/cuda/parallel-thread-execution/#[a-z-]+-instructions(-[a-z0-9]+)+"
    )
    assert not named([row for row in EVERY_ROW if not section.fullmatch(row.url)])
    for text, chapter, name in SECTIONS:
        assert found[" ".join(text.split())] == f"{MANUAL}#{chapter}-instructions-{name}"


def test_a_message_names_the_section():
    with pytest.raises(UnsupportedError) as caught:
        only("add.f16.rz %rs1, %rs2, %rs3;")
    assert caught.value.diagnostics[0].message.endswith(
        f"; see {MANUAL}#half-precision-floating-point-instructions-add"
    )
