"""The 1-D convolution ladder: the notes' counts beside the engine's."""

from __future__ import annotations

import numpy as np

from warpglass.ladders import find_ladder
from warpglass.ladders.conv1d import counts
from warpglass.ladders.conv1d.problem import RADIUS

from .judging import count

LADDER = find_ladder("conv1d")


def test_the_mask_costs_as_many_loads_as_x() -> None:
    basic, constant = (count(LADDER, rung, 1024)["global_load_requests"] for rung in ("basic", "constant"))
    assert basic == 2 * constant == 2 * 1024 / 32 * 9


def test_the_formulas_are_those_of_the_definition() -> None:
    n, block = 96, 32
    reads = np.array([[0 <= i - RADIUS + j < n for j in range(9)] for i in range(n)])
    assert counts.basic_reads(n, RADIUS) == reads.sum()
    assert counts.edge_block_reads(block, RADIUS) == reads[:block].sum() == reads[-block:].sum()
    assert reads[block : 2 * block].sum() / (block + 2 * RADIUS) == counts.inner_ratio(block, RADIUS)
    assert reads[:block].sum() / (block + RADIUS) == counts.edge_ratio(block, RADIUS)
    elements = [range(max(0, first - RADIUS), min(n, first + block + RADIUS)) for first in range(0, n, block)]
    assert counts.tiled_reads(n, RADIUS, block) == sum(map(len, elements))
