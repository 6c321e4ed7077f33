"""Integer instructions in all their forms against bit-by-bit oracles, on every engine and on a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.engines import run_ptx
from warpglass import isa, ptx
from warpglass.isa.table import ROWS, Row
from warpglass.ptx import tree

from . import bit_cases, integer_cases  # noqa: F401  (they fill CASES)
from .case_kernels import BLOCK, GRID, Case, Kernel, build
from .cases import CASES

# Compiling takes more than twice as long for twice the code.
_LARGEST = 60


def _kernels(cases: list[Case]) -> Iterator[list[Case]]:
    """Cases by the kernel, none of which is too large."""
    chosen: list[Case] = []
    for one in cases:
        if chosen and sum(other.cost for other in chosen) + one.cost > _LARGEST:
            yield chosen
            chosen = []
        chosen.append(one)
    yield chosen


_GROUPS = [
    pytest.param(chosen, id=f"{name}-{number}")
    for name, cases in CASES.items()
    for number, chosen in enumerate(_kernels(cases))
]
# Rows that the cases stand for, with every choice of every modifier.
_OPCODES = (
    "addc subc madc mul24 mad24 sad bfind fns bfe bfi bmsk szext lop3 shf prmt cnot dp4a dp2a vadd2 vadd4 "
    "vsub2 vsub4 vabsdiff2 vabsdiff4 vmin2 vmin4 vmax2 vmax4"
).split()


# What ptxas of CUDA 13.0 compiles wrongly for sm_90: a guarded `set` of 16-bit numbers leaves only the low
# half of the destination where the guard fails, and the least integer as a constant is no negative number
# in `slct`.
_PTXAS_SLIPS = re.compile(r"@!?%p\d+ set\.[\w.]*\.[bus]16 |slct\.[\w.]* [^;]*, -2147483648;")


# The reference implementation, to which all operands are alike, is compared in test_stored_answers.py.
@pytest.mark.sampled(quick=10, ci=7)
@pytest.mark.parametrize("cases", _GROUPS)
@pytest.mark.parametrize("engine", ["kinds", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_cases_compute_what_their_oracles_say(cases: list[Case], engine: str):
    built = build(cases)
    arguments = built.arguments()
    run_ptx(built.text(), GRID, BLOCK, arguments, engine=engine, timeout=60)
    wrong = built.wrong(arguments[-1])
    if engine == "gpu":
        wrong = [one for one in wrong if not _PTXAS_SLIPS.search(one)]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(built.slots)} slots are wrong", *wrong[:8]])


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("cases", _GROUPS)
def test_ptxas_accepts_the_cases(cases: list[Case]):
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
    text = build(cases).text().encode()
    linker = nvjitlink.create(1, ["-arch=sm_90"])
    try:
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, text, len(text), "cases.ptx")
    finally:
        nvjitlink.destroy(linker)


def test_every_form_of_these_opcodes_has_a_case():
    wanted = {
        (row.pattern.text, place.name, choice)
        for opcode in _OPCODES
        for row in ROWS[opcode]
        for place in row.pattern.modifiers
        for choice in place.choices
    }
    for cases in CASES.values():
        wanted -= set(_used(build(cases)))
    assert not wanted


def _used(built: Kernel) -> list[tuple[str, str, str]]:
    function = ptx.parse(built.text(), "cases").functions[0]
    found: list[tuple[str, str, str]] = []
    for item in function.body or ():
        if isinstance(item, tree.Instruction) and (match := isa.match(item)) is not None:
            row: Row = match.row
            found += [(row.pattern.text, name, value) for name, value in match.values.items()]
    return found
