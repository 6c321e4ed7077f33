"""The reduction problem and the ladder's order: inputs, references, bounds, launch arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from warpglass import source
from warpglass.errors import ArgumentError
from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.device_arrays import DeviceArrays
from warpglass.ladders.reduction.as_written.cpu_recursive import cpu_recursive as cpu_recursive_as_written
from warpglass.ladders.reduction.cpu_recursive import cpu_recursive
from warpglass.ladders.reduction.problem import (
    DTYPES,
    INPUTS,
    LARGEST,
    PROBLEM,
    make_input,
    reference_sum,
)
from warpglass.ladders.rounding import exact_sum, sum_bound
from warpglass.ladders.run import KernelTrial, Setting
from warpglass.ladders.rung import LaunchShape, in_order
from warpglass.ladders.ship import NoDevice
from warpglass.ladders.trial import Options, Toolchain

LADDER = find_ladder("reduction")

GLOBAL_RUNGS = [
    "cpu_recursive",
    "neighbored",
    "neighbored_less",
    "interleaved",
    "unroll2",
    "unroll4",
    "unroll8",
    "unroll_warps8",
    "complete_unroll_warps8",
    "complete_unroll",
]
SHARED_RUNGS = ["shared_interleaved_modulo", "shared_interleaved_strided", "shared_sequential"]
BEYOND_RUNGS = ["warp_shuffle", "vector_loads", "block_atomics", "grid_sync", "last_block"]
ALL_RUNGS = [*GLOBAL_RUNGS, *SHARED_RUNGS, *BEYOND_RUNGS]

TOOLCHAIN = Toolchain(open_cuda=source.load, open_python=source.from_numba)


def by_name(name: str):
    return LADDER.rung(name)


def test_ladder_has_the_rungs_of_the_notes_in_their_order() -> None:
    names = [rung.name for rung in LADDER.rungs(Options())]
    assert sorted(names) == sorted(ALL_RUNGS)
    for table in (GLOBAL_RUNGS, SHARED_RUNGS, BEYOND_RUNGS):
        assert [name for name in names if name in table] == table
    assert "reduction" in ladder_names()
    assert find_ladder("reduction") is LADDER


def test_every_as_written_rung_says_what_is_wrong() -> None:
    added = LADDER.rungs(Options(as_written=True))[len(ALL_RUNGS) :]
    assert [rung.name for rung in added] == [f"{name}_as_written" for name in GLOBAL_RUNGS + SHARED_RUNGS]
    assert all(rung.defect for rung in added)


@pytest.mark.parametrize("rung", LADDER.rungs(Options(as_written=True)), ids=lambda rung: rung.name)
def test_every_rung_is_explained_and_its_claims_name_rungs(rung) -> None:
    assert len(rung.explanation.split()) > 20
    assert rung.title.endswith((".", ")."))
    assert all(kernel.file.is_file() for kernel in rung.kernels)
    known = {other.name for other in LADDER.rungs(Options())}
    assert all(isinstance(claim.than, float) or claim.than in known for claim in rung.claims)


def shape_of(name: str, n: int, block: int, dtype: str) -> LaunchShape:
    rung = by_name(name)
    assert rung.shape is not None
    return rung.shape(PROBLEM.case(rung.table, n, dtype, "ones", 0), block)


def test_launch_arithmetic_of_the_notes() -> None:
    grids = [
        shape_of(name, 2**24, 512, "float32").grid for name in ("neighbored", "unroll2", "unroll4", "unroll8")
    ]
    assert grids == [32768, 16384, 8192, 4096]
    assert shape_of("shared_sequential", 2**22, 128, "int32") == LaunchShape(32768, 128, 512)
    assert shape_of("unroll8", 0, 64, "float64").grid == 1


@pytest.mark.parametrize(
    ("name", "dtype", "block", "language", "expected"),
    [
        ("complete_unroll", "float32", 256, "cuda", "complete_unroll<float, 256>"),
        ("complete_unroll", "float32", 256, "python", "complete_unroll(256)"),
        ("neighbored", "uint64", 256, "cuda", "neighbored<unsigned long long>"),
        ("neighbored", "uint64", 256, "python", "neighbored"),
    ],
)
def test_names_of_kernels(name: str, dtype: str, block: int, language, expected: str) -> None:
    case = PROBLEM.case("global", 10, dtype, None, 0)
    setting = Setting("global", "", block, "host", 60.0)
    trial = KernelTrial(by_name(name), language, DeviceArrays(case, NoDevice()), setting, TOOLCHAIN)
    assert trial.card.kernel == expected


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 33, 1000])
def test_baseline_is_right_for_any_size(n: int, dtype: str, kind: str) -> None:
    x = make_input(n, np.dtype(dtype), kind, seed=3)
    reference = reference_sum(x)
    with np.errstate(over="ignore"):
        result = cpu_recursive(x.copy())
    assert abs(result - reference.value) <= sum_bound(max(1, n).bit_length(), x.dtype, reference.magnitude)


def test_baseline_as_written_drops_an_element_at_odd_sizes() -> None:
    assert cpu_recursive_as_written(np.ones(1024)) == 1024
    assert cpu_recursive_as_written(np.ones(1023)) < 1023
    assert cpu_recursive_as_written(np.ones(0)) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reference_is_the_exact_sum(dtype: str) -> None:
    x = make_input(5000, np.dtype(dtype), "extreme", seed=1)
    exact = sum(map(Fraction, x.tolist()), Fraction())
    reference = reference_sum(x)
    assert reference.value == float(exact)
    assert reference.magnitude >= sum(abs(Fraction(value)) for value in x.tolist())
    assert exact_sum(x) == float(exact)


def test_integer_sums_wrap_as_the_type_does() -> None:
    x = np.full(5, 2**31 - 1, np.int32)
    expected = (5 * (2**31 - 1) + 2**31) % 2**32 - 2**31
    assert reference_sum(x).value == expected
    assert sum_bound(20, x.dtype, reference_sum(x).magnitude) == 0.0


def test_bound_is_tight_enough_to_notice_a_dropped_element() -> None:
    x = make_input(2**20, np.dtype("float64"))
    assert sum_bound(16, x.dtype, reference_sum(x).magnitude) < 1e-8
    x32 = make_input(2**16, np.dtype("float32"))
    assert sum_bound(16, x32.dtype, reference_sum(x32).magnitude) < 0.1


def test_bound_covers_the_worst_order_of_a_small_case() -> None:
    # Recursive summation of n numbers passes the first one through n - 1 additions.
    x = make_input(2000, np.dtype("float32"), "extreme", seed=5)
    total = np.float32(0)
    for value in x:
        total = np.float32(total + value)
    reference = reference_sum(x)
    assert abs(float(total) - reference.value) <= sum_bound(len(x), x.dtype, reference.magnitude)


def test_inputs_are_reproducible_and_differ_by_seed() -> None:
    dtype = np.dtype("float64")
    assert np.array_equal(make_input(100, dtype, seed=4), make_input(100, dtype, seed=4))
    assert not np.array_equal(make_input(100, dtype, seed=4), make_input(100, dtype, seed=5))
    assert math.isclose(float(make_input(2**16, dtype).mean()), 0.5, abs_tol=0.01)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (Options(rungs=("nonesuch",)), "no rung nonesuch"),
        (Options(size=LARGEST + 1), "elements"),
        (Options(dtype="float16"), "float16"),
        (Options(data="nonesuch"), "nonesuch"),
        (Options(block=48), "block size 48"),
    ],
)
def test_what_the_ladder_does_not_take_is_refused_by_name(options: Options, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        LADDER.trials(options, NoDevice(), TOOLCHAIN)


def test_sizes_below_zero_are_refused() -> None:
    with pytest.raises(ArgumentError, match="size -1"):
        LADDER.trials(Options(size=-1), NoDevice(), TOOLCHAIN)


def test_rungs_are_sorted_by_what_they_follow() -> None:
    rungs = LADDER.rungs(Options())
    assert in_order(reversed(rungs)) == rungs
    with pytest.raises(ValueError, match="neighbored_less"):
        in_order(rungs[2:3])
