"""The odd-even sort ladder: every rung at awkward sizes, types and inputs; the defect of the first idea."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.oddeven_sort.ladder import LADDER
from warpglass.ladders.oddeven_sort.problem import PROBLEM
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language, Options

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place
from .watching import TOOLCHAIN, Checking

BLOCK = 32
SPAN = 2 * BLOCK
# Around one span, around half spans, where pass b begins and ends, and several spans.
SIZES = (0, 1, 2, 3, BLOCK, BLOCK + 1, SPAN - 1, SPAN, SPAN + 1, SPAN + BLOCK, SPAN + BLOCK + 1, 5 * SPAN - 3)


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, language: Language) -> None:
    for size in SIZES:
        verdict = judge(LADDER, rung.name, backend, language, size, block=BLOCK)
        assert verdict.verified, f"{size} elements: {verdict}"


@pytest.mark.parametrize("block", PROBLEM.blocks if FULL else (64, 1024))
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_block_sizes(backend: Backend, rung: Rung, block: int) -> None:
    verdict = judge(LADDER, rung.name, backend, "cuda", 4 * block + 5, block=block)
    assert verdict.verified, verdict


@pytest.mark.parametrize("dtype", PROBLEM.dtypes)
@pytest.mark.parametrize("rung", LADDER.rungs(Options()), ids=lambda rung: rung.name)
def test_inputs(backend: Backend, rung: Rung, dtype: str) -> None:
    for data in PROBLEM.data:
        for language in rung.languages if FULL or data == "special" else rung.languages[:1]:
            verdict = judge(LADDER, rung.name, backend, language, 300, dtype, BLOCK, data)
            assert verdict.verified, f"{data}: {verdict}"


def test_special_input_has_what_breaks_an_order() -> None:
    x = PROBLEM.case("oddeven_sort", 300, "float32", "special", 0).arrays["x"]
    assert np.isnan(x).any()
    assert np.isposinf(x).any()
    assert (np.signbit(x) & (x == 0)).any()


def test_one_block_takes_two_elements_a_thread() -> None:
    options = Options(size=100_000, block=64, rungs=("one_block",), languages=("cuda",))
    (trial,) = LADDER.trials(options, open_place("cpu"), TOOLCHAIN)
    assert trial.card.size == 128


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
