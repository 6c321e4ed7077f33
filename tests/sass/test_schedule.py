"""A warp's time alone from ptxas's schedule, and how often loops ran whose branches ptxas dropped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.conv2d import basic
from warpglass.sass.decode import Instruction
from warpglass.sass.graph import LEAVE, MachineBlock
from warpglass.sass.operations import find
from warpglass.sass.schedule import path_of
from warpglass.sass.translate import Translation, translate

CHASE = """
extern "C" __global__ void chase(const int *next, int *out) {
    int at = threadIdx.x;
    at = next[at], at = next[at], at = next[at], at = next[at];
    out[threadIdx.x] = at;
}
"""
PEELED = """
extern "C" __global__ void peeled(float *x) {
    float v = x[threadIdx.x], s = 0;
    for (int k = 0; k < 5000; ++k) s = s * v + 0.25f;
    x[threadIdx.x] = s;
}
"""


@pytest.mark.parametrize("latency", [50.0, 500.0])
def test_dependent_loads_wait_for_each_other(latency: float) -> None:
    compiled = wg.compile(CHASE, "chase").compile((np.zeros(32, np.int32), np.zeros(32, np.int32)))
    translation = translate(compiled, "sm_90")
    assert translation is not None
    runs = [1.0 if not block.rare else 0.0 for block in translation.graph.blocks]
    runs[1:] = [0.0] * (len(runs) - 1)

    def clocks(item: object) -> float:
        return latency if getattr(item, "name", "") == "LDG" else 20.0

    found = path_of(translation, runs, clocks).clocks
    assert 4 * latency < found < 4 * latency + 300
    assert path_of(translation, runs, clocks, 2.0).clocks > found


def test_what_one_block_loads_the_next_waits_for_on_every_trip() -> None:
    load = Instruction(0, 1, find(0x181, 90), result_board=2)
    use = Instruction(16, 1, find(0x021, 90), waits=1 << 2, stall=4)
    again = Instruction(32, 1, find(0x147, 90), stall=5)
    blocks = (
        MachineBlock("f", (load, again), (1,), entry=True),
        MachineBlock("f", (use, again), (0, LEAVE)),
    )
    translation = SimpleNamespace(graph=SimpleNamespace(blocks=blocks))
    found = path_of(cast(Translation, translation), [10.0, 10.0], lambda _: 500.0)
    assert found.clocks == pytest.approx(10 * (500 + 4 + 5), rel=0.02)
    assert found.gaps < 10 * 16  # nobody else has work while all wait for memory


def test_a_loop_with_a_peeled_trip_is_counted_once() -> None:
    x = np.ones(32, np.float32)
    found = wg.profile(wg.compile(PEELED, "peeled"), 1, 32, (x,), model="h100", caches=False)
    assert found.counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 32 * 5000


def test_integers_of_64_bits_are_no_copies_of_a_loop() -> None:
    """One such PTX line is several instructions; loads stand for the trips."""
    rows = 64
    picture, mask = np.ones((rows, rows), np.float32), np.ones((5, 5), np.float32)
    args = np.zeros((rows, rows), np.float32), picture, np.uint32(rows), np.uint32(rows), mask
    found = wg.profile(wg.from_numba(basic.basic), (4, 4), (16, 16), args, model="h100", caches=False)
    requests = found.counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
    assert found.counters["smsp__inst_executed_op_global_ld.sum"] == pytest.approx(requests, rel=0.01)
