"""Judging: every hostile submission has its verdict, nothing of it stays, and equal judgings are equal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from tests.judging.hostile import CUDA, GOOD, PYTHON
from tests.levels import LEVEL, sample
from warpglass.errors import ArgumentError
from warpglass.judging import VERDICTS, Judgement, jail

pytestmark = [pytest.mark.turns(3), pytest.mark.skipif(bool(jail.available()), reason=jail.available())]
LEFT_BEHIND = Path("/tmp/warpglass-was-here")
REFERENCE = "def add(x, y, out, n):\n    return None, None, x + y\n"
# At level ci these, and a sample of those in CUDA C++: each costs a second, in Python three.
_SOME = ("good.cu", "only_known_sizes.cu", "good.py", "writes.py")


def task(folder: Path, **more: Any) -> dict[str, Any]:
    (folder / "reference.py").write_text(REFERENCE)
    case = {
        "block": 256,
        "args": ["f4[{n}]:randn", "f4[{n}]:randn", "out:f4[{n}]", "i4={n}"],
        "grid": "{ceil(n / 512)}",
    }
    return {
        "task": {
            "name": "sum",
            "kernel": "add",
            "reference": str(folder / "reference.py:add"),
            "score": "inst_executed",
        },
        "limits": {"run": 1.5, "compile": 10, "memory": "3G", "output": "8K"},
        "case": [
            {**case, "axes": {"n": [1, 77]}, "public": True},
            {**case, "axes": {"n": [2500]}},
        ],
        "budget": {"gld_transactions": "n + 64"},
        **more,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judging")


@pytest.fixture(scope="module")
def judged(folder: Path) -> Judgement:
    LEFT_BEHIND.unlink(missing_ok=True)
    every = {**CUDA, **PYTHON}
    names = list(every) if LEVEL == "full" else {*_SOME, *sample(CUDA, quick=12, ci=6)}
    return wg.judge(task(folder), {name: every[name][0] for name in sorted(names)}, workers=1)


@pytest.mark.least("ci")
def test_every_verdict_is_right(judged: Judgement):
    wanted = {**CUDA, **PYTHON}
    wrong = [
        (row.name, row.verdict, row.text) for row in judged.rows if row.verdict not in wanted[row.name][1]
    ]
    assert not wrong
    assert not LEFT_BEHIND.exists()


@pytest.mark.least("ci")
@pytest.mark.turns(3)
def test_hidden_cases_tell_no_numbers(judged: Judgement):
    (row,) = (row for row in judged.rows if row.name == "only_known_sizes.cu")
    assert row.text == "a hidden case: array 3 differs from the reference"


@pytest.mark.least("ci")
def test_accepted_ones_come_first_and_are_ranked(judged: Judgement):
    accepted = [row for row in judged.rows if row.verdict == "accepted"]
    scores = [float("inf") if row.score is None else row.score for row in accepted]
    assert [row.rank for row in accepted] == [1 + sum(one < own for one in scores) for own in scores]
    assert judged.rows[: len(accepted)] == tuple(accepted)
    assert all(row.rank is None for row in judged.rows[len(accepted) :])


def test_a_folder_is_judged_and_saved(folder: Path, tmp_path: Path):
    own = tmp_path / "submissions"
    (own / "ben").mkdir(parents=True)
    (own / "ben" / "add.cu").write_text(GOOD)
    (own / "anna.cu").write_text(GOOD)
    (own / "none").mkdir()
    (own / "link.cu").symlink_to("/etc/passwd")
    os.mkfifo(own / "pipe.cu")
    (own / "bytes.cu").write_bytes(b"\xff\xfe\x00")
    (own / "<b>.txt").write_text("no kernel")
    kept = tmp_path / "kept.sqlite"
    found = wg.judge(task(folder), own, results=kept, workers=1)
    assert [(row.rank, row.name, row.verdict) for row in found.rows] == [
        (1, "anna.cu", "accepted"),
        (1, "ben", "accepted"),
        (None, "<b>.txt", "unreadable"),
        (None, "bytes.cu", "unreadable"),
        (None, "link.cu", "unreadable"),
        (None, "none", "unreadable"),
        (None, "pipe.cu", "unreadable"),
    ]
    again = wg.judge(task(folder), own, results=kept, workers=1)
    assert again.to_json() == found.to_json()
    found.save(tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "&lt;b&gt;.txt" in page
    assert "<b>.txt" not in page
    assert json.loads((tmp_path / "out" / "results.json").read_text())["rows"][0]["rank"] == 1
    assert (tmp_path / "out" / "feedback" / "anna.cu.txt").read_text().startswith("anna.cu: accepted")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": {"kernel": "add", "reference": "nothing.py:add"}}, "nothing.py cannot be read"),
        ({"task": {"kernel": "add", "reference": "reference.py"}}, "write FILE.py:FUNCTION"),
        ({"task": {"reference": "reference.py:add"}}, "kernel = is missing"),
        ({"tusk": {}}, "unknown key (did you mean task?)"),
        ({"limits": {"run": 0}}, "run: 0; write a number above 0"),
        ({"limits": {"memory": "lots"}}, "size 'lots'"),
        ({"budget": {"gld_transaction": 1}}, "did you mean gld_transactions"),
        ({"case": []}, "at least one [[case]]"),
        ({"case": [{"grid": 1, "block": 32}]}, "case 1 has no args ="),
        ({"case": [{"grid": "{n}", "block": 32, "args": []}]}, "there is no axis 'n'"),
    ],
)
def test_a_wrong_task_is_refused_before_anything_runs(folder: Path, change: dict[str, Any], said: str):
    whole = task(folder)
    changed = {**whole, **change}
    if "reference" in (one := changed.get("task", {})) and not Path(one["reference"]).is_absolute():
        changed["task"] = {**one, "reference": str(folder / one["reference"])}
    with pytest.raises(ArgumentError) as caught:
        wg.judge(changed, {"good.cu": GOOD})
    assert said in str(caught.value)


def test_all_verdicts_are_described():
    found = {verdict for text, verdicts in {**CUDA, **PYTHON}.values() for verdict in verdicts if text}
    assert found <= VERDICTS.keys()
    assert set(VERDICTS) - found == {"crash"}
