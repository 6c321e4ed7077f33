"""The checker has nothing to say about a rung, unless the rung is as the course notes write it.

Reductions without a plan are launched with their arguments marked: all of the input is read, all of the
result is written.
"""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.reduction.problem import PROBLEM
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language, Options
from warpglass.records.check import KINDS

from .watching import TOOLCHAIN, Checking

REDUCTION = find_ladder("reduction")

# Blocks and tiles break off here, and a checked launch takes about thirty times as long as a plain one.
LARGEST = 5300
BLOCK = 64
# No multiple of a reduction's span: three data blocks of the widest unrolling, and a part of another.
RAGGED = 3 * 8 * BLOCK + 30
WHOLE = 3 * 8 * BLOCK + 2 * BLOCK  # whole blocks, but not as many as an unrolled one adds up


def _rungs(defective: bool) -> list[tuple[str, str, Language]]:
    return [
        (name, rung.name, language)
        for name in ladder_names()
        for rung in find_ladder(name).rungs(Options(as_written=defective))
        if bool(rung.defect) is defective
        and isinstance(rung, Rung)
        and rung.host is None
        and rung.only_on is None
        if name != "reduction" or rung.plan
        for language in rung.languages
    ]


def _reductions(defective: bool) -> list[object]:
    return [
        pytest.param(rung, language, id=f"{rung.name}-{language}")
        for rung in REDUCTION.rungs(Options(as_written=True))
        if bool(rung.defect) is defective and rung.host is None and not rung.plan
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


def _check_reduction(rung: Rung, language: Language, size: int) -> wg.Check:
    case = PROBLEM.case(rung.table, size, "float64", None, 1)
    x, kernel = case.arrays["x"].copy(), rung.kernels[0]
    assert rung.shape is not None
    shape = rung.shape(case, BLOCK)
    if language == "cuda":
        code = wg.load(kernel.file, kernel.cuda.format(type="double", block=BLOCK))
    else:
        code = wg.from_numba(kernel.function(case, BLOCK))
    partial = np.zeros(shape.grid3[0])
    # A sum that all blocks add to begins with zero; elsewhere each stores its own.
    result = partial if rung.name in ("block_atomics", "grid_sync") else wg.out(partial)
    args = (wg.all_of(x), result, np.uint32(size))
    return wg.check(code, shape.grid3, shape.block3, args, shared=shape.shared)


@pytest.mark.sampled(quick=8, ci=7)
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
    assert all(kind in explained.defect for kind in kinds), f"{kinds} against {explained.defect!r}"
    assert right or kinds or "wrong" in explained.defect


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize(("rung", "language"), _reductions(defective=False))
@pytest.mark.parametrize("size", [RAGGED, 16 * BLOCK, 1])
def test_reductions_are_clean(rung: Rung, language: Language, size: int) -> None:
    assert _check_reduction(rung, language, size).findings == ()


@pytest.mark.parametrize(("rung", "language"), _reductions(defective=True))
def test_defects_of_the_notes_reductions_are_found(rung: Rung, language: Language) -> None:
    """What a rung says is wrong with it is found, and nothing else."""
    named = {kind for kind in KINDS if kind in rung.defect}
    found = {one.kind for size in (RAGGED, WHOLE) for one in _check_reduction(rung, language, size).findings}
    assert found == named
