"""The sentence of each step: what it names, whose times it tells, how languages share one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from warpglass.records.bench import Row
from warpglass.report.bench_steps import _CLAUSES, step_sentences
from warpglass.report.figures import LANGUAGES
from warpglass.report.profile_lines import short

from .test_bench_report import ROW

METRICS = {
    "inst_executed": 1000.0,
    "gld_transactions": 400.0,
    "gst_transactions": 100.0,
    "atomic_transactions": 0.0,
    "shared_load_transactions": 64.0,
    "shared_store_transactions": 0.0,
    "shared_bank_conflicts": 0.0,
    "branch": 10.0,
    "gld_efficiency": 25.0,
    "gst_efficiency": 100.0,
    "branch_efficiency": 100.0,
    "warp_execution_efficiency": 100.0,
    "theoretical_occupancy": 100.0,
}


def row(
    rung: str, language: str = "cuda", seconds: float = 1.0, label: str = "engine", **changed: float
) -> Row:
    metrics = {**METRICS, **changed}
    return replace(
        ROW, rung=rung, language=language, seconds=seconds, label=label, metrics=metrics, launches=1
    )


def sentences(*rows: Row) -> list[str]:
    return list(step_sentences(rows))


def test_a_step_names_what_shrank_and_how_well_it_is_used() -> None:
    faster = row("second", seconds=0.5, gld_transactions=100.0, gld_efficiency=100.0)
    assert sentences(row("first"), faster) == [
        "second against first: 4.00 times fewer sectors loaded (25.0 -> 100.0 % of them used) "
        "(C++, 2.00 times as fast on the engine)."
    ]


def test_gains_stand_before_their_price_and_small_differences_are_left_out() -> None:
    after = row(
        "second", seconds=2.0, label="gpu", inst_executed=700.0, shared_bank_conflicts=5000.0, branch=11.0
    )
    assert sentences(row("first", label="gpu"), after) == [
        "second against first: 30 % fewer instructions; the price is 5000 bank conflicts "
        "(C++, 2.00 times slower on the GPU)."
    ]


def test_a_count_that_vanishes_is_said_to() -> None:
    (text,) = sentences(row("first", shared_bank_conflicts=5000.0), row("second"))
    assert "no bank conflicts (5000 before)" in text


def test_nothing_gained_is_said_too() -> None:
    (text,) = sentences(row("first"), row("second"))
    assert text == "second against first: nothing gained in what is counted (C++, as fast on the engine)."


def test_a_count_that_appears_leaves_room_for_the_lesson() -> None:
    appearing = {"shared_bank_conflicts": 5000.0, "shared_store_transactions": 900.0}
    lesson = {"theoretical_occupancy": 50.0, "warp_execution_efficiency": 40.0}
    counts = {**METRICS, **appearing, **lesson, "inst_executed": 500.0, "gld_transactions": 200.0}
    after = replace(row("second"), metrics=counts)
    (text,) = sentences(row("first"), after)
    assert "occupancy 100.0 -> 50.0 %" in text
    assert "lanes busy 100.0 -> 40.0 %" in text
    assert "2.00 times fewer instructions" in text


def test_languages_are_alike_in_amounts_and_times() -> None:
    def pair(language: str, seconds: float, instructions: float) -> tuple[Row, Row]:
        return row("first", language), row("second", language, seconds, inst_executed=instructions)

    assert sentences(*pair("cuda", 0.5, 400.0), *pair("python", 0.49, 401.0)) == [
        "second against first: 2.50 times fewer instructions (C++, 2.00 times as fast on the engine, "
        "Python alike)."
    ]
    assert sentences(*pair("cuda", 0.5, 400.0), *pair("python", 2.0, 401.0)) == [
        "second against first: 2.50 times fewer instructions (C++, 2.00 times as fast on the engine; Python, "
        "2.00 times slower on the engine)."
    ]
    assert len(sentences(*pair("cuda", 0.5, 400.0), *pair("python", 0.5, 450.0))) == 2


def test_languages_that_change_alike_share_a_sentence_and_others_do_not() -> None:
    alike = sentences(
        *(row("first"), row("second", inst_executed=500.0)),
        *(row("first", "python"), row("second", "python", inst_executed=499.0)),
    )
    assert alike == [
        "second against first: 2.00 times fewer instructions (C++, as fast on the engine, Python alike)."
    ]
    apart = sentences(
        *(row("first"), row("second", inst_executed=500.0)),
        *(row("first", "python"), row("second", "python", gst_transactions=50.0)),
    )
    assert len(apart) == 2
    assert "(Python, " in apart[1]


def test_fewer_launches_are_a_gain() -> None:
    before, after = row("first"), row("second")
    (text,) = sentences(replace(before, launches=32), after)
    assert "32 -> 1 launches" in text


def test_rows_that_were_not_counted_say_nothing() -> None:
    assert sentences(replace(row("first"), metrics=None), replace(row("second"), metrics=None)) == []


# ------------------------------------------------------------------------------ claims against their tables
# Small sizes of every ladder on the engine, as `warpglass bench --all --small --json` wrote them.
TABLES = json.loads((Path(__file__).parent / "bench_tables.json").read_text("utf-8"))
_METRICS = {clause.words: clause for clause in _CLAUSES}
_NAMES = {name: language for language, name in LANGUAGES.items()}
_PART = re.compile(
    r"(?:(?P<percent>\d+) %|(?P<times>[\d.]+) times) (?P<way>fewer|more) (?P<words>[a-z -]+)"
    r"(?: \((?P<old_used>[\d.]+) -> (?P<new_used>[\d.]+) % of them used\))?"
    r"|no (?P<gone>[a-z -]+) \((?P<before>[\d.kMG]+) before\)"
    r"|(?P<share>[a-z -]+) (?P<old>[\d.]+) -> (?P<new>[\d.]+) %"
    r"|(?P<launches>\d+) -> (?P<fewer>\d+) launches"
    r"|(?P<count>[\d.kMG]+) (?P<come>[a-z -]+)"
)
_TIME = re.compile(r"(?:(?P<ratio>[\d.]+) times (?P<faster>as fast|slower)|(?P<same>as fast)) on the engine")


def _holds(part: re.Match[str], before: Row, after: Row) -> bool:
    """Whether the table says the same as one part of a sentence."""
    old, new = before.metrics or {}, after.metrics or {}
    if part["launches"]:
        return (int(part["launches"]), int(part["fewer"])) == (before.launches, after.launches)
    clause = _METRICS[part["words"] or part["gone"] or part["share"] or part["come"]]
    a, b = old[clause.metric], new[clause.metric]
    if part["gone"]:
        return b == 0 and short(a) == part["before"]
    if part["come"]:
        return a == 0 and _near(_number(part["count"]), b)
    if part["share"]:
        return _near(float(part["old"]), a) and _near(float(part["new"]), b)
    said = (
        1 + float(part["percent"]) / 100 * (1 if b > a else -1) if part["percent"] else float(part["times"])
    )
    found = b / a if part["percent"] else max(a / b, b / a)
    used = clause.efficiency
    shares = not part["old_used"] or (
        used and _near(float(part["old_used"]), old[used]) and _near(float(part["new_used"]), new[used])
    )
    return bool(shares) and (part["way"] == "more") == (b > a) and abs(said / found - 1) < 0.03


def _number(text: str) -> float:
    return float(text.rstrip("kMG")) * {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)


def _near(said: float, found: float) -> bool:
    return abs(said - found) <= 0.03 * found + 0.06


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["table"])
def test_every_claim_holds_in_its_table(table: dict[str, Any]) -> None:
    rows = [replace(ROW, **one) for one in table["rows"]]
    by_name = {(one.rung, one.language): one for one in rows}
    told = set()
    for sentence in step_sentences(rows):
        match = re.fullmatch(r"(\w+) against (\w+): (.*) \((C\+\+|Python)(.*)\)\.", sentence)
        assert match, sentence
        new, old, claims, first, rest = match.groups()
        time = ""
        for language in re.split(r"; |, (?=Python alike)", first + rest):
            name = language.partition(",")[0].removesuffix(" alike")
            time = time if language.endswith("alike") else language.partition(", ")[2]
            before, after = by_name[old, _NAMES[name]], by_name[new, _NAMES[name]]
            told.add((new, _NAMES[name]))
            said = re.sub(r"nothing gained in what is counted(, at the price of )?", "", claims)
            for part in filter(None, re.split(r"; the price is |, ", said)):
                found = _PART.fullmatch(part)
                assert found, part
                assert _holds(found, before, after), (sentence, part, name)
            assert before.seconds
            assert after.seconds
            _check_time(_TIME.fullmatch(time), before.seconds / after.seconds, sentence)
            _check_lesson(claims, before, after)
    assert told == {(b.rung, b.language) for a, b in pairwise(rows) if a.language == b.language}


def _check_time(said: re.Match[str] | None, ratio: float, sentence: str) -> None:
    assert said, sentence
    if said["same"]:
        assert 0.9 < ratio < 1.1, sentence
    else:
        found = ratio if said["faster"] == "as fast" else 1 / ratio
        assert abs(float(said["ratio"]) / found - 1) < 0.06, sentence


def _check_lesson(claims: str, before: Row, after: Row) -> None:
    """Lanes and occupancy that change by a tenth are told, whatever else there is to tell."""
    for metric, words in (
        ("theoretical_occupancy", "occupancy"),
        ("warp_execution_efficiency", "lanes busy"),
    ):
        old, new = (before.metrics or {})[metric], (after.metrics or {})[metric]
        assert (words in claims) or max(old, new) < 1.1 * min(old, new), claims
