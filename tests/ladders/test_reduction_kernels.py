"""Every rung of the reduction ladder, run: languages, block sizes, sizes, element types, on every back end.

A sum must lie within the rung's derived error bound; integers must agree exactly.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import pytest

from warpglass import lab, source
from warpglass.engine.launch.backend import Backend
from warpglass.errors import KernelFault
from warpglass.ladders import find_ladder
from warpglass.ladders.device_arrays import DeviceArrays
from warpglass.ladders.problem import Case
from warpglass.ladders.reduction.problem import INPUTS, PROBLEM
from warpglass.ladders.run import KernelTrial, Setting
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Final, Language, Options, Toolchain, Verdict

LADDER = find_ladder("reduction")

BLOCKS = PROBLEM.blocks
AWKWARD = (0, 1, 31, 33, 1000)
LARGE = 1_000_003
DTYPES = ("float32", "float64", "int32", "int64", "uint64")
KERNELS = tuple(rung for rung in LADDER.rungs(Options()) if rung.host is None)
AS_WRITTEN = tuple(rung for rung in LADDER.rungs(Options(as_written=True)) if rung.defect and not rung.host)
TRIALS = tuple((rung, language) for rung in KERNELS for language in rung.languages)
TOOLCHAIN = Toolchain(open_cuda=source.load, open_python=source.from_numba)


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return lab.backend(request.param)


def judge(
    backend: Backend,
    rung: Rung,
    language: Language,
    n: int,
    dtype: str,
    block: int,
    kind: str = "random",
    final: Final = "host",
) -> Verdict:
    arrays = DeviceArrays(case_of(rung.table, n, dtype, kind), backend)
    trial = KernelTrial(rung, language, arrays, Setting(rung.table, "", block, final, 60.0), TOOLCHAIN)
    trial.restore()
    trial.run()
    return trial.judge()


@cache
def case_of(table: str, n: int, dtype: str, kind: str) -> Case:
    return PROBLEM.case(table, n, dtype, kind, seed=n)


def elements_per_thread(rung: Rung, block: int) -> int:
    assert rung.shape is not None
    return max(1, 8 // rung.shape(case_of(rung.table, 8 * block, "float64", "random"), block).grid3[0])


def names(rung: Rung) -> str:
    return rung.name


SETTINGS: list[Any] = [
    pytest.param(rung, language, block, dtype, id=f"{rung.name}-{language}-{block}-{dtype}")
    for (rung, language), block, dtype in product(TRIALS, BLOCKS, DTYPES)
]


@pytest.mark.sampled(quick=90, ci=90)
@pytest.mark.parametrize(("rung", "language", "block", "dtype"), SETTINGS)
def test_awkward_sizes(backend: Backend, rung: Rung, language: Language, block: int, dtype: str) -> None:
    # Just below, at and above what a block covers: the places where a tail begins.
    span = block * elements_per_thread(rung, block)
    for n in (*AWKWARD, span - 1, span, span + 1, 3 * span + block + 1):
        verdict = judge(backend, rung, language, n, dtype, block)
        assert verdict.verified, f"n = {n}: {verdict}"


@pytest.mark.sampled(quick=150, ci=80)
@pytest.mark.parametrize(("rung", "language", "block", "dtype"), SETTINGS)
def test_large_odd_size(backend: Backend, rung: Rung, language: Language, block: int, dtype: str) -> None:
    verdict = judge(backend, rung, language, LARGE, dtype, block)
    assert verdict.verified, verdict


@pytest.mark.sampled(quick=150, ci=80)
@pytest.mark.parametrize(("rung", "language", "block", "dtype"), SETTINGS)
def test_adversarial_inputs(backend: Backend, rung: Rung, language: Language, block: int, dtype: str) -> None:
    for kind in INPUTS:
        verdict = judge(backend, rung, language, 20_011, dtype, block, kind)
        assert verdict.verified, f"{kind}: {verdict}"


@pytest.mark.sampled(quick=12, ci=4)
@pytest.mark.parametrize("n", [0, 1, 300_007])
@pytest.mark.parametrize(("rung", "language"), TRIALS)
def test_final_sum_by_further_launches(backend: Backend, rung: Rung, language: Language, n: int) -> None:
    verdict = judge(backend, rung, language, n, "float64", 64, final="launch")
    assert verdict.verified, verdict


@pytest.mark.parametrize("rung", AS_WRITTEN, ids=names)
def test_as_written_is_right_for_whole_blocks(rung: Rung) -> None:
    for language in rung.languages:
        verdict = judge(lab.backend("cpu"), rung, language, 4 * 8 * 512, "float64", 512)
        assert verdict.verified, f"{language}: {verdict}"


@pytest.mark.parametrize("rung", AS_WRITTEN, ids=names)
def test_as_written_is_wrong_at_a_broken_block(rung: Rung) -> None:
    backend = lab.backend("cpu")
    for language in rung.languages:
        fault: KernelFault | None = None
        verdict: Verdict | None = None
        try:
            verdict = judge(backend, rung, language, 4 * 8 * 512 + 5, "float64", 512, "ones")
        except KernelFault as caught:
            fault = caught
            backend.reset()
        if fault is not None:
            assert (fault.place.kind, fault.place.array) == ("out-of-bounds", "x")
        else:
            assert verdict is not None
            assert not verdict.verified
