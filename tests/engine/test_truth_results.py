"""What an H200 left in the arrays of the kernels in tests/cases/truth, compared byte by byte.

Every array of every case is equal, but for those below, each with its reason. Of those whose values are only
approximate the sums are compared.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases.truth.more_launch import Case, read_cases
from tests.engines import engine_mode
from warpglass import lab

TRUTH = Path(__file__).parent.parent / "cases" / "truth"
SETS = ("more", "more_py", "open")


@dataclass(frozen=True, slots=True)
class Difference:
    """Which arrays of a case may differ, why, and how far their sums may be apart, relatively."""

    arrays: tuple[int, ...]
    within: float
    reason: str


_TABLES = "the GPU's tables for {} are not public; results are within the manual's bound of it"
DIFFERENT = {
    "shared_float4_2": Difference((1,), np.inf, "threads write one element: who comes last is not defined"),
    "shared_float4_4": Difference((1,), np.inf, "threads write one element: who comes last is not defined"),
    "atomic_float_double": Difference((2,), 1e-7, "atomic additions in single precision come in any order"),
    "py_dot": Difference((2,), 1e-6, "atomic additions in single precision come in any order"),
    "roots": Difference((1,), 1e-7, _TABLES.format("rsqrt.approx and div.approx")),
    "transcend": Difference((1,), 1e-7, _TABLES.format("ex2.approx and sin.approx")),
    "black_scholes": Difference((3,), 1e-7, _TABLES.format("ex2.approx")),
    "nbody": Difference((1,), 1e-6, _TABLES.format("rsqrt.approx")),
}
# Cases that are run more often, for the fused arithmetic in them.
OFTEN = set(DIFFERENT) | {"early_return", "half_axpy", "half2_axpy", "polynomial_float", "polynomial_double"}


@cache
def left(name: str) -> dict[str, dict[str, Any]]:
    """What the H200 left, by case: `crc32` and `sums` of the arrays."""
    with gzip.open(TRUTH / f"{name}_h200.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    return {case: result for case, result in found.items() if "crc32" in result}


def launches(name: str) -> list[Case]:
    """The cases of a set whose results are known."""
    return [case for case in read_cases(TRUTH / f"{name}.json") if case.id in left(name)]


def kernel(case: Case, name: str) -> lab.Kernel:
    """The kernel of a case."""
    if name != "more_py":
        return lab.load(TRUTH / f"{name}.cu", case.kernel)
    pytest.importorskip("numba")
    sys.path.insert(0, str(TRUTH))
    try:
        import more_py  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(TRUTH))
    return lab.from_numba(getattr(more_py, case.kernel))  # pyright: ignore[reportUnknownArgumentType]


def check(case: Case, name: str, device: str) -> None:
    """Run a case and compare its arrays."""
    arguments = case.arguments()
    lab.run(kernel(case, name), case.grid, case.block, arguments, shared=case.shared, device=device)
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    truth = left(name)[case.id]
    allowed = DIFFERENT.get(case.id, Difference((), 0.0, ""))
    assert len(arrays) == len(truth["crc32"])
    for k, array in enumerate(arrays):
        total = float(array.astype("f8").sum())
        if k in allowed.arrays:
            assert total == pytest.approx(truth["sums"][k], rel=allowed.within), allowed.reason
        else:
            assert zlib.crc32(array.tobytes()) == truth["crc32"][k], (
                f"array {k} of {case.id}: its sum is {total!r}, the GPU's {truth['sums'][k]!r}"
            )


_SOME = pytest.mark.sampled(quick=16, ci=13)
CASES = [
    pytest.param(case, name, id=case.id, marks=() if case.id in OFTEN else _SOME)
    for name in SETS
    for case in launches(name)
]


@pytest.mark.parametrize("engine", [pytest.param("reference", marks=pytest.mark.least("full")), "kinds"])
@pytest.mark.parametrize(("case", "name"), CASES)
def test_arrays_are_an_h200s(case: Case, name: str, engine: str):
    with engine_mode(engine):
        check(case, name, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize(("case", "name"), CASES)
def test_arrays_are_those_of_this_gpu(case: Case, name: str):
    check(case, name, "gpu")
