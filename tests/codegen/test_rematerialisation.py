"""What is computed again where it is read, what is not, and that results stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.engine.cpu.prepared import prepare
from warpglass.program import rematerialise
from warpglass.source.compiled import Compiled

SIGNATURE = "u64 x, u64 y"
# Each thread walks through a part of x of its own by an index that what is there decides; the address is
# computed in front of a branch, and used behind it.
TEXT = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    mov.u32 %r2, %r1;
    mov.u32 %r3, 0;
    mov.u32 %r6, 0;
    {before}
LOOP:
    cvt.s64.s32 %rd4, %r2;
    shl.b64 %rd5, %rd4, 2;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.u32 %r4, [%rd6];
    and.b32 %r5, %r4, 1;
    setp.eq.s32 %p1, %r5, 0;
    @%p1 bra EVEN;
    {odd}
    ld.global.u32 %r7, [%rd6+4];
    add.u32 %r6, %r6, %r7;
    shr.u32 %r2, %r4, 1;
    bra.uni NEXT;
EVEN:
    add.u32 %r2, %r2, 3;
    {even}
    ld.global.u32 %r7, [%rd6+8];
    xor.b32 %r6, %r6, %r7;
NEXT:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 9;
    @%p2 bra LOOP;
    st.global.u32 [%rd2], %r6;
    ret;
"""


def _text(before: str = "", odd: str = "", even: str = "") -> str:
    # A store in each branch: neither is made a selection.
    odd, even = (f"st.global.u32 [%rd2], %r3;\n    {one}" for one in (odd, even))
    return kernel(TEXT.format(before=before, odd=odd, even=even), SIGNATURE)


def _recomputed(text: str, chosen: set[str]) -> list[int]:
    """How many steps each block has gained."""
    program = prepare(Compiled(text, "k", "k", "ptx")).program
    again = rematerialise(program, chosen)
    pairs = zip(program.blocks, again.blocks, strict=True)
    return [len(new.steps) - len(old.steps) for old, new in pairs]


ADDRESS = {"%rd4", "%rd5", "%rd6"}


def test_an_address_is_computed_in_each_branch() -> None:
    """Also where the index has become another one by then."""
    assert _recomputed(_text(), ADDRESS) == [0, 0, 3, 3, 0, 0]
    assert _recomputed(_text(), ADDRESS - {"%rd5"}) == [0] * 6  # then the sum is one of 64 bits only
    assert _recomputed(_text(), {"%rd6"}) == [0] * 6


@pytest.mark.parametrize(
    ("odd", "gained"),
    [
        ("mov.u64 %rd6, %rd1;", [0, 0, 0, 3, 0, 0]),  # holds something else by then
        ("add.u64 %rd6, %rd6, 4;", [0, 0, 3, 3, 0, 0]),  # is read before that
    ],
)
def test_what_a_branch_writes(odd: str, gained: list[int]) -> None:
    assert _recomputed(_text(odd=odd), ADDRESS) == gained


def test_what_some_ways_have_changed() -> None:
    """Behind the branches the index may be another one; in front of the loop nothing was computed."""
    text = _text().replace("add.u32 %r3, %r3, 1;", "add.u32 %r3, %r3, 1;\n    ld.global.u32 %r7, [%rd6];")
    assert _recomputed(text, ADDRESS) == [0, 0, 3, 3, 0, 0]


def test_not_in_an_inner_loop() -> None:
    inner = "mov.u32 %r9, 0;\nIN: ld.global.u32 %r8, [%rd6]; add.u32 %r6, %r6, %r8; add.u32 %r9, %r9, 1;"
    inner += " setp.lt.u32 %p3, %r9, %r5; @%p3 bra IN;"
    assert _recomputed(_text(odd=inner), ADDRESS)[3] == 0


@pytest.mark.parametrize("threads", [32, 96, 45])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"odd": "add.u64 %rd6, %rd6, 4;"},
        {"even": "add.s64 %rd5, %rd5, 4; add.s64 %rd6, %rd1, %rd5;"},
        {"before": "add.u32 %r2, %r2, 1;", "odd": "@%p2 mov.u64 %rd6, %rd1;"},
    ],
)
def test_results(parts: dict[str, str], threads: int) -> None:
    x = np.random.default_rng(threads).integers(0, 400, 500).astype(np.uint32)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        results.append(np.zeros(threads, np.uint32))
        run_ptx(_text(**parts), 1, threads, (x, results[-1]), engine=engine)
    np.testing.assert_array_equal(results[1], results[0])
