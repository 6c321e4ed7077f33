"""A GPU's time as the score: on the virtual GPU, where a kernel can misbehave as it could on a real one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from tests.judging.hostile import CUDA, GOOD, HEAD
from tests.judging.test_judging import task
from warpglass.errors import ArgumentError
from warpglass.judging import jail
from warpglass.judging.task import make_task
from warpglass.numba_device import hook

pytestmark = pytest.mark.skipif(bool(jail.available()), reason=jail.available())
LARGE = 3000  # elements of the case that only the GPU gets
_LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
_ADD = f"{_LOOP} out[i] = x[i] + y[i];"


def _only_there(body: str, before: str = "") -> str:
    """A kernel that is good on the engine, and does something else in the case that the GPU alone gets."""
    return f"{before}{HEAD}{{ if (n == {LARGE}) {{ {body} }} else {{ {_ADD} }} }}\n"


# What each does on the GPU, with its verdict and the words that its author reads.
ONLY_THERE: dict[str, tuple[str, str, str]] = {
    "good.cu": (GOOD, "accepted", ""),
    "hangs.cu": (_only_there("while (*(volatile const int *)x != 1) {}"), "timeout", "did not end within"),
    "faults.cu": (_only_there("*(volatile int *)8 = 1;"), "fault", "on the GPU"),
    "traps.cu": (_only_there("__trap();"), "fault", "on the GPU"),
    "returns.cu": (_only_there("return;"), "unwritten", "3000 of 3000 elements of argument 3"),
    "wrong.cu": (_only_there(f"{_LOOP} out[i] = x[i];"), "wrong", "array 3 differs"),
    "spoils.cu": (
        _only_there(f"{_ADD} const_cast<float *>(x)[0] = 7;"),
        "changed-input",
        "argument 1 is only to be read",
    ),
    "remembers.cu": (
        _only_there(
            f"bool known = calls > 1; {_LOOP} out[i] = known ? kept[i] : (kept[i] = x[i] + y[i]);"
            "__syncthreads(); if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&calls, 1);",
            f"__device__ float kept[{LARGE}]; __device__ int calls;\n",
        ),
        "wrong",
        "array 3 differs",
    ),
    "floods.cu": (
        _only_there(f'{_ADD} for (int k = 0; k < 100; ++k) printf("spam\\n");'),
        "flood",
        "printed",
    ),
}


def with_gpu(folder: Path, **more: Any) -> dict[str, Any]:
    """The task of the other tests, with a third case that only the GPU gets."""
    made = task(folder)
    made["task"] = {**made["task"], "score": "gpu_time"}
    large = {**made["case"][1], "axes": {"n": [LARGE]}, "engine": False}
    return {**made, "case": [*made["case"], large], **more}


@pytest.fixture
def virtual_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in hook.variables("h100", os.environ).items():
        monkeypatch.setenv(name, value)


@pytest.mark.least("full")
@pytest.mark.usefixtures("virtual_gpu")
def test_times_are_those_of_right_results(tmp_path: Path) -> None:
    names = ("good.cu", "remembers.cu")
    found = wg.judge(with_gpu(tmp_path), {name: ONLY_THERE[name][0] for name in names}, workers=1)
    good, remembers = found.rows
    assert (good.verdict, good.rank, remembers.verdict) == ("accepted", 1, "wrong"), found.table()
    assert good.score is not None
    assert 0 < good.score < 10
    assert "H100" in found.record.device
    assert "time on NVIDIA H100" in found.table()


@pytest.mark.least("full")
@pytest.mark.usefixtures("virtual_gpu")
def test_what_is_wrong_on_the_gpu_alone(tmp_path: Path) -> None:
    found = wg.judge(with_gpu(tmp_path), {name: one[0] for name, one in ONLY_THERE.items()}, workers=2)
    for row in found.rows:
        _, verdict, said = ONLY_THERE[row.name]
        assert row.verdict == verdict, (row.name, row.verdict, row.text)
        assert said in row.text


@pytest.mark.gpu
def test_on_a_gpu(tmp_path: Path) -> None:
    plain = CUDA["plain.ptx"][0]
    far = plain.replace("$next:", f"setp.ne.s32 %p2, %r1, {LARGE}; @%p2 bra $next; mov.u64 %rd3, 8;\n$next:")
    found = wg.judge(with_gpu(tmp_path), {"good.ptx": plain, "far.ptx": far, "again.ptx": plain + "// again"})
    assert [(row.name, row.verdict) for row in found.rows if row.rank is None] == [("far.ptx", "fault")]
    assert all(0 < (row.score or 0) < 1e-2 for row in found.rows if row.rank is not None)


def test_without_a_gpu_it_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    with pytest.raises(ArgumentError) as caught:
        wg.judge(with_gpu(tmp_path), {"good.cu": GOOD})
    assert str(caught.value) == (
        'score = "gpu_time" needs a GPU: WARPGLASS_DEVICE=cpu hides the GPUs; score = "time" is the modelled '
        "time, without a GPU"
    )


@pytest.mark.parametrize(
    ("engine", "score", "said"),
    [
        ([True, False], "time", 'engine: cases for a GPU alone need score = "gpu_time"'),
        ([False, False], "gpu_time", "case: at least one case must run on the engine"),
    ],
)
def test_cases_of_the_gpu_alone(tmp_path: Path, engine: list[bool], score: str, said: str) -> None:
    made = task(tmp_path)
    made["task"] = {**made["task"], "score": score}
    made["case"] = [{**case, "engine": one} for case, one in zip(made["case"], engine, strict=True)]
    with pytest.raises(ArgumentError, match=said):
        make_task(made, tmp_path)
