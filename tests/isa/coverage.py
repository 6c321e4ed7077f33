"""Writes docs/reference/instructions.md: what is supported, tested on hardware, and refused.

`python -m tests.isa.coverage` writes the page from the instruction table and the stored answers (answers.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warpglass.isa import Row
from warpglass.isa.table import ROWS

from .answer_forms import OWN_TESTS, all_forms, needs_own_test
from .answers import Answer, load

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "instructions.md"

_UNITS = {
    "integer": "Integers, logic, shifts, selection",
    "fp32": "Single precision",
    "fp64": "Double precision",
    "fp16": "Half precision",
    "conversion": "Conversion",
    "memory": "Memory",
    "inter_thread_communication": "Warps",
    "tensor": "Matrices",
    "control": "Control",
    "misc": "Moves",
}
# What PTX has and the engine has not.
REFUSED = {
    "texref, samplerref, surfref": "references of textures, samplers and surfaces; objects are supported",
    "wgmma": "matrix multiplication of warp groups (sm_90a)",
    "tcgen05": "matrix multiplication of sm_100a",
    "cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tensormap": "bulk copies by tensor maps (TMA)",
    "multimem": "memory of several GPUs at one address",
}
_INTRODUCTION = """# Instructions

Every row of the instruction table, in the PTX manual's notation; `python -m tests.isa.coverage` writes this
page. *On hardware* counts the forms (choices of modifiers) whose results on the GPU are stored in
`tests/cases/isa` and compared with both implementations of the engine in every test run. *Refused* counts the
choices that the notation allows and NVIDIA's assembler does not. Rows whose effect no single instruction
shows name the test that runs them, on a GPU too where there is one.
"""


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page's text."""
    who, answers = load()
    forms: dict[int, list[str]] = {}
    for form in all_forms():
        forms.setdefault(id(form.row), []).append(form.text)
    units: dict[str, list[str]] = {}
    counts: dict[str, list[int]] = {}
    for rows in ROWS.values():
        for row in rows:
            if row.pattern.opcode.startswith("_"):
                continue
            line, tested, refused = _line(row, forms.get(id(row), []), answers)
            units.setdefault(row.unit, []).append(line)
            total = counts.setdefault(row.unit, [0, 0, 0])
            for k, number in enumerate((1, tested, refused)):
                total[k] += number
    body = [part for unit in sorted(units, key=list(_UNITS).index) for part in _section(unit, units[unit])]
    return "\n".join([*_head(who, counts), *body, *_refused()])


def _line(row: Row, texts: Iterable[str], answers: dict[str, Answer]) -> tuple[str, int, int]:
    """A table line for a row, with the numbers of its forms that hardware ran and refused."""
    known = [answers[text] for text in texts if text in answers]
    refused = sum(bool(answer.refused) for answer in known)
    tested = len(known) - refused
    if needs_own_test(row):
        own = [file for file, opcodes in OWN_TESTS.items() if row.pattern.opcode in opcodes.split()]
        shown = f"in {', '.join(own)}"
    else:
        shown = f"{tested} forms" if tested else "not yet"
    return (
        f"| `{row.pattern.text.replace('|', chr(92) + '|')}` | {_types(row)} | {shown} | {refused or ''} |",
        tested,
        refused,
    )


def _types(row: Row) -> str:
    """The choices of the modifiers that say types."""
    named = [place for place in row.pattern.modifiers if place.name.endswith("type") or place.name == "half"]
    return "; ".join(f"{place.name}: {' '.join(place.choices)}" for place in named)


def _head(who: str, counts: dict[str, list[int]]) -> Iterable[str]:
    yield _INTRODUCTION
    yield f"Hardware: {who}."
    yield ""
    yield "| section | rows | forms compared with hardware | choices that the assembler refuses |"
    yield "|---|---:|---:|---:|"
    for unit, title in _UNITS.items():
        if unit in counts:
            yield f"| {title} | {' | '.join(map(str, counts[unit]))} |"
    yield f"| all | {' | '.join(str(sum(numbers)) for numbers in zip(*counts.values(), strict=True))} |"


def _section(unit: str, lines: Iterable[str]) -> Iterable[str]:
    yield from (
        "",
        f"## {_UNITS[unit]}",
        "",
        "| instruction | types | on hardware | refused |",
        "|---|---|---|---:|",
    )
    yield from lines


def _refused() -> Iterable[str]:
    yield from (
        "",
        "## Not supported",
        "",
        "Kernels that use these are refused with the instruction's name and line.",
        "",
    )
    yield from ("| instructions | what they are |", "|---|---|")
    yield from (f"| {names} | {what} |" for names, what in REFUSED.items())
    yield ""


if __name__ == "__main__":
    main()
