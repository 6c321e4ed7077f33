"""What the rungs of every ladder claim about their counters, counted on the first launch at small sizes."""

from __future__ import annotations

import operator
from functools import cache

import pytest

from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.rung import Claim
from warpglass.ladders.trial import Language, Options

from .watching import TOOLCHAIN, Counting

RELATIONS = {"==": operator.eq, "<": operator.lt, ">": operator.gt}
CLAIMS = [
    pytest.param(name, rung.name, language, claim, id=f"{name}-{rung.name}-{language}-{claim}")
    for name in ladder_names()
    for rung in find_ladder(name).rungs(Options())
    for language in rung.languages
    for claim in rung.claims
]


@cache
def counters(ladder: str, rung: str, language: Language) -> dict[str, float]:
    """What the first launch of a rung counts: Nsight Compute's counters and nvprof's metrics."""
    backend = Counting()
    options = Options(small=True, rungs=(rung,), languages=(language,), peers=False)
    (trial,) = find_ladder(ladder).trials(options, backend, TOOLCHAIN)
    trial.restore()
    trial.run()
    assert backend.profile is not None
    return {**backend.profile.counters, **backend.profile.metrics}


@pytest.mark.sampled(quick=20, ci=14)
@pytest.mark.parametrize(("ladder", "rung", "language", "claim"), CLAIMS)
def test_claims_hold(ladder: str, rung: str, language: Language, claim: Claim) -> None:
    than = claim.than
    found = counters(ladder, rung, language)[claim.counter]
    against = counters(ladder, than, language)[claim.counter] if isinstance(than, str) else than
    assert RELATIONS[claim.relation](found, against), f"{found} against {against}"
