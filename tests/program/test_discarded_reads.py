"""Loads that only some threads use are guarded by what decides it, and no others are."""

from __future__ import annotations

import pytest

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import build_program, guard_discarded_reads
from warpglass.ptx import tree

LOAD = "ld.shared.u32 %r2, [s];"
TEST = "setp.eq.u32 %p1, %r1, 0;"
STORE = "st.global.u32 [%rd1], %r3;"
# What stands in a block, and the guard that its load gets.
CASES: dict[str, tuple[str, tree.Guard | None]] = {
    "chosen": (f"{TEST} {LOAD} selp.u32 %r3, %r2, 7, %p1; {STORE}", tree.Guard("%p1", False)),
    "not_chosen": (f"{TEST} {LOAD} selp.u32 %r3, 7, %r2, %p1; {STORE}", tree.Guard("%p1", True)),
    "stored_under": (f"{TEST} {LOAD} @!%p1 st.global.u32 [%rd1], %r2;", tree.Guard("%p1", True)),
    "behind_arithmetic": (
        f"{TEST} {LOAD} mad.lo.u32 %r4, %r2, 3, %r1; selp.u32 %r3, %r4, 7, %p1; {STORE}",
        tree.Guard("%p1", False),
    ),
    "tested_later": (f"{LOAD} {TEST} selp.u32 %r3, %r2, 7, %p1; {STORE}", tree.Guard("%p1", False)),
    "used_on_one_side": (
        f"{TEST} {LOAD} mov.u32 %r3, 7; @%p1 bra ON; mov.u32 %r3, %r2; ON: {STORE}",
        tree.Guard("%p1", True),
    ),
    "used_in_a_loop": (
        f"{LOAD} mov.u32 %r4, 9; mov.u32 %r3, 0; AGAIN: setp.ne.u32 %p1, %r1, 0; @%p1 bra SKIP; "
        f"add.u32 %r3, %r3, %r2; SKIP: sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra AGAIN; {STORE}",
        tree.Guard("%p1_used_1", True),
    ),
    "tested_anew_in_each_turn": (
        f"mov.u32 %r4, 9; mov.u32 %r3, 0; setp.ne.u32 %p2, %r1, 0; AGAIN: {LOAD} @%p2 bra ON; "
        "ON: setp.eq.u32 %p1, %r1, %r4; bra THEN; THEN: selp.u32 %r3, %r2, %r3, %p1; sub.u32 %r4, %r4, 1; "
        f"setp.ne.u32 %p3, %r4, 0; @%p3 bra AGAIN; {STORE}",
        None,
    ),
    "used_by_all": (f"{TEST} {LOAD} add.u32 %r3, %r2, 1; {STORE}", None),
    "used_twice": (f"{TEST} {LOAD} selp.u32 %r3, %r2, 7, %p1; {STORE} st.global.u32 [%rd1+4], %r2;", None),
    "on_both_sides": (f"{TEST} {LOAD} add.u32 %r4, %r2, 1; selp.u32 %r3, %r2, %r4, %p1; {STORE}", None),
    "decides": (f"{LOAD} setp.eq.u32 %p1, %r2, 0; selp.u32 %r3, %r2, 7, %p1; {STORE}", None),
    "used_behind": (f"{TEST} {LOAD} selp.u32 %r3, %r2, 7, %p1; bra ON; ON: st.global.u32 [%rd1], %r2;", None),
    "store_between": (
        f"{LOAD} st.shared.u32 [s], %r1; {TEST} selp.u32 %r3, %r2, 7, %p1; {STORE}",
        None,
    ),
    "volatile": (
        f"{TEST} {LOAD} selp.u32 %r3, %r2, 7, %p1; {STORE}".replace("ld.", "ld.volatile."),
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_guards(name: str) -> None:
    body, expected = CASES[name]
    text = kernel(f"mov.u32 %r1, %tid.x; {body} ret;", shared=".align 4 .b32 s")
    program = guard_discarded_reads(build_program(ptx.parse(text), "k"))
    steps = [step for block in program.blocks for step in block.steps]
    load = next(
        step for step in steps if step.match.state_space == "shared" and step.match.row.access == "load"
    )
    assert load.instruction.guard == expected
    if expected is not None:
        before = steps[: steps.index(load)]
        assert any(expected.register in step.writes for step in before)
