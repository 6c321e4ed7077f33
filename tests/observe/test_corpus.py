"""The checker finds the defect of every buggy kernel at its line, nothing else, and is silent on its twin.

unfound.toml lists what is not yet so; a twin that is listed and judged right fails, so the list only shrinks.
"""

from __future__ import annotations

import tomllib

import pytest

from tests.engines import engine_mode
from warpglass.records.check import KINDS

from .corpus import CASES, MORE, TWINS, judge, read_cases, show
from .corpus_page import PAGE

UNFOUND: dict[str, str] = tomllib.loads((CASES / "unfound.toml").read_text("utf-8"))["unfound"]
_ALL = [f"{name}/{twin}" for name in read_cases() for twin in TWINS]
# Cases in `more` differ less from others.
_FAST = pytest.mark.sampled(quick=12, ci=8), pytest.mark.sampled(quick=40, ci=30)
_REFERENCE = pytest.mark.sampled(quick=60, ci=40), pytest.mark.sampled(quick=150, ci=99)


def _twins(some: pytest.MarkDecorator, more: pytest.MarkDecorator) -> list[object]:
    return [
        pytest.param(f"{name}/{twin}", marks=more if case.file.parent == MORE else some)
        for name, case in read_cases().items()
        for twin in TWINS
    ]


def _judge(twin_of: str, engine: str) -> None:
    name, twin = twin_of.split("/")
    case = read_cases()[name]
    with engine_mode(engine):
        found = case.check(twin).findings
    verdict = judge(case, twin, found)
    said = f"{verdict}: {' '.join(map(show, found)) or 'nothing found'}"
    assert verdict == UNFOUND.get(twin_of, "right"), said


@pytest.mark.parametrize("twin_of", _twins(*_FAST))
def test_verdict(twin_of: str) -> None:
    _judge(twin_of, "kinds")


@pytest.mark.parametrize("twin_of", _twins(*_REFERENCE))
def test_verdict_of_the_reference(twin_of: str) -> None:
    _judge(twin_of, "reference")


def test_the_list_names_cases() -> None:
    assert set(UNFOUND) <= set(_ALL)
    assert set(UNFOUND.values()) <= {"missing", "extra", "line"}


def test_every_kind_has_a_case() -> None:
    cases = read_cases().values()
    assert len(cases) >= 64
    assert {case.kind for case in cases} == set(KINDS)


def test_the_page_says_what_is_judged() -> None:
    rows = {row.split("`")[1]: row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| `")}
    assert set(rows) == {case.file.name for case in read_cases().values()}
    for case in read_cases().values():
        said = rows[case.file.name].split(" | ")[3:5]
        for twin, word, good in zip(TWINS, said, ("yes", "silent"), strict=True):
            assert (word.rstrip(" |") == good) == (f"{case.name}/{twin}" not in UNFOUND), rows[case.file.name]
