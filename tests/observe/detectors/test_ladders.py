"""Every rung of the reduction ladder is clean; every one as the course notes have it is found."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders import find_ladder
from warpglass.ladders.reduction.rung import ReductionRung
from warpglass.ladders.trial import Options

BLOCK = 64
# No multiple of any span: three data blocks of the widest unrolling, and the beginning of another.
RAGGED = 3 * 8 * BLOCK + 30

LADDER = find_ladder("reduction").rungs(Options(as_written=True))
RUNGS = [rung for rung in LADDER if isinstance(rung, ReductionRung) and rung.host is None]
TRIALS = [(rung, language) for rung in RUNGS for language in rung.languages]


def check(rung: ReductionRung, language: str, size: int) -> wg.Check:
    x = np.random.default_rng(1).random(size)
    shape = rung.shape(size, BLOCK, x.itemsize)
    if language == "cuda":
        kernel = wg.load(rung.cuda_file, rung.cuda_name(x.dtype, BLOCK))
    else:
        kernel = wg.from_numba(rung.python_kernel(BLOCK))
    args = (wg.all_of(x), wg.out(np.zeros(shape.grid)), np.uint32(size))
    return wg.check(kernel, shape.grid, shape.block, args, shared=shape.shared)


@pytest.mark.parametrize(
    ("rung", "language"),
    [(r, lang) for r, lang in TRIALS if not r.defect],
    ids=lambda one: getattr(one, "name", one),
)
@pytest.mark.parametrize("size", [RAGGED, 16 * BLOCK, 1])
def test_rungs_are_clean(rung: ReductionRung, language: str, size: int) -> None:
    assert check(rung, language, size).findings == ()


@pytest.mark.parametrize(
    ("rung", "language"),
    [(r, lang) for r, lang in TRIALS if r.defect],
    ids=lambda one: getattr(one, "name", one),
)
def test_defects_of_the_notes_are_found(rung: ReductionRung, language: str) -> None:
    kinds = {finding.kind for finding in check(rung, language, RAGGED).findings}
    assert kinds & {"out-of-bounds", "unread-input"}, kinds
    lockstep = "lockstep" in rung.defect
    assert ("warp-race" in kinds) == lockstep
