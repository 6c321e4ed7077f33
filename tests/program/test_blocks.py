"""The order of basic blocks, named by marks in them, and what a decoded kernel is refused for."""

from __future__ import annotations

import pytest

from tests.generators.kernels import random_kernel
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.errors import CompileError, UnsupportedError
from warpglass.program import Barrier, Block, Branch, Exit, Jump, Program, Trap, build_program
from warpglass.ptx import tree


def program_of(body: str, parameters: str = "") -> Program:
    """The program of a kernel's body."""
    return build_program(ptx.parse(kernel(body, parameters), "test"), "k")


def marks(program: Program) -> dict[int, int]:
    """Block numbers by mark: `mov.u32 %r99, 7;` marks its block with 7."""
    found: dict[int, int] = {}
    for index, block in enumerate(program.blocks):
        for step in block.steps:
            match step.instruction.operands:
                case (tree.Register("%r99"), tree.Integer(mark)):
                    assert mark not in found
                    found[mark] = index
    return found


def in_order(body: str) -> list[int]:
    """The marks by their blocks' order."""
    found = marks(program_of(body))
    return sorted(found, key=found.__getitem__)


START = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; setp.lt.u32 %p2, %r1, 9; mov.u32 %r99, 1;"


def mark(number: int) -> str:
    return f"mov.u32 %r99, {number};"


@pytest.mark.parametrize(
    ("body", "order"),
    [
        pytest.param(f"{START} @%p1 bra A; {mark(2)} A: {mark(3)} ret;", [1, 2, 3], id="if"),
        pytest.param(
            f"{START} @%p1 bra A; {mark(2)} bra B; A: {mark(3)} B: {mark(4)} ret;",
            [1, 2, 3, 4],
            id="if-else",
        ),
        pytest.param(
            f"{START} L: {mark(2)} @%p1 bra L; {mark(3)} ret;",
            [1, 2, 3],
            id="loop-tested-at-the-end",
        ),
        pytest.param(
            f"{START} L: {mark(2)} @%p1 bra OUT; {mark(3)} bra L; OUT: {mark(4)} ret;",
            [1, 2, 3, 4],
            id="loop-tested-at-the-top",
        ),
        pytest.param(
            f"{START} bra TEST; OUT: {mark(4)} ret; BODY: {mark(3)} bra TEST;"
            f"TEST: {mark(2)} @%p1 bra BODY; bra OUT;",
            [1, 2, 3, 4],
            id="loop-written-behind-what-follows-it",
        ),
        pytest.param(
            f"{START} A: {mark(2)} B: {mark(3)} @%p1 bra B; {mark(4)} @%p2 bra A; {mark(5)} ret;",
            [1, 2, 3, 4, 5],
            id="nested-loops",
        ),
        pytest.param(
            f"{START} L: {mark(2)} @%p1 bra BREAK; {mark(3)} @%p2 bra L; bra OUT;"
            f"BREAK: {mark(4)} OUT: {mark(5)} ret;",
            [1, 2, 3, 4, 5],
            id="break-into-code-of-its-own",
        ),
        pytest.param(
            f"{START} L: {mark(2)} @%p1 bra NEXT; {mark(3)} NEXT: {mark(4)} @%p2 bra L; {mark(5)} ret;",
            [1, 2, 3, 4, 5],
            id="continue",
        ),
    ],
)
def test_blocks_stand_in_the_order_in_which_lanes_run(body: str, order: list[int]):
    assert in_order(body) == order


def test_early_return_is_an_exit_beside_the_code_that_goes_on():
    program = program_of(f"{START} @%p1 ret; {mark(2)} ret;")
    first = program.blocks[0].end
    assert isinstance(first, Branch)
    assert program.blocks[first.taken].only_exits
    assert first.other == marks(program)[2]


