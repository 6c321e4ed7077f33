"""The sentence of each step: what it names, whose times it tells, how languages share one."""

from __future__ import annotations

from dataclasses import replace

from warpglass.records.bench import Row
from warpglass.report.bench_steps import step_sentences

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


def test_languages_that_change_alike_share_a_sentence_and_others_do_not() -> None:
    alike = sentences(
        *(row("first"), row("second", inst_executed=500.0)),
        *(row("first", "python"), row("second", "python", inst_executed=400.0)),
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
