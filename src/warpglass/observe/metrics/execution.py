"""Metrics of execution: instructions by class, threads per warp, branches, floating-point operations."""

from __future__ import annotations

from .table import metric

_INSTRUCTIONS = "smsp__inst_executed.sum"
metric("inst_executed", "", "warp instructions executed", _INSTRUCTIONS)
metric("inst_per_warp", "", "instructions per warp", _INSTRUCTIONS, "smsp__warps_launched.sum")
for _name, _unit, _what in (
    ("inst_integer", "integer", "integer"),
    ("inst_fp_16", "fp16", "half-precision"),
    ("inst_fp_32", "fp32", "single-precision"),
    ("inst_fp_64", "fp64", "double-precision"),
    ("inst_control", "control", "control-flow"),
    ("inst_compute_ld_st", "memory", "load, store and atomic"),
    ("inst_bit_convert", "conversion", "conversion"),
    ("inst_inter_thread_communication", "inter_thread_communication", "warp exchange"),
    ("inst_misc", "misc", "other"),
):
    metric(
        _name,
        "",
        f"{_what} instructions, counted by thread",
        f"smsp__sass_thread_inst_executed_op_{_unit}_pred_on.sum",
    )
metric(
    "warp_execution_efficiency",
    "%",
    "active threads per warp instruction, of 32",
    "smsp__thread_inst_executed.sum",
    {_INSTRUCTIONS: 32.0},
    100,
)
metric(
    "warp_nonpred_execution_efficiency",
    "%",
    "active threads whose predicate held, of 32",
    "smsp__thread_inst_executed_pred_on.sum",
    {_INSTRUCTIONS: 32.0},
    100,
)
metric(
    "branch_efficiency",
    "%",
    "branches at which the threads of a warp stay together",
    "smsp__sass_branch_targets_threads_uniform.sum",
    {
        "smsp__sass_branch_targets_threads_uniform.sum": 1.0,
        "smsp__sass_branch_targets_threads_divergent.sum": 1.0,
    },
    100,
)
metric("branch", "", "branch instructions executed by warps", "smsp__sass_branch_targets.sum")
metric(
    "divergent_branch",
    "",
    "branch instructions at which the threads of a warp parted",
    "smsp__sass_branch_targets_threads_divergent.sum",
)
for _short, _letter, _what in (("sp", "f", "single"), ("dp", "d", "double"), ("hp", "h", "half")):
    _ops = {
        kind: f"smsp__sass_thread_inst_executed_op_{_letter}{kind}_pred_on.sum"
        for kind in ("add", "mul", "fma")
    }
    metric(
        f"flop_count_{_short}",
        "",
        f"operations in {_what} precision; a fused multiply-add is two",
        {_ops["add"]: 1.0, _ops["mul"]: 1.0, _ops["fma"]: 2.0},
    )
    for _kind, _counter in _ops.items():
        metric(
            f"flop_count_{_short}_{_kind}",
            "",
            f"{_kind} instructions in {_what} precision, by thread",
            _counter,
        )
metric(
    "theoretical_occupancy",
    "%",
    "warps that a multiprocessor can hold of this kernel, of the most",
    "sm__maximum_warps_per_active_cycle_pct",
)
