"""Every rung of the reduction ladder is clean; of those as the course notes have it, each defect is found."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.reduction.ladder import LADDER as REDUCTION
from warpglass.ladders.reduction.problem import PROBLEM
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Options
from warpglass.records.check import KINDS

BLOCK = 64
# No multiple of any span: three data blocks of the widest unrolling, and the beginning of another.
RAGGED = 3 * 8 * BLOCK + 30
WHOLE = 3 * 8 * BLOCK + 2 * BLOCK  # whole blocks, but not as many as an unrolled one adds up

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
    partial = np.zeros(shape.grid3[0])
    # A sum that all blocks add to begins with zero; elsewhere each stores its own.
    result = partial if rung.name in ("block_atomics", "grid_sync") else wg.out(partial)
    args = (wg.all_of(x), result, np.uint32(size))
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
    """What a rung says is wrong with it is found, and nothing else."""
    named = {kind for kind in KINDS if kind in rung.defect}
    found = {one.kind for size in (RAGGED, WHOLE) for one in check(rung, language, size).findings}
    assert found == named
