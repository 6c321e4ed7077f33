"""Comparing profiles: pairs, order, verdicts, thresholds."""

from __future__ import annotations

import json

import pytest

from tests.report.profiles import DEFINITIONS, make
from warpglass.errors import ArgumentError
from warpglass.records.profile import Profile
from warpglass.report.compare import (
    Comparison,
    compare_profiles,
    comparison_json,
    parse_share,
    print_comparison,
)
from warpglass.report.console import text_console, text_of


def compare(a: list[Profile], b: list[Profile], limit: float | None = None) -> Comparison:
    return compare_profiles(a, b, DEFINITIONS[:-1], limit)


def shown(found: Comparison, width: int = 80) -> str:
    console = text_console(width)
    print_comparison(found, console)
    return text_of(console)


def test_equal_profiles_do_not_change():
    found = compare([make()], [make()], 0.0)
    assert not found.pairs[0].changes
    assert not found.past_limit
    assert "0 of 4 numbers changed" in shown(found)


def test_worse_comes_first_then_by_size():
    before = make(sectors=100, used=16)
    after = make(sectors=150, used=4)
    after.metrics["shared_bank_conflicts"] = 5.0
    changes = compare([before], [after]).pairs[0].changes
    assert [(one.name, one.verdict) for one in changes] == [
        ("shared_bank_conflicts", "worse"),
        ("gld_efficiency", "worse"),
        ("gld_transactions", "worse"),
    ]
    assert [one.share for one in changes] == [float("inf"), -0.75, 0.5]
    assert {one.verdict for one in compare([after], [before]).pairs[0].changes} == {"better"}


@pytest.mark.parametrize(("limit", "past"), [(None, False), (0.49, True), (0.5, False)])
def test_threshold(limit: float | None, past: bool):
    found = compare([make(sectors=100)], [make(sectors=150)], limit)
    assert found.past_limit is past
    if limit is not None:
        assert ("exceeded" if past else "kept") in shown(found)


def test_only_what_got_worse_is_past_a_threshold():
    better = compare([make(sectors=100, used=8)], [make(sectors=10, used=16)], 0.05)
    assert {one.verdict for one in better.pairs[0].changes} == {"better"}
    assert not better.past_limit
    assert "!" not in shown(better)
    mixed = compare([make(sectors=100, used=16)], [make(sectors=10, used=8)], 0.05)
    assert mixed.past_limit
    new = compare([make(), make(kernel="j")], [make(), make(kernel="j"), make(kernel="new")], 0.0)
    assert new.unpaired
    assert not new.past_limit


def test_different_launches_are_said():
    text = shown(compare([make()], [make(kernel="j", grid=(4, 1, 1))]))
    assert "different kernels: k and j" in text
    assert "different grids: 2x1x1 and 4x1x1" in text


def test_several_launches_are_paired_by_kernel_and_order():
    first = [make(sectors=1), make(sectors=2), make(kernel="j")]
    second = [make(kernel="j"), make(sectors=1), make(kernel="new")]
    found = compare(first, second, 0.0)
    assert len(found.pairs) == 2
    assert not any(pair.changes for pair in found.pairs)
    assert found.unpaired == (
        "k<<<2, 128>>> is only in the first file",
        "new<<<2, 128>>> is only in the second file",
    )
    assert found.past_limit


def test_json_has_difference_and_ratio():
    record = json.loads(comparison_json(compare([make(sectors=100)], [make(sectors=150)], 0.1)))
    (change,) = record["pairs"][0]["changes"]
    assert (change["difference"], change["ratio"], record["past_threshold"]) == (50, 1.5, True)


@pytest.mark.parametrize("width", [80, 140])
def test_tables_fit(width: int):
    text = shown(compare([make(sectors=1e6)], [make(sectors=1.5e6)]), width)
    assert max(map(len, text.splitlines())) <= width
    assert ("+500,000" in text) is (width == 140)
    assert "+50.0 %" in text


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), ("0", 0.0)])
def test_shares(text: str, share: float):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["x", "-1%", "5%%", "nan", "inf", ""])
def test_bad_shares(text: str):
    with pytest.raises(ArgumentError, match="threshold"):
        parse_share(text)
