"""The transpose ladder: the notes' conflicts beside the engine's."""

from __future__ import annotations

from warpglass.ladders import find_ladder
from warpglass.ladders.transpose.problem import columns_of

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
