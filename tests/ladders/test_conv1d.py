"""The 1-D convolution ladder: every rung at awkward sizes, and the notes' counts beside the engine's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.conv1d import counts
from warpglass.ladders.conv1d.ladder import LADDER
from warpglass.ladders.conv1d.problem import PROBLEM, RADIUS
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, count, judge, kernels, open_place

# Fewer elements than the mask has weights; blocks of 32 with a broken one, which is shorter than the halo.
SIZES = (1, 5, 67, 1000)
SOME: tuple[tuple[int, str, Language], ...] = (
    (32, "int64", "cuda"),
    (64, "float32", "python"),
    (256, "float64", "cuda"),
    (1024, "int32", "python"),
)
ALL = tuple(product(PROBLEM.blocks, PROBLEM.dtypes, LANGUAGES))


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("block", "dtype", "language"), ALL if FULL else SOME)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, block: int, dtype: str, language: Language) -> None:
    for size in SIZES:
        verdict = judge(LADDER, rung.name, backend, language, size, dtype, block)
        assert verdict.verified, f"{size} elements: {verdict}"


@pytest.mark.parametrize("data", PROBLEM.data)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_inputs(backend: Backend, rung: Rung, data: str) -> None:
    for dtype, block in (("int64", 32), ("float64", 256)):
        verdict = judge(LADDER, rung.name, backend, "cuda", 700, dtype, block, data)
        assert verdict.verified, verdict


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
