"""Profiles against what an H100 and an H200 counted of the same kernels: every counter of every kernel.

A number may differ only as differences.json explains. A part of the kernels is profiled at each run;
WARPGLASS_TESTS=full profiles all of them, and also finds explanations that nothing needs any more.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache

import pytest

from .truth import SETS, Number, allowance, cases, compare, differences

FULL = os.environ.get("WARPGLASS_TESTS") == "full"
_EVERY = {"more_rules": 16}  # one kernel of so many; of other sets, one of four
CASES = [
    (name, case)
    for name in SETS
    for number, case in enumerate(cases(name))
    if FULL or number % _EVERY.get(name, 4) == 0
]
# What decides how well memory is used has no difference without one of these reasons: the order of atomics,
# lanes that are in different copies of a loop, loads through generic addresses.
_STRICT = (
    "l1tex__t_requests_pipe_lsu_mem_global_op_*",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_*",
    "sm__maximum_warps_per_active_cycle_pct",
)
_LOOSE = ("atomic_append", "spmv_scalar", "py_conv1d")
_FLOPS = tuple(
    f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum"
    for name in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul")
)


@cache
def compared(name: str, case: str) -> list[Number]:
    return compare(name, cases(name)[case])


def everything() -> list[Number]:
    return [number for name, case in CASES for number in compared(name, case)]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_counters_are_as_measured(name: str, case: str):
    found = compared(name, case)
    assert len(found) > 20
    unexplained = [number for number in found if not number.equal and allowance(number) is None]
    assert not unexplained
    for number in found:
        if case not in _LOOSE and any(fnmatchcase(number.metric, pattern) for pattern in _STRICT):
            assert number.equal, number


def test_shared_wavefronts_are_within_three_percent():
    waves = [one for one in everything() if "wavefronts_mem_shared_op_" in one.metric]
    assert waves
    assert max(one.error for one in waves) <= 0.03


@pytest.mark.skipif(not FULL, reason="WARPGLASS_TESTS=full profiles all kernels")
def test_most_floating_point_operations_are_exact():
    flops = [one for one in everything() if one.metric in _FLOPS and (one.measured or one.profiled)]
    assert sum(one.equal for one in flops) >= 0.95 * len(flops) > 0


def test_open_kernels_are_equal_but_for_arbitration():
    differing = {one.metric for one in everything() if one.set == "open" and not one.equal}
    assert all("mem_shared" in name or "shared_mem" in name for name in differing), differing


@pytest.mark.skipif(not FULL, reason="WARPGLASS_TESTS=full profiles all kernels")
def test_no_explanation_is_left_over():
    used = {allowance(one) for one in everything() if not one.equal}
    assert set(differences()[1]) == used
