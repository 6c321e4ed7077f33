"""Counters that depend on the machine code, held to what an H100 and an H200 counted.

The H200's kernels were compiled by a newer compiler, so only floating-point operations are compared, of which
compilers agree.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpglass.sass.estimate import counters
from warpglass.sass.translate import translate

from .truth import cases, compiled, counted, measured

RATIO = "smsp__thread_inst_executed_per_inst_executed.ratio"
FLOPS = tuple(
    f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum"
    for name in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")
)
COUNTS = (
    *FLOPS,
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "smsp__inst_executed_op_shared_atom.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
)


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize("case", cases("open"))
def test_counters_are_an_h100s(case: str):
    launch, truth = cases("open")[case], measured()[case]
    translation = translate(compiled(launch.kernel), "sm_90")
    assert translation is not None
    found = counters(translation, counted(launch))
    assert {name: found[name] for name in COUNTS} == {name: truth[name] for name in COUNTS}
    assert found[RATIO] == pytest.approx(truth[RATIO], abs=0.005)  # measured to two places


ANOTHER_SET = (
    "vec_axpy_double2 mixed_fields shared_half_warps local_promoted local_double2 stencil3d jacobi stencil1d "
    "switch_eight early_return newton calls warp_roles warp_sum block_sum scan_blelloch stride_scale17 "
    "grid_stride divide_float divide_double roots transcend transcend_double polynomial_double half2_axpy "
    "conversions black_scholes spmv_vector nbody matvec_block matmul_four monte_carlo"
).split()
# Kernels of which PTX does not tell enough, and what would.
NOT_EXACT = {
    "shared_float_atomics": "how often each thread tries depends on the threads at the same address",
    "mandelbrot": "ptxas peels the first and the last trip; how many threads come to the last is not counted",
}


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize("case", ANOTHER_SET)
def test_floating_point_operations_are_an_h200s(case: str):
    launch, truth = cases("more")[case], measured("more_h200")[case]
    translation = translate(compiled(launch.kernel, "more"), "sm_90")
    assert translation is not None
    found = counters(translation, counted(launch, "more"))
    assert {name: found[name] for name in FLOPS} == {name: truth[name] for name in FLOPS}


@pytest.mark.parametrize("case", NOT_EXACT)
def test_what_is_not_exact_is_named(case: str):
    launch, truth = cases("more")[case], measured("more_h200")[case]
    translation = translate(compiled(launch.kernel, "more"), "sm_90")
    assert translation is not None
    found = counters(translation, counted(launch, "more"))
    wrong = [name for name in FLOPS if found[name] != truth[name]]
    assert wrong
    assert all(found[name] == pytest.approx(truth[name], rel=0.45) for name in wrong)


def test_with_their_tries_shared_atomic_operations_are_exact():
    launch, truth = cases("more")["shared_float_atomics"], measured("more_h200")["shared_float_atomics"]
    translation = translate(compiled(launch.kernel, "more"), "sm_90")
    assert translation is not None
    counts = counted(launch, "more")
    # Every warp adds to 32 words, then to 8 words with 4 threads each: 4 rounds of 32, 24, 16 and 8 threads.
    apart, together = [a.line for a in translation.accesses.values() if a.access == "atomic"]
    rounds = {apart: (128, 128 * 32), together: (128 * 4, 128 * 80)}
    found = counters(translation, replace(counts, rounds=rounds))
    exact = [name for name in COUNTS if name != "smsp__inst_executed.sum"]  # one per warp is the compiler's
    assert {name: found[name] for name in exact} == {name: truth[name] for name in exact}
