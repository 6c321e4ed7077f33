"""The transpose ladder: every rung at awkward sizes and for every element type."""

from __future__ import annotations

from itertools import product

import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.rung import Rung
from warpglass.ladders.transpose.ladder import LADDER
from warpglass.ladders.transpose.problem import PROBLEM, columns_of
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, count, judge, kernels, open_place

SIZES = (1, 9, 31, 32, 75)
SOME: tuple[tuple[str, Language], ...] = (
    ("float32", "cuda"),
    ("float64", "python"),
    ("int32", "python"),
    ("int64", "cuda"),
    ("uint8", "cuda"),
)
ALL = tuple(product(PROBLEM.dtypes, LANGUAGES))


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("dtype", "language"), ALL if FULL else SOME)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, dtype: str, language: Language) -> None:
    for size, data in product(SIZES, PROBLEM.data):
        verdict = judge(LADDER, rung.name, backend, language, size, dtype, data=data)
        assert verdict.verified, f"{size} x {columns_of(size)}, {data}: {verdict}"


def test_conflicts_are_what_the_columns_of_a_tile_say() -> None:
    # A warp reads a column: 32 wavefronts, 31 of them conflicts, for each of the tiles' 32 columns.
    tiles = 2 * 3  # of 64 rows and 88 columns, the last column of tiles broken off
    assert columns_of(64) == 88
    for rung, wavefronts in (("tile", 32), ("padded_tile", 1)):
        found = count(LADDER, rung, 64)
        loads = found["smsp__inst_executed_op_shared_ld.sum"]
        assert loads == tiles * 32 - 2 * 8
        assert found["shared_load_transactions"] == loads * wavefronts
        assert found["shared_ld_bank_conflict"] == loads * (wavefronts - 1)
