"""Who races beside the rungs: libraries, and kernels of the user."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import source
from warpglass.errors import ArgumentError
from warpglass.ladders import find_ladder, peer
from warpglass.ladders.device_arrays import DeviceArrays
from warpglass.ladders.peer import PeerTrial, peers_that_run
from warpglass.ladders.problem import Case, Peer
from warpglass.ladders.run import Setting
from warpglass.ladders.ship import NoDevice
from warpglass.ladders.trial import Options, Toolchain
from warpglass.ladders.vector.problem import PROBLEM

DOT = find_ladder("dot")

TOOLCHAIN = Toolchain(open_cuda=source.load, open_python=source.from_numba)
SETTING = Setting("vector", "", 256, "host", 60.0)
CPP = "template <typename T> __global__ void mine(const T* x, const T* y, T* z, unsigned n) {{ {body} }}\n"
ADD = "unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i];"


def race(*added: tuple[Path, str], **options: Any) -> wg.Bench:
    return wg.bench(
        "vector",
        size=1000,
        device="cpu",
        repeat=1,
        rungs=("on_host",),
        added=added,
        **{"peers": False, **options},
    )


def test_a_users_kernels_are_raced_and_judged(tmp_path: Path) -> None:
    good, bad, python = tmp_path / "good.cu", tmp_path / "bad.cu", tmp_path / "mine.py"
    good.write_text(CPP.format(body=ADD))
    bad.write_text(CPP.format(body=ADD.replace("+ y", "- y")))
    python.write_text(
        "from numba_cuda_mlir import cuda\n@cuda.jit\ndef mine(x, y, z, n):\n"
        "    i = cuda.grid(1)\n    if i < n:\n        z[i] = x[i] + y[i]\n"
    )
    bench = race((good, "mine<{type}>"), (bad, "mine<float>"), (python, "mine"))
    assert [(row.kernel, row.language, row.verified) for row in bench.rows[1:]] == [
        ("mine<float>", "cuda", True),
        ("mine<float>", "cuda", False),
        ("mine", "python", True),
    ]
    wrong = bench.rows[2]
    assert (wrong.array, wrong.index, wrong.wrong) == ("z", (0,), 1000)
    assert "1000 wrong elements, as z[0] = " in bench.table()


def test_a_users_kernel_that_does_not_compile_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "slip.cu"
    path.write_text(CPP.format(body="z[0] = nonsense;"))
    (_, row) = race((path, "mine<float>")).rows
    assert row.failure is not None
    assert "nonsense" in row.failure


def compute(module: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"z": arrays["x"] + arrays["y"] + module.slip}


@pytest.mark.parametrize("slip", [0, 1])
def test_a_library_is_judged_as_the_rungs_are(monkeypatch: pytest.MonkeyPatch, slip: int) -> None:
    library = replace(peer.LIBRARIES["numpy"], module="fake")
    monkeypatch.setitem(peer.LIBRARIES, "fake", library)
    monkeypatch.setitem(__import__("sys").modules, "fake", types.SimpleNamespace(slip=slip))  # pyright: ignore
    arrays = DeviceArrays(PROBLEM.case("vector", 100, None, None, 0), NoDevice())
    trial = PeerTrial(Peer("fake", "fake.add", compute), arrays, SETTING)
    trial.restore()
    assert trial.run().label == "host"
    assert trial.judge().verified == (slip == 0)
    assert trial.card.peer


def test_what_a_library_refuses_is_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        raise MemoryError("no room for 4 GB")

    problem = replace(find_ladder("vector").problem, peers=(Peer("numpy", "np.add", refuse),))
    monkeypatch.setattr(find_ladder("vector"), "problem", problem)
    bench = wg.bench("vector", small=True, device="cpu", repeat=1, rungs=("on_host",))
    assert [row.verified for row in bench.rows] == [True]
    assert bench.record.peers[0].failure == "numpy: MemoryError: no room for 4 GB"


def test_libraries_that_are_missing_or_elsewhere_stay_out(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(peer.LIBRARIES["cupy"], module="no_such_library")
    monkeypatch.setitem(peer.LIBRARIES, "cupy", missing)
    here = Peer("numpy", "np.add", compute)
    elsewhere = Peer("numpy", "np.add", compute, table="another")
    assert peers_that_run((here, elsewhere, Peer("cupy", "cupy.add", compute)), "vector", on_gpu=True) == (
        here,
    )


def test_peers_stand_beside_the_rows() -> None:
    bench = wg.bench("reduction", small=True, device="cpu", repeat=1, rungs=("interleaved",))
    assert {row.rung for row in bench.rows} == {"interleaved"}
    (numpy,) = bench.record.peers
    assert (numpy.language, numpy.label, numpy.verified) == ("numpy", "host", True)
    assert "np.sum" in bench.table()


def test_a_case_is_refused_by_name() -> None:
    for asked, text in (
        (("vector", -1, None, None, 0), "0 to"),
        (("vector", 1, "complex64", None, 0), "complex64"),
        (("vector", 1, None, "nonsense", 0), "nonsense"),
    ):
        with pytest.raises(ArgumentError, match=text):
            PROBLEM.case(*asked)  # pyright: ignore[reportArgumentType]


def test_special_values_are_compared_as_values() -> None:
    case = PROBLEM.case("vector", 1000, "float32", "extreme", 1)
    assert np.isnan(case.expected(0)["z"].value).any()
    assert wg.bench("vector", size=1000, data="extreme", device="cpu", repeat=1, peers=False).verified


def test_a_gpu_gets_sizes_that_keep_it_busy() -> None:
    class Remote(NoDevice):
        name = "gpu"

    for backend, options, size in (
        (NoDevice(), Options(), 33 * 1024),
        (Remote(), Options(), 2**23),
        (Remote(), Options(small=True), 33 * 1024),
        (Remote(), Options(size=77), 77),
    ):
        trials = DOT.trials(replace(options, rungs=("tree",), peers=False), backend, TOOLCHAIN)
        assert {trial.card.size for trial in trials} == {size}
