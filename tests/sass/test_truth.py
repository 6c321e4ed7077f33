"""Counters that depend on the machine code, held to what an H100 counted."""

from __future__ import annotations

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


@pytest.mark.parametrize("case", cases("open"))
def test_counters_are_an_h100s(case: str):
    launch, truth = cases("open")[case], measured()[case]
    translation = translate(compiled(launch.kernel), "sm_90")
    assert translation is not None
    found = counters(translation, counted(launch))
    assert {name: found[name] for name in COUNTS} == {name: truth[name] for name in COUNTS}
    assert found[RATIO] == pytest.approx(truth[RATIO], abs=0.005)  # measured to two places
