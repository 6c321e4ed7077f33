"""Every form of every row gives on the engine what hardware answered (answers.py), bit for bit.

Approximate reciprocals in double precision are compared within twice the manual's bound. Where
hardware and engine may differ for another reason, `UNSPECIFIED` says why. The reference implementation runs
whole warps; so does the fast one, and then blocks of one thread, for which all values are uniform.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.engines import run_ptx
from warpglass.isa.table import ROWS

from .answer_forms import OWN_TESTS, Form, all_forms, needs_own_test
from .answer_kernels import OUTPUT, AnswerKernel, Result, build, digest, groups_of
from .answers import Answer, load
from .coverage import PAGE, REFUSED, page
from .float_harness import ALL_FORMATS

_LARGEST = 64  # forms in a kernel: fewer take as long to compile, more take longer

# Opcodes -> how far two results may be apart, relative and absolute: twice the manual's bounds.
_APPROXIMATE = ((r"rcp\.approx\.ftz\.f64", 2**-18, 0),)
# Forms -> why results may differ.
UNSPECIFIED: dict[str, str] = {}


@cache
def _answers() -> dict[str, Answer]:
    return load()[1]


_FORMS = all_forms()
_GROUPS = groups_of([form for form in _FORMS if not _answers().get(form.text, Answer("")).refused], _LARGEST)


def test_every_form_has_an_answer():
    missing = [form.text for form in _FORMS if form.text not in _answers()]
    assert not missing, f"{len(missing)} forms; run python -m tests.isa.record on a GPU: {missing[:20]}"


def test_answers_are_to_these_operands():
    stale = [form.text for form in _FORMS if _answers()[form.text].digest not in ("", digest(form))]
    assert not stale, f"{len(stale)} forms; run python -m tests.isa.record on a GPU: {stale[:20]}"


def _each(groups: list[list[Form]]) -> list[object]:
    return [pytest.param(forms, id=forms[0].text.replace(" ", "_")) for forms in groups]


@pytest.mark.sampled(quick=8)
@pytest.mark.parametrize("forms", _each(_GROUPS))
def test_engine_answers_as_hardware(forms: list[Form]):
    made = build(forms)
    _check(made, "kinds", 1, made.lanes)


@pytest.mark.sampled(quick=12, ci=8)
@pytest.mark.parametrize("forms", _each(_GROUPS))
def test_reference_answers_as_hardware(forms: list[Form]):
    made = build(forms)
    _check(made, "reference", 1, made.lanes)


@pytest.mark.sampled(quick=12, ci=8)
@pytest.mark.parametrize(
    "forms", _each([forms for forms in _GROUPS if forms[0].space is None and not forms[0].in_warp])
)
def test_blocks_of_one_thread_answer_as_hardware(forms: list[Form]):
    made = build(forms)
    _check(made, "kinds", made.lanes, 1)


def _check(made: AnswerKernel, engine: str, grid: int, block: int) -> None:
    wrong = _wrong(made, engine, grid, block)
    assert not wrong, "\n".join([f"{len(wrong)} results are wrong", *wrong[:12]])


def _wrong(made: AnswerKernel, engine: str, grid: int, block: int) -> list[str]:
    arguments = made.arguments()
    run_ptx(made.text, grid, block, arguments, engine=engine)
    output = arguments[OUTPUT]
    assert isinstance(output, np.ndarray)
    found: list[str] = []
    for result in made.results:
        answer = _answers()[result.form.text]
        if result.form.text in UNSPECIFIED:
            continue
        place = answer.results.index((result.name, result.bits))
        for lane, (have, want) in enumerate(
            zip(made.patterns(result, output), answer.lanes[place], strict=True)
        ):
            if have != want and not _near(result, have, want):
                shown = f"{have:#x}, hardware says {want:#x}"
                found.append(
                    f"{result.form.text} on {engine}, {grid} blocks: lane {lane} of {result.name} is {shown}"
                )
                break
    return found


def _near(result: Result, have: int, want: int) -> bool:
    """Whether two results of an approximate function may stand for the same number."""
    form = result.form
    for pattern, relative, absolute in _APPROXIMATE:
        if re.match(pattern, form.opcode):
            base = form.results[0].type.removesuffix("x2")
            width = ALL_FORMATS[base].width
            mask = (1 << width) - 1
            pairs = [(have >> k & mask, want >> k & mask) for k in range(0, result.bits, width)]
            return all(_close(form, base, *pair, relative, absolute) for pair in pairs)
    return False


def _close(form: Form, base: str, have: int, want: int, relative: float, absolute: float) -> bool:
    f = ALL_FORMATS[base]
    x, y = f.decode(have), f.decode(want)
    if isinstance(x, float) or isinstance(y, float):
        return have == want
    room = max(abs(x), abs(y)) * Fraction(relative) + Fraction(absolute)
    flushed = "ftz" in form.opcode and min(abs(x), abs(y)) == 0 and max(abs(x), abs(y)) <= f.smallest * 2
    return abs(x - y) <= room or flushed


def test_rows_without_forms_have_tests_of_their_own():
    known = {opcode for opcodes in OWN_TESTS.values() for opcode in opcodes.split()}
    bare = [
        row.pattern.text
        for opcode, rows in ROWS.items()
        for row in rows
        if needs_own_test(row) and not opcode.startswith("_") and opcode not in known
    ]
    assert not bare, f"rows that answer_forms.py cannot run; name the test that does in OWN_TESTS: {bare}"


def test_those_tests_exist():
    for file, opcodes in OWN_TESTS.items():
        text = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
        assert all(opcode in text for opcode in opcodes.split()), file


def test_the_page_of_instructions_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.isa.coverage"


def test_what_the_page_calls_refused_has_no_row():
    texts = [row.pattern.text for rows in ROWS.values() for row in rows]
    for name in ", ".join(REFUSED).split(", "):
        assert not [text for text in texts if re.match(re.escape(name) + r"(?!\w)", text)], name
