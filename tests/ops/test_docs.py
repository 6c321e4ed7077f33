"""The examples of docs/ops.md print what they show."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ops.md"


@pytest.mark.turns(2)
def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernels are those of the other tests of ops, which have them in optimised code as well.
    monkeypatch.setenv("WARPGLASS_TIER", "quick")
    text = PAGE.read_text("utf-8").replace("```", "")
    with np.printoptions(legacy=False):
        runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
        assert len(example.examples) > 8
        runner.run(example)
    assert not runner.summarize(verbose=False).failed
