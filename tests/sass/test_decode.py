"""The decoder, against words that were disassembled once and, where it is installed, against nvdisasm."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from warpglass import lab, ptx
from warpglass.sass.annotate import annotate
from warpglass.sass.decode import Instruction, decode
from warpglass.sass.lines import read_lines
from warpglass.source.compiled import Compiled
from warpglass.source.cubin import cubin
from warpglass.source.elf import read_elf

from . import nvdisasm
from .truth import compiled

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
EXOTIC = Path(__file__).parent / "exotic.cu"

ALIASES = {"REDG": "RED", "CGAERRBAR": "ERRBAR"}  # names of newer targets
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


def instruction(low: int, high: int, offset: int = 0, capability: int = 90) -> Instruction:
    """Decode one word at an offset of its section."""
    filler = bytes(offset)
    return decode(filler + low.to_bytes(8, "little") + high.to_bytes(8, "little"), {0: 7}, capability)[-1]


@pytest.mark.parametrize(
    ("low", "high", "name", "guard", "negated", "width"),
    [
        (0xFFFFF00402107984, 0x000EA80008000C00, "LDS", None, False, 16),
        (0x0000000802008981, 0x000EA2000C1E1900, "LDG", 0, True, 4),
        (0xFFFC000306007388, 0x0201E40000000800, "STS", None, False, 4),
        (0x000000000000094D, 0x000FEA0003800000, "EXIT", 0, False, 0),
        (0x0000000000007B1D, 0x000FEC0000010000, "BAR", None, False, 0),
        (0x00000040FF027435, 0x000FE200000001FF, "HFMA2", None, False, 0),
    ],
)
def test_words_of_sm_90(low: int, high: int, name: str, guard: int | None, negated: bool, width: int):
    found = instruction(low, high)
    assert (found.name, found.guard, found.negated, found.width) == (name, guard, negated, width)
    assert found.line == 7


def test_branches_go_forward_and_backward():
    assert instruction(0x0000000000380947, 0x000FEA0003800000, 0xA0).target == 0x190
    assert instruction(0xFFFFFFFC00E08947, 0x000FEA000383FFFF, 0x180).target == 0x110
    assert instruction(0x0000010000008947, 0x000FEA0003800000, 0x50, 75).target == 0x160


def test_branches_have_three_kinds_of_conditions():
    plain = instruction(0x0000000000047947, 0x000FEA0003800000)
    second = instruction(0x00000004002C7947, 0x000FEA0005000000)
    uniform = instruction(0x0000000108287547, 0x000FEA000B800000)
    parted = instruction(0x0000000604FC7947, 0x000FEA000B800000)
    assert [item.conditional for item in (plain, second, uniform, parted)] == [False, True, True, True]
    assert [item.parted for item in (plain, parted)] == [None, True]


def test_an_atomic_operation_without_a_result_is_a_reduction():
    assert instruction(0x0000202516FF79A8, 0x000FE200081EE1EE).access == "reduction"
    assert instruction(0x00018C0F160D79A8, 0x000FE2000C1EE1EE).access == "atomic"


def test_an_unknown_operation_is_named_so():
    assert instruction(0x00000000000071FF, 0).name == "?"


@pytest.mark.skipif(nvdisasm.find() is None, reason="nvdisasm is not installed")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", ["mm_tiled<16>", "black_scholes", "warp_sum", "k"])
def test_agrees_with_nvdisasm(kernel: str, target: str, tmp_path: Path):
    name = {"mm_tiled<16>": "open", "k": ""}.get(kernel, "more")
    source = compiled(kernel, name) if name else lab.load(EXOTIC, kernel).compile(())
    image = cubin(_for_target(source, target), target)
    elf = read_elf(image)
    lines = read_lines(elf)
    capability = int(target[3:])
    compared = 0
    for section, printed in nvdisasm.disassemble(image, tmp_path).items():
        index = next(i for i, s in enumerate(elf.sections) if s.name == f".text.{section}")
        decoded = decode(elf.sections[index].content, lines.get(index, {}), capability)
        assert len(decoded) == len(printed)
        for ours, theirs in zip(decoded, printed, strict=True):
            _compare(ours, theirs)
            compared += 1
    assert compared > 20


def _for_target(source: Compiled, target: str) -> Compiled:
    """The kernel's PTX alone, for an older target; none of these kernels needs a newer one."""
    alone = annotate(source.ptx, ptx.parse(source.ptx, source.name), source.entry, {})
    return replace(source, ptx=re.sub(r"\.target\s+sm_\d+", f".target {target}", alone))


def _compare(ours: Instruction, theirs: nvdisasm.Printed) -> None:
    assert ALIASES.get(theirs.name, theirs.name) == ours.name, theirs
    assert (ours.offset, ours.line) == (theirs.offset, theirs.line)
    if theirs.guard:
        assert (str(ours.guard), ours.negated) == (theirs.guard.replace("T", "7"), theirs.negated), theirs
    else:
        assert ours.guard is None, theirs
    if ours.access in ("load", "store") and ours.name != "LDSM":
        assert ours.width == next((WIDTHS[m] for m in theirs.modifiers if m in WIDTHS), 4), theirs
    if ours.operation.control == "branch" and theirs.target is not None:
        assert ours.target == theirs.target, theirs
