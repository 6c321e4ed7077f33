"""Profiles made by hand, for tests of the views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warpglass.records.profile import LineProfile, Numbers, Profile, Subject
from warpglass.report.metrics import Definition

GLD = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
GLD_BYTES = "smsp__sass_data_bytes_mem_global_op_ld.sum"
GLD_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"

DEFINITIONS = (
    Definition("gld_transactions", "sectors of global loads", Subject.GLOBAL, "", GLD, (GLD,)),
    Definition(
        "gld_efficiency", "bytes asked for", Subject.GLOBAL, "%", "100 * a / b", (GLD_BYTES, GLD), (GLD,)
    ),
    Definition("flop_count_sp", "operations", Subject.FLOPS, "", "fadd", ("fadd",)),
    Definition("shared_bank_conflicts", "conflicts", Subject.SHARED, "", "conflicts", ("conflicts",)),
    Definition(GLD, "sectors of global loads", Subject.GLOBAL, "sector"),
)


def make(sectors: float = 64, used: float = 8, **changes: Any) -> Profile:
    """A launch of 8 warps; line 3 of k.cu loads from `sectors`, of which it wants `used` bytes each."""
    counters = {GLD: sectors, GLD_BYTES: sectors * used, GLD_REQUESTS: 8.0, "smsp__inst_executed.sum": 100.0}
    metrics = {
        "gld_transactions": sectors,
        "gld_efficiency": 100 * used / 32,
        "gld_requested_bytes": sectors * used,
        "gst_transactions": 0.0,
        "gst_requested_bytes": 0.0,
        "inst_executed": 100.0,
        "flop_count_sp": 0.0,
        "shared_bank_conflicts": 0.0,
    }
    profile = Profile(
        kernel="k",
        language="cuda",
        model="h100",
        target="sm_90",
        device="warpglass engine on a CPU",
        grid=(2, 1, 1),
        block=(128, 1, 1),
        shared=0,
        counters=Numbers({**counters, "smsp__thread_inst_executed.sum": 3200.0}),
        metrics=Numbers(metrics),
        labels={
            **dict.fromkeys(counters, "exact"),
            **dict.fromkeys(metrics, "exact"),
            "flop_count_sp": "modelled",
        },
        lines=(
            LineProfile("k.cu", 3, {GLD: sectors, GLD_BYTES: sectors * used, GLD_REQUESTS: 8.0}),
            LineProfile("k.cu", 4, {"smsp__inst_executed.sum": 90.0}),
        ),
        occupancy={},
        seconds=0.5,
        time_label="engine",
    )
    return replace(profile, **changes)
