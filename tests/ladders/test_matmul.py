"""The matrix-multiplication ladder: the notes' counts, the reference, and the last rungs for any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.errors import ArgumentError
from warpglass.ladders import find_ladder
from warpglass.ladders.matmul.counts import naive_reads, share_left, tiled_reads
from warpglass.ladders.matmul.plans import Factors, product, tensor_product
from warpglass.ladders.matmul.problem import PROBLEM, bfloat16, from_bfloat16, wrapped_product
from warpglass.ladders.plan import Plan

from .judging import judge, open_place

Array = np.ndarray[Any, np.dtype[Any]]

# m, n, k: one element; nothing to sum up; rows that begin at multiples of 16 bytes, and that do not; tiles
# that break off on both sides, and a sum long enough to be split.
SHAPES = ((1, 1, 1), (3, 5, 0), (40, 136, 72), (129, 31, 77), (70, 257, 300))


def test_a_tile_of_sixteen_leaves_a_sixteenth() -> None:
    assert tiled_reads(64, 16) / naive_reads(64) == share_left(16) == 1 / 16
    assert tiled_reads(65, 16) == 2 * 65 * 65 * 5  # a broken row of tiles reads all of B once more


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_reference_wraps_as_integers_do(dtype: str) -> None:
    case = PROBLEM.case("matmul", 37, dtype, "extreme", 1)
    a, b = case.arrays["a"], case.arrays["b"]
    assert np.array_equal(wrapped_product(a, b), a @ b)


def test_bfloat16_is_rounded_to_even() -> None:
    words = np.array([0x3F80_8000, 0x3F81_8000, 0x3F80_8001, 0xBF80_7FFF], np.uint32)
    assert bfloat16(words.view(np.float32)).tolist() == [0x3F80, 0x3F82, 0x3F81, 0xBF80]
    assert from_bfloat16(np.array([0x3F80, 0xC000], np.uint16)).tolist() == [1.0, -2.0]


# ---------------------------------------------------------------------------------------------- any shape
def follow(plan: Plan, **arrays: Array) -> None:
    """Make the launches of a plan on the engine; scratch memory holds anything."""
    arrays |= {one.name: np.full(one.size, 7, one.dtype) for one in plan.scratch}
    for step in plan.steps:
        values = (arrays[one] if isinstance(one, str) else one for one in step.arguments)
        wg.load(step.file, step.kernel)[step.grid, step.block, 0, step.shared](*values)


def factors(m: int, n: int, k: int) -> tuple[Array, Array]:
    """Numbers of [-1/2, 1/2)."""
    rng = np.random.default_rng(m + n + k)
    return rng.random((m, k)) - 0.5, rng.random((k, n)) - 0.5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "multiprocessors"), [("float32", 0), ("float32", 3), ("int64", 3)])
def test_products_of_any_shape(shape: tuple[int, int, int], dtype: str, multiprocessors: int) -> None:
    a, b = (np.asarray(one * 1000, dtype) for one in factors(*shape))
    c = np.full(shape[:2], 7, dtype)
    plan = product(*shape, np.dtype(dtype), multiprocessors=multiprocessors)
    follow(plan, a=a, b=b, c=c)
    assert len(plan.steps) == (2 if dtype == "float32" and multiprocessors and shape[2] == 300 else 1)
    bound = shape[2] * 2.0**-24 * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    assert (np.abs(c - a.astype(float) @ b.astype(float)) <= (bound if dtype == "float32" else 0)).all()


@pytest.mark.sampled(quick=16, ci=12)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["Tf32", "Bf16", "F16"])
def test_tensor_products_of_any_shape(shape: tuple[int, int, int], kind: Factors) -> None:
    a, b = (one.astype(np.float32) for one in factors(*shape))
    cut = 0.0
    if kind == "Tf32":
        stored, cut = (a, b), 2.0**-10  # both are rounded, by half of 2^-10
    elif kind == "Bf16":
        stored = (bfloat16(a), bfloat16(b))
        a, b = map(from_bfloat16, stored)
    else:
        a, b = (one.astype(np.float16) for one in (a, b))
        stored = (a.view(np.uint16), b.view(np.uint16))
    c = np.full(shape[:2], 7, np.float32)
    follow(tensor_product(*shape, kind), a=stored[0], b=stored[1], c=c)
    bound = (cut * 1.001 + shape[2] * 2.0**-23) * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    assert (np.abs(c - a.astype(float) @ b.astype(float)) <= bound).all()


@pytest.mark.least("full")
def test_sums_are_rounded_to_halves() -> None:
    a, b = (one.astype(np.float16).view(np.uint16) for one in factors(*SHAPES[2]))
    sums, halves = (np.full(SHAPES[2][:2], 7, dtype) for dtype in (np.float32, np.uint16))
    follow(tensor_product(*SHAPES[2], "F16"), a=a, b=b, c=sums)
    follow(tensor_product(*SHAPES[2], "F16", halves=True), a=a, b=b, c=halves)
    np.testing.assert_array_equal(halves, sums.astype(np.float16).view(np.uint16))


def test_what_is_no_number_stays_in_its_row_and_column() -> None:
    """NaN and infinities reach what they are factors of, and tiles that break off reach nothing else."""
    a, b = (one.astype(np.float32) for one in factors(66, 67, 33))
    a[3, 32], b[7, 5] = np.nan, np.inf
    results: list[Array] = []
    for plan in (product(66, 67, 33, a.dtype), tensor_product(66, 67, 33, "Tf32")):
        results.append(np.zeros((66, 67), np.float32))
        follow(plan, a=a, b=b, c=results[-1])
    for c in results:
        assert np.isnan(c[3]).all()
        assert np.isinf(np.delete(c[:, 5], 3)).all()
        assert np.isfinite(np.delete(np.delete(c, 3, 0), 5, 1)).all()


@pytest.mark.parametrize(("rows", "columns", "multiprocessors"), [(65, 129, 2), (65, 129, 5), (300, 300, 2)])
def test_splitting_leaves_integers_as_they_are(rows: int, columns: int, multiprocessors: int) -> None:
    """All of four tiles are split, or one of fifteen that two multiprocessors share."""
    a, b = (np.asarray(one * 2.0**31, np.int32) for one in factors(rows, columns, 400))
    c = np.zeros((rows, columns), np.int32)
    plan = product(rows, columns, 400, a.dtype, multiprocessors=multiprocessors)
    assert len(plan.steps) == 2
    follow(plan, a=a, b=b, c=c)
    assert np.array_equal(c, a @ b)


# --------------------------------------------------------------------------------------- one GPU, one table
def test_the_engine_refuses_warp_groups_by_name() -> None:
    bench = wg.bench("matmul", size=17, device="cpu", repeat=1, rungs=("tf32_warp_groups",), peers=False)
    (row,) = bench.rows
    assert not row.verified
    assert row.failure is not None
    assert "wgmma.mma_async" in row.failure
    rest = wg.bench("matmul", size=17, device="cpu", repeat=1, language="cuda", peers=False)
    assert rest.verified
    assert not any("warp_groups" in row.rung for row in rest.rows)


@pytest.mark.turns(3)
def test_tables_take_their_own_element_types() -> None:
    doubles = wg.bench("matmul", size=9, dtype="float64", device="cpu", repeat=1, peers=False)
    assert doubles.verified
    assert {row.table for row in doubles.rows} == {"matmul", "fp64"}
    with pytest.raises(ArgumentError, match="dtype 'float64': the matmul ladder takes float32"):
        wg.bench("matmul", size=9, dtype="float64", device="cpu", rungs=("bf16_tensor_cores",))


@pytest.mark.gpu
@pytest.mark.parametrize("rung", ["split_k", "tf32_warp_groups", "bf16_warp_groups", "fp64_tensor_cores"])
@pytest.mark.parametrize("size", [1, 255, 1024, 1999, 4097])
def test_large_products(rung: str, size: int) -> None:
    ladder, dtype = find_ladder("matmul"), "float64" if rung.startswith("fp64") else "float32"
    for data in PROBLEM.data if size < 1025 else PROBLEM.data[:1]:
        verdict = judge(ladder, rung, open_place("gpu"), "cuda", size, dtype, data=data)
        assert verdict.verified, f"{data}: {verdict}"
