"""Modifiers in any order: the table takes exactly the spellings that ptxas takes, with the same meaning.

Orders are drawn at random for every row, other ones with another seed. What ptxas makes of the spellings is
the machine code that it makes of the same instructions as the notation has them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.levels import SEED
from tests.ptx_text import kernel
from warpglass import isa, ptx
from warpglass.isa import Row
from warpglass.isa.table import ROWS
from warpglass.ptx.tree import Instruction
from warpglass.source.cubin import ptxas_program

from .spellings import ask, choices, operands, permutations, write_module

# Some forms are of newer GPUs, some of older versions.
TARGETS = (("9.0", "sm_90a"), ("9.0", "sm_100a"), ("6.3", "sm_75"))
OPCODES = sorted(opcode for opcode in ROWS if not opcode.startswith("_"))

Spelling = tuple[str, str]  # opcode with modifiers, operands


def draw(row: Row, rng: random.Random, ptxas: Path, folder: Path) -> tuple[tuple[str, str], list[Spelling]]:
    """Orders of a row's modifiers, and a GPU that has the row's own."""
    opcode = row.pattern.opcode
    own = [(words, given) for words in choices(row, rng) if (given := operands(row.pattern, words))]
    for target in TARGETS:
        answers, _ = ask(ptxas, [write(opcode, *one) for one in own], folder, target)
        taken = [one for one, answer in zip(own, answers, strict=True) if answer is None]
        if taken:
            return target, [(write(opcode, o, ""), g) for w, g in taken for o in permutations(w, rng)]
    return TARGETS[0], []


def write(opcode: str, words: Sequence[str], given: str) -> str:
    """One instruction."""
    return f"{'.'.join([opcode, *words])} {given};" if given else ".".join([opcode, *words])


def read(lines: Sequence[str], target: tuple[str, str]) -> list[isa.Match | None]:
    """What the table makes of instructions."""
    function = ptx.parse(write_module(lines, target), "spellings").functions[0]
    items = [item for item in function.body or () if isinstance(item, Instruction)][: len(lines)]
    found = map(isa.match, items)
    return [one if one and not list(isa.find_misfits(one, function.registers)) else None for one in found]


@pytest.mark.sampled(quick=12, ci=8)
@pytest.mark.parametrize("opcode", OPCODES)
def test_the_table_takes_the_orders_that_ptxas_takes(opcode: str, tmp_path: Path):
    ptxas = ptxas_program()
    if ptxas is None:
        pytest.skip("the wheel with ptxas is not installed")
    rng = random.Random(f"{opcode} {SEED}")
    for row in ROWS[opcode]:
        target, drawn = draw(row, rng, ptxas, tmp_path)
        lines = [f"{head} {given};" for head, given in drawn]
        answers, code = ask(ptxas, lines, tmp_path, target)
        found = read(lines, target)
        plain = [
            write(opcode, match.instruction.modifiers, given) if match else "ret;"
            for match, (_, given) in zip(found, drawn, strict=True)
        ]
        # Where ptxas refuses the manual's order too, as another choice of modifiers, order is not the matter.
        manual, _ = ask(ptxas, plain, tmp_path, target)
        cases = list(zip(lines, found, plain, answers, manual, strict=True))
        wrong = [
            f"{line} is {'taken' if match else 'refused'}; ptxas: {answer or 'fine'}"
            for line, match, _, answer, usual in cases
            if (match is None or usual is not None) != (answer is not None)
        ]
        assert not wrong, "\n".join(wrong)
        taken = [one for _, _, one, answer, _ in cases if answer is None]
        assert ask(ptxas, taken, tmp_path, target) == ([None] * len(taken), code)


@pytest.mark.parametrize(
    ("written", "manual"),
    [
        ("ld.global.acquire.gpu.b32", "ld.acquire.gpu.global.b32"),
        ("ld.nc.global.b32", "ld.global.nc.b32"),
        ("st.global.release.sys.b32", "st.release.sys.global.b32"),
        ("atom.global.gpu.acq_rel.add.u32", "atom.acq_rel.gpu.global.add.u32"),
        ("vote.ballot.sync.b32", "vote.sync.ballot.b32"),
        ("setp.u32.and.lt", "setp.lt.and.u32"),
        ("cvt.f32.rn.s32", "cvt.rn.f32.s32"),
        ("cvt.s32.rzi.f32", "cvt.rzi.s32.f32"),
    ],
)
def test_a_match_has_the_order_of_the_manual(written: str, manual: str):
    words = {one: tuple(one.split(".")) for one in (written, manual)}
    opcode, *rest = words[written]
    found = {row.pattern.respell(tuple(rest)) for row in ROWS[opcode]} - {None}
    assert words[manual][1:] in found


@pytest.mark.parametrize(
    "line",
    [
        "mul.u32.wide %rd1, %r1, %r2;",  # part of the name
        "cvt.s32.rn.f32 %f1, %r1;",  # from the second type
        "cp.async.ca.global.shared [%r1], [%rd1], 4;",
        "mma.sync.aligned.m8n8k16.col.row.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
        "add.ftz.ftz.f32 %f1, %f1, %f1;",
        "ld.global.shared.u32 %r1, [%rd1];",
    ],
)
def test_where_order_has_a_meaning(line: str):
    (found,) = read([line], TARGETS[0])
    assert found is None


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_runs_what_is_written_in_another_order(engine: str):
    text = kernel(
        "ld.b64.param %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;"
        "setp.u32.gt %p1, %r1, 7; vote.b32.ballot.sync %r2, %p1, -1; cvt.f32.rn.u32 %f1, %r1;"
        "cvt.u32.rzi.f32 %r3, %f1; add.u32 %r2, %r2, %r3; st.global.release.sys.u32 [%rd2], %r2;"
        "atom.global.gpu.acq_rel.add.u32 %r4, [%rd1+128], 1; ld.b32.global.gpu.acquire %r5, [%rd1+128]; ret;",
        "u64 out",
    )
    out = np.zeros(33, np.uint32)
    run_ptx(text, 1, 32, [out], engine=engine)
    assert out.tolist() == [0xFFFFFF00 + lane for lane in range(32)] + [32]
