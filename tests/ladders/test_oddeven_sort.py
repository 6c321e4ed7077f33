"""The odd-even sort ladder: its inputs, and the defect of the first idea."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.ladders import find_ladder
from warpglass.ladders.oddeven_sort.problem import PROBLEM
from warpglass.ladders.trial import Language, Options

from .judging import LANGUAGES, open_place
from .watching import TOOLCHAIN, Checking

LADDER = find_ladder("oddeven_sort")


def test_special_input_has_what_breaks_an_order() -> None:
    x = PROBLEM.case("oddeven_sort", 300, "float32", "special", 0).arrays["x"]
    assert np.isnan(x).any()
    assert np.isposinf(x).any()
    assert (np.signbit(x) & (x == 0)).any()


def test_one_block_takes_two_elements_a_thread() -> None:
    options = Options(size=100_000, block=64, rungs=("one_block",), languages=("cuda",))
    (trial,) = LADDER.trials(options, open_place("cpu"), TOOLCHAIN)
    assert trial.card.size == 128


@pytest.mark.turns(2)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("size", "kind"), [(3, "warp-race"), (64, "shared-race")])
def test_comparing_all_at_once_is_a_race(language: Language, size: int, kind: str) -> None:
    (rung,) = LADDER.rungs(Options(rungs=("all_at_once_as_written",)))
    backend = Checking()
    options = Options(size=size, block=64, data="reversed", rungs=(rung.name,), languages=(language,))
    (trial,) = LADDER.trials(options, backend, TOOLCHAIN)
    trial.restore()
    trial.run()
    assert kind in {finding.kind for finding in backend.findings}
    assert kind in rung.defect
    assert not trial.judge().verified
