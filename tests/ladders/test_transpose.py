"""The transpose ladder: the notes' conflicts beside the engine's."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders import find_ladder
from warpglass.ladders.transpose import word_tile
from warpglass.ladders.transpose.problem import columns_of

from .following import apart, follow
from .judging import count

LADDER = find_ladder("transpose")


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


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_words_of_any_shape_at_any_address(dtype: str) -> None:
    """Whole tiles and broken ones, rows that begin where words do and where they do not."""
    random = np.random.default_rng(1)
    element = np.dtype(dtype)
    shapes = ((1, 5, 0, 0), (256, 320, 0, 0), (259, 387, 0, 0), (131, 260, 1, 3), (300, 3, 3, 1))
    for rows, columns, before, behind in shapes:
        bits = random.bytes(rows * columns * element.itemsize)
        a = apart(np.frombuffer(bits, element).reshape(rows, columns), before)
        b = apart(np.zeros((columns, rows), element), behind)
        follow(word_tile.plan(rows, columns, element), a=a, b=b)
        assert b.tobytes() == a.T.tobytes(), (rows, columns)


@pytest.mark.gpu
def test_more_elements_than_32_bits_count() -> None:
    rows, columns = 46_349, 46_351  # 2^31 and a little more
    a = np.random.default_rng(1).integers(0, 256, (rows, columns), np.uint8)
    b = np.zeros((columns, rows), np.uint8)
    (step,) = word_tile.plan(rows, columns, a.dtype).steps
    wg.run(wg.load(step.file, step.kernel), step.grid, step.block, (a, b, *step.arguments[2:]), device="gpu")
    assert np.array_equal(b, a.T)
