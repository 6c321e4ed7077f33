"""A trial in this process: what is made of a task once, and what every launch has of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.judging.hostile import CUDA
from tests.judging.test_judging import task
from warpglass.judging import cases, jail, trial
from warpglass.judging.submission import Job, of_text
from warpglass.judging.task import make_task
from warpglass.judging.verdicts import ACCEPTED

pytestmark = pytest.mark.skipif(bool(jail.available()), reason=jail.available())


def test_a_cases_arguments_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = make_task(task(tmp_path))
    made: list[Any] = []
    once = cases.make_arguments

    def counted(*words: Any) -> list[Any]:
        made.append(words)
        return once(*words)

    monkeypatch.setenv("WARPGLASS_MEMORY", "3G")  # which a trial sets, and which is to be as before then
    monkeypatch.setattr(cases, "make_arguments", counted)
    for name in ("one.cu", "two.cu"):
        outcome = trial.judge_one(Job(of_text(name, CUDA["good.cu"][0], asked), asked))
        assert outcome.status == ACCEPTED, outcome.text
    assert len(made) == len(asked.cases) == 3