@pytest.mark.parametrize(
    ("instruction", "kind"), [("ret", Exit), ("exit", Exit), ("trap", Trap), ("bar.sync 0", Barrier)]
)
@pytest.mark.parametrize("guard", ["", "@%p1 ", "@!%p1 "])
def test_guarded_endings_become_branches_around_a_block(instruction: str, kind: type, guard: str):
    program = program_of(f"{START} {guard}{instruction}; {mark(2)} ret;")
    end = program.blocks[0].end
    if guard:
        assert isinstance(end, Branch)
        assert end.negated == ("!" in guard)
        assert end.other == marks(program)[2]
        end = program.blocks[end.taken].end
    assert isinstance(end, kind)


def test_unreachable_code_is_dropped():
    program = program_of(f"{START} bra END; {mark(2)} L: {mark(3)} bra L; END: {mark(4)} ret;")
    assert set(marks(program)) == {1, 4}


def test_a_label_at_the_end_is_an_exit():
    program = program_of(f"{START} @%p1 bra END; {mark(2)} END:")
    assert [block.only_exits for block in program.blocks] == [False, False, True]


def test_labels_in_a_row_are_one_block():
    program = program_of(f"{START} @%p1 bra B; @%p2 bra A; {mark(2)} A: B: {mark(3)} ret;")
    first, found = program.blocks[0].end, marks(program)
    assert isinstance(first, Branch)
    assert first.taken == found[3]


def test_a_branch_out_of_the_function_is_refused_with_its_line():
    with pytest.raises(CompileError, match="nowhere") as caught:
        program_of("mov.u32 %r1, 1;\nbra nowhere;")
    assert caught.value.diagnostics[0].line is not None


def test_all_unsupported_instructions_are_listed_with_lines_and_known_forms():
    text = kernel(
        "add.sat.f64 %fd1, %fd2, %fd3;\nmov.u32 %r1, 1;\n.loc 1 42 0\nfrobnicate.u32 %r1, %r1;\nret;"
    )
    text = text.replace(".visible", '.file 1 "who.cu"\n.visible')
    with pytest.raises(UnsupportedError) as caught:
        build_program(ptx.parse(text, "test"), "k")
    first, second = caught.value.diagnostics
    lines = text.splitlines()
    line = lines.index("add.sat.f64 %fd1, %fd2, %fd3;") + 1
    assert f"add.sat.f64 is not supported (PTX line {line})" in first.message
    assert "known forms: " in first.message
    assert "add{.rnd}.f64 d, a, b" in first.message
    assert f"PTX line {lines.index('frobnicate.u32 %r1, %r1;') + 1}" in second.message
    assert (second.file, second.line) == ("who.cu", 42)
    assert "no form of it is known" in second.message
    assert "2 instructions" in str(caught.value)


def test_only_the_entry_asked_for_must_be_supported():
    good = kernel("ret;")
    bad = kernel("frobnicate.u32 %r1, %r1; ret;", name="other").partition(".visible")[2]
    module = ptx.parse(f"{good}\n.visible{bad}", "test")
    assert build_program(module, "k").name == "k"
    with pytest.raises(UnsupportedError, match="kernel other"):
        build_program(module, "other")


def test_a_missing_kernel_is_named_with_those_there_are():
    with pytest.raises(CompileError, match="no kernel named 'missing'; it has: k"):
        build_program(ptx.parse(kernel("ret;"), "test"), "missing")


@pytest.mark.parametrize("seed", range(30))
def test_loops_are_contiguous_and_precede_what_follows_them(seed: int):
    blocks = build_program(ptx.parse(random_kernel(seed, size=25).text, "test"), "k").blocks
    for source, block in enumerate(blocks):
        for header in block.successors:
            if header > source:
                continue
            # A backward edge: all that lies between can reach it without leaving the span, so it is the loop.
            inside = _reaching(blocks, source, range(header, source + 1))
            assert inside == set(range(header, source + 1)) & inside | {header, source}
            assert all(isinstance(blocks[b].end, Jump | Branch | Barrier) for b in inside)


def _reaching(blocks: tuple[Block, ...], goal: int, span: range) -> set[int]:
    found = {goal}
    changed = True
    while changed:
        changed = False
        for index in span:
            if index not in found and any(target in found for target in blocks[index].successors):
                found.add(index)
                changed = True
    return found
