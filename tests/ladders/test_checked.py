"""The checker has nothing to say about a rung, unless the rung is as the course notes write it."""

from __future__ import annotations

import pytest

from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language, Options

from .watching import TOOLCHAIN, Checking

# Blocks and tiles break off here, and a checked launch takes about thirty times as long as a plain one.
LARGEST = 5300


def _rungs(defective: bool) -> list[tuple[str, str, Language]]:
    return [
        (name, rung.name, language)
        for name in ladder_names()
        for rung in find_ladder(name).rungs(Options(as_written=defective))
        if bool(rung.defect) is defective and isinstance(rung, Rung) and rung.host is None
        for language in rung.languages
    ]


def _check(ladder: str, rung: str, language: Language) -> tuple[Checking, bool]:
    """Run a rung at its table's small size, or at LARGEST; returns what was found and whether it is right."""
    backend, found = Checking(), find_ladder(ladder)
    (explained,) = found.rungs(Options(rungs=(rung,)))
    small = found.problem.tables[explained.table].small  # pyright: ignore[reportAttributeAccessIssue]
    options = Options(size=min(small, LARGEST), rungs=(rung,), languages=(language,), peers=False)
    (trial,) = found.trials(options, backend, TOOLCHAIN)
    trial.restore()
    trial.run()
    return backend, trial.judge().verified


@pytest.mark.parametrize(("ladder", "rung", "language"), _rungs(defective=False))
def test_the_checker_is_silent(ladder: str, rung: str, language: Language) -> None:
    backend, right = _check(ladder, rung, language)
    assert backend.launches
    assert not backend.findings, "\n".join(str(finding) for finding in backend.findings)
    assert right


@pytest.mark.parametrize(("ladder", "rung", "language"), _rungs(defective=True))
def test_what_is_as_written_is_found(ladder: str, rung: str, language: Language) -> None:
    """The checker finds something, of a kind that the rung names; or the result is wrong, as it says."""
    backend, right = _check(ladder, rung, language)
    (explained,) = find_ladder(ladder).rungs(Options(rungs=(rung,)))
    kinds = {finding.kind for finding in backend.findings}
    assert kinds or not right
    if ladder != "reduction":
        assert all(kind in explained.defect for kind in kinds), f"{kinds} against {explained.defect!r}"
        assert right or kinds or "wrong" in explained.defect
