"""The positive control: it passes, also without a compiler, and fails for whatever the checker gets wrong."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from warpglass.cli import main
from warpglass.lab import check as lab_check
from warpglass.lab.selftest import selftest
from warpglass.records.check import KINDS, Check, Finding, Place
from warpglass.selftest import ship
from warpglass.selftest.plants import FOLDER, PLANTS
from warpglass.source import nvrtc, shipped

RACE = PLANTS[0]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["warpglass", "selftest", *arguments])
    monkeypatch.setenv("COLUMNS", "110")
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


def test_every_planted_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["passed"]
    assert [row["kind"] for row in record["rows"]] == list(KINDS)
    assert all(row["passed"] and row["found"] == [row["kind"]] for row in record["rows"])


def test_kernels_ship_and_need_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("not shipped: run `python -m warpglass.selftest.ship`")

    monkeypatch.setenv("WARPGLASS_CACHE", "")
    monkeypatch.setattr(nvrtc, "compile_program", refuse)
    monkeypatch.setattr(nvrtc, "version", lambda: None)
    with shipped.record(fresh=False) as entries:
        ship.compile_plants()
    assert shipped.keys(FOLDER / shipped.ARCHIVE) == entries.keys()


def _check(findings: tuple[Finding, ...]) -> Check:
    return Check("k", "cuda", "engine", (1, 1, 1), (64, 1, 1), 0, findings, "by number")


RIGHT = Finding("shared-race", "error", "words", Place("k.cu", RACE.line))


@pytest.mark.parametrize(
    ("planted", "sound", "said"),
    [
        ((RIGHT,), (), "All 1 planted bugs are found"),
        ((replace(RIGHT, source=Place("k.cu", 1), other_source=RIGHT.source),), (), "All 1 planted"),
        ((), (), "nothing"),
        ((replace(RIGHT, kind="warp-race"),), (), "warp-race"),
        ((RIGHT, replace(RIGHT, kind="uninitialised-read")), (), "shared-race, uninitialised-read"),
        ((replace(RIGHT, source=Place("k.cu", 1)),), (), f"shared_race.cu:1 (not {RACE.line})"),
        ((replace(RIGHT, source=None),), (), "1 of 1 failed"),
        ((RIGHT,), (RIGHT,), "1 of 1 failed: shared-race"),
    ],
)
def test_what_the_checker_gets_wrong_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    planted: tuple[Finding, ...],
    sound: tuple[Finding, ...],
    said: str,
) -> None:
    answers = iter([_check(planted), _check(sound)])
    monkeypatch.setattr(lab_check, "check", lambda *_, **__: next(answers))
    monkeypatch.setattr("warpglass.lab.selftest.selftest", lambda: selftest([RACE]))
    assert call(monkeypatch) == (0 if said.startswith("All") else 1)
    assert said in capsys.readouterr().out
