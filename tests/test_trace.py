"""`warpglass trace`: what a block's threads load, store and wait for, of kernels whose steps are known."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from warpglass.cli import main
from warpglass.lab.rungs import parse_rung
from warpglass.lab.trace import trace, trace_rung
from warpglass.records.traces import Trace
from warpglass.report.trace_steps import origins, ranges

Call = Callable[..., tuple[int, str, str]]
TREE = """
extern "C" __global__ void tree(const float *x, float *y)
{
    __shared__ float tile[64];
    const int t = threadIdx.x;
    tile[t] = x[64 * blockIdx.x + t];
    __syncthreads();
    for (int stride = 32; stride > 0; stride /= 2) {
        if (t < stride) tile[t] += tile[t + stride];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = tile[0];
}
"""
MIXED = """
__device__ int total;
extern "C" __global__ void mixed(const float4 *x, double *y, int *count)
{
    const int t = threadIdx.x;
    if (t >= 40) return;
    const float4 four = x[t];
    atomicAdd(count, 2);
    if (t % 2) y[t] = four.x + four.w;
    if (t == 0) total = 7;
}
"""


def shown(found: Trace) -> list[tuple[int, str, str, str, str]]:
    return [
        (
            step.phase,
            step.kind,
            step.array,
            ranges([touch.thread for touch in step.touches]),
            ranges([touch.element for touch in step.touches]),
        )
        for step in found.steps
    ]


def test_a_tree_step_by_step():
    x, y = np.arange(128, dtype=np.float32), np.zeros(2, np.float32)
    found = trace(wg.compile(TREE, "tree"), 2, 64, (x, y), number=1)
    assert y.tolist() == [x[:64].sum(), x[64:].sum()]  # all blocks have run
    assert shown(found)[:6] == [
        (0, "load", "x", "0-63", "64-127"),
        (0, "store", "tile", "0-63", "0-63"),
        (0, "barrier", "", "0-63", "0 x64"),
        (1, "load", "tile", "0-31", "0-31"),
        (1, "load", "tile", "0-31", "32-63"),
        (1, "store", "tile", "0-31", "0-31"),
    ]
    steps = found.steps
    assert [t.value for t in steps[5].touches] == (x[64:96] + x[96:]).tolist()
    barriers = [step for step in steps if step.kind == "barrier"]
    assert [len(step.touches) for step in barriers] == [64] * 7
    assert (steps[-1].kind, steps[-1].array, steps[-1].touches[0].element) == ("store", "y", 1)
    assert steps[-1].touches[0].value == x[64:].sum()
    touch, loads = next(iter(origins(steps[5], steps[:5])))
    assert (touch.thread, [load.element for _, load in loads]) == (0, [32, 0])


def test_wide_loads_atomics_variables_and_lanes_that_leave():
    x, y, count = np.arange(256, dtype=np.float32), np.zeros(64), np.array([5], np.int32)
    found = trace(wg.compile(MIXED, "mixed"), 1, 64, (x, y, count))
    steps = found.steps
    wide = [step for step in steps if step.array == "x"]
    assert [[t.element for t in step.touches[:3]] for step in wide] == [[k, k + 4, k + 8] for k in range(4)]
    assert all(len(step.touches) == 40 for step in wide)
    (atomic,) = (step for step in steps if step.kind == "atomic")
    assert atomic.array == "count"
    assert {t.value for t in atomic.touches} <= set(range(5, 85, 2))
    (store,) = (step for step in steps if step.array == "y")
    assert [(t.element, t.value) for t in store.touches[:2]] == [(1, 4.0 + 7.0), (3, 12.0 + 15.0)]
    (variable,) = (step for step in steps if step.array == "total")
    assert [(t.thread, t.value) for t in variable.touches] == [(0, 7)]


def test_a_python_kernel_and_a_rung():
    (found,) = trace_rung(parse_rung("conv1d:tiled:python"), "h100")
    halo = next(step for step in found.steps if step.array == "x")
    assert halo.kind == "load"
    assert any(step.array == "shared memory" and step.kind == "store" for step in found.steps)
    with pytest.raises(wg.ArgumentError, match="block 9: the grid has 8 blocks, from 0 to 7"):
        trace_rung(parse_rung("reduction:interleaved"), "h100", number=9)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["warpglass", *words])
        status = 0
        try:
            main()
        except SystemExit as left:
            status = int(left.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_the_command_prints_draws_and_refuses(call: Call, tmp_path: Path):
    kernel, picture = tmp_path / "tree.cu", tmp_path / "tree.svg"
    kernel.write_text(TREE)
    launch = ("--grid", "2", "--block", "64", "--arg", "f4[128]:arange(0,1)", "--arg", "f4[2]")
    status, out, err = call("trace", f"{kernel}:tree", *launch, "--most", "6", "--plot", str(picture))
    assert status == 0, err
    assert "tree<<<2, 64>>>, block 0 of 2" in out
    assert "  store tile  0-31  [0-31] = 32 34 36 38 40 ... 90 92 94" in out
    assert "steps more (--most 0 shows all)" in out
    assert "block 0: tile" in picture.read_text()
    _, out, _ = call("trace", f"{kernel}:tree", *launch, "--json", "--of", "1")
    (found,) = json.loads(out)["traces"]
    assert (found["number"], found["lost"], found["moments"][0]["array"]) == (1, 0, "x")
    for words, said in (
        (("--array", "z"), "no access to 'z'; there is tile, x, y"),
        (("--of", "2"), "block 2: the grid has 2 blocks"),
        (("--size", "4"), "only a rung has one"),
        (("7",), "'7': only a sort takes numbers"),
    ):
        status, _, err = call("trace", f"{kernel}:tree", *launch, *words)
        assert status == 2
        assert said in err.replace("\n", " ")
    assert "name the rung: reduction:neighbored" in call("trace", "reduction")[2].replace("\n", " ")


@pytest.mark.least("ci")
def test_more_than_a_trace_holds_is_said(call: Call, tmp_path: Path):
    kernel = tmp_path / "long.cu"
    loop = "for (int k = 0; k < 9000; ++k) x[threadIdx.x] = k;"
    kernel.write_text(f'extern "C" __global__ void many(volatile int *x) {{ {loop} }}')
    _, out, _ = call(
        "trace", f"{kernel}:many", "--grid", "1", "--block", "32", "--arg", "i4[32]", "--most", "1"
    )
    assert "The block did more than a trace holds: 1616 rows of it are left out." in " ".join(out.split())
