"""Every rung, run: awkward sizes, block sizes, element types, languages and inputs, on every back end.

A row says which sizes are awkward for a ladder's kernels and with what its inputs are tried. The reductions,
whose awkward sizes are a kernel's own, have test_reduction_kernels.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product
from typing import Literal

import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.errors import LaunchError
from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.dot.problem import MOST_BLOCKS
from warpglass.ladders.ladder import PackagedLadder
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language, Options

from .judging import PLACES, judge, kernels, open_place


@dataclass(frozen=True, slots=True)
class Row:
    """A ladder's sizes, each with the first of its inputs, with each, or with one after the other.

    With `spans` they are awkward for the smallest block; others take that many blocks of elements and three
    more, with the first input and the last. `inputs` are sizes, element types and blocks for all inputs.
    """

    name: str
    sizes: tuple[int, ...]
    data: Literal["first", "each", "in turn"] = "first"
    spans: int | None = None
    inputs: tuple[tuple[int, str, int], ...] = ()

    @property
    def ladder(self) -> PackagedLadder:
        """The ladder itself."""
        return find_ladder(self.name)

    def tried(self, block: int) -> Iterator[tuple[int, str]]:
        """The sizes and inputs that a block of so many threads is tried with."""
        kinds, blocks = self.ladder.problem.data, self.ladder.problem.blocks
        if self.spans is not None and block != blocks[0]:
            return product([self.spans * block + 3], {kinds[0]: 0, kinds[-1]: 0})
        if self.data == "in turn":
            return zip(self.sizes, cycle(kinds), strict=False)
        return product(self.sizes, kinds if self.data == "each" else kinds[:1])


ROWS = (
    # Of the vectors, more elements than the threads of the largest fixed grid here, at 32 a block.
    Row("vector", (0, 1, 33, 1000, 1056 * 32 + 5), "each"),
    # One pixel, fewer rows than a neighbourhood, odd numbers, the notes' picture.
    Row("image", (1, 9, 37, 76), "in turn"),
    Row("transpose", (1, 9, 31, 32, 75), "each"),
    # With more than 132 blocks of elements threads take several.
    Row(
        "dot", (0, 1, 33, 255, MOST_BLOCKS * 64 + 1), inputs=((10_007, "float64", 256), (10_007, "int64", 32))
    ),
    Row("matmul", (1, 17, 84), inputs=((70, "float64", 256), (70, "int64", 256))),
    # Fewer elements than the mask has weights; blocks of 32 with a broken one, shorter than the halo.
    Row("conv1d", (1, 5, 67, 1000), inputs=((700, "int64", 32), (700, "float64", 256))),
    # Smaller than the mask; one tile and a bit of the next.
    Row("conv2d", (1, 3, 17, 61), "in turn"),
    # Around a warp, a block of 32 and its spans; the last takes three levels of totals.
    Row("scan", (0, 1, 31, 33, 64, 65, 225, 1025), spans=5, inputs=((3001, "float32", 64),)),
    Row("histogram", (0, 1, 31, 33, 1000, 32 * 16 * 3 + 5), spans=33, inputs=((3001, "int32", 64),)),
    # Around a span of 64 keys and two of them; odd and even numbers of merges, a run that has no partner.
    Row(
        "sort",
        (0, 1, 2, 3, 31, 63, 64, 65, 127, 129, 200, 64 * 5 + 7),
        spans=6,
        inputs=((300, "float32", 32),),
    ),
    # Around one span of 64, around half spans, where pass b begins and ends, and several spans.
    Row(
        "oddeven_sort",
        (0, 1, 2, 3, 32, 33, 63, 64, 65, 96, 97, 317),
        spans=4,
        inputs=tuple((300, dtype, 32) for dtype in ("float32", "float64", "int32", "uint32")),
    ),
)


def _settings() -> Iterator[object]:
    for row in ROWS:
        problem = row.ladder.problem
        for rung in kernels(row.ladder):
            dtypes = problem.dtypes_of(rung.table)
            for language, block, dtype in product(rung.languages, problem.blocks, dtypes):
                name = f"{row.name}-{rung.name}-{language}-{block}-{dtype}"
                yield pytest.param(row, rung, language, block, dtype, id=name)


def _inputs() -> Iterator[object]:
    for row in ROWS:
        for rung in row.ladder.rungs(Options()):
            if rung.only_on is not None:
                continue
            taken = row.ladder.problem.dtypes_of(rung.table)
            settings = (setting for setting in row.inputs if setting[1] in taken)
            for language, setting in product(rung.languages, settings):
                name = "-".join(map(str, (row.name, rung.name, language, *setting)))
                yield pytest.param(row, rung, language, *setting, id=name)


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.sampled(quick=120, ci=110)
@pytest.mark.parametrize(("row", "rung", "language", "block", "dtype"), list(_settings()))
def test_awkward_sizes(
    backend: Backend, row: Row, rung: Rung, language: Language, block: int, dtype: str
) -> None:
    for size, data in row.tried(block):
        try:
            verdict = judge(row.ladder, rung.name, backend, language, size, dtype, block, data)
        except LaunchError as error:
            if error.cuda_name != "cudaErrorLaunchOutOfResources":
                raise
            pytest.skip(str(error))  # NVIDIA's compiler decides how many registers a thread takes
        assert verdict.verified, f"{size} elements, {data}: {verdict}"


@pytest.mark.sampled(quick=20, ci=12)
@pytest.mark.parametrize(("row", "rung", "language", "size", "dtype", "block"), list(_inputs()))
def test_inputs(
    backend: Backend, row: Row, rung: Rung, language: Language, size: int, dtype: str, block: int
) -> None:
    for data in row.ladder.problem.data:
        verdict = judge(row.ladder, rung.name, backend, language, size, dtype, block, data)
        assert verdict.verified, f"{data}: {verdict}"


def test_every_ladder_has_a_row() -> None:
    assert {row.name for row in ROWS} | {"reduction"} == set(ladder_names())
