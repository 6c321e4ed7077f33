"""Every rung of the reduction ladder is clean; every one as the course notes have it is found."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.reduction.ladder import LADDER as REDUCTION
from warpglass.ladders.reduction.problem import PROBLEM
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Options

BLOCK = 64
# No multiple of any span: three data blocks of the widest unrolling, and the beginning of another.
RAGGED = 3 * 8 * BLOCK + 30

RUNGS = [rung for rung in REDUCTION.rungs(Options(as_written=True)) if rung.host is None]
TRIALS = [(rung, language) for rung in RUNGS for language in rung.languages]


def check(rung: Rung, language: str, size: int) -> wg.Check:
    case = PROBLEM.case(rung.table, size, "float64", None, 1)
    x, kernel = case.arrays["x"].copy(), rung.kernels[0]
    assert rung.shape is not None
    shape = rung.shape(case, BLOCK)
    if language == "cuda":
        code = wg.load(kernel.file, kernel.cuda.format(type="double", block=BLOCK))
    else:
        code = wg.from_numba(kernel.function(case, BLOCK))
    args = (wg.all_of(x), wg.out(np.zeros(shape.grid3[0])), np.uint32(size))
    return wg.check(code, shape.grid3, shape.block3, args, shared=shape.shared)


@pytest.mark.parametrize(
    ("rung", "language"),
    [(r, lang) for r, lang in TRIALS if not r.defect],
    ids=lambda one: getattr(one, "name", one),
)
@pytest.mark.parametrize("size", [RAGGED, 16 * BLOCK, 1])
def test_rungs_are_clean(rung: Rung, language: str, size: int) -> None:
    assert check(rung, language, size).findings == ()


@pytest.mark.parametrize(
    ("rung", "language"),
    [(r, lang) for r, lang in TRIALS if r.defect],
    ids=lambda one: getattr(one, "name", one),
)
def test_defects_of_the_notes_are_found(rung: Rung, language: str) -> None:
    kinds = {finding.kind for finding in check(rung, language, RAGGED).findings}
    assert kinds & {"out-of-bounds", "unread-input"}, kinds
    lockstep = "lockstep" in rung.defect
    assert ("warp-race" in kinds) == lockstep
