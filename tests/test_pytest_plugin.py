"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the virtual GPU needs Linux"),
]

_SESSION = '''
import numpy as np
import pytest
import warpglass as wg

SOURCE = """
extern "C" __global__ void rev(const float *x, float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    SYNC
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""

def launch(sync):
    x = np.arange(64, dtype=np.float32)
    wg.run(wg.compile(SOURCE.replace("SYNC", sync), "rev"), 1, 64, (x, np.zeros_like(x)), device="cpu")

def test_good():
    launch("__syncthreads();")

def test_racy():
    launch("")

@pytest.mark.warpglass_allow("shared-race", reason="on purpose")
def test_allowed():
    launch("")

@pytest.mark.warpglass_allow("shared-rage")
def test_misspelt():
    launch("")

def test_within_budget(warpglass_profile):
    launch("__syncthreads();")
    assert warpglass_profile.metrics["gld_efficiency"] == 100
    assert warpglass_profile["rev"].counters is warpglass_profile.counters
    warpglass_profile.assert_at_most(shared_bank_conflicts=0)

def test_over_budget(warpglass_profile):
    launch("__syncthreads();")
    warpglass_profile.assert_at_most(gld_transactions=1)

def test_unknown_counter(warpglass_profile):
    launch("__syncthreads();")
    warpglass_profile.assert_at_most(shared_bank_conflict=0)

def test_nothing_counted(warpglass_profile):
    warpglass_profile.assert_at_least(gld_efficiency=1)

def test_finds_a_gpu():
    from cuda.bindings import driver
    assert driver.cuInit(0)[0] == 0 and driver.cuDeviceGetCount()[1] == 1
'''


def _session(folder: Path, *options: str, text: str = _SESSION) -> tuple[dict[str, str], str]:
    """Run the session; the outcome of each test, and what was printed."""
    (folder / "test_session.py").write_text(text, encoding="utf-8")
    # An installation from before the plugin does not announce it.
    announced = metadata.entry_points(group="pytest11", name="warpglass")
    words = [*(() if announced else ("-p", "warpglass.pytest_plugin")), "-p", "no:cacheprovider"]
    words += ["-v", "--color=no", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    outcomes: dict[str, str] = {}
    for line in done.stdout.splitlines():
        parts = line.split()
        names = [part.partition("::test_")[2] for part in parts if part.startswith("test_session.py::")]
        verdicts = [part for part in parts if part in ("PASSED", "FAILED", "ERROR")]
        if names and verdicts and not line.startswith(("FAILED", "ERROR")):
            outcomes[names[0]] = verdicts[0].lower()
    return outcomes, done.stdout + done.stderr


_FAULTS = """
import numpy as np
import pytest
import warpglass as wg
from numba_cuda_mlir import cuda

@cuda.jit
def shift(x):
    x[cuda.grid(1) + 1] += 1

@pytest.fixture(scope="session")
def shared():
    return cuda.to_device(np.zeros(64, np.float32))

@pytest.fixture
def broken():
    shift[1, 64](cuda.to_device(np.zeros(64, np.float32)))

def test_before(shared):
    shift[1, 32](shared)
    assert shared.copy_to_host()[1] == 1

def test_unnoticed(shared):
    shift[1, 64](shared)

def test_noticed():
    x = cuda.to_device(np.zeros(32, np.float32))
    shift[1, 32](x)
    x.copy_to_host()

def test_expected():
    x = cuda.to_device(np.zeros(32, np.float32))
    with pytest.raises(Exception, match="ILLEGAL_ADDRESS"):
        shift[1, 32](x)
        x.copy_to_host()

def test_fixture(broken):
    pass

def past(n):
    text = 'extern "C" __global__ void past(int *y) { y[threadIdx.x + 100] = 1; }'
    wg.run(wg.compile(text, "past"), 1, 32, (np.zeros(n, np.int32),), device="cpu")

def test_engine():
    past(100)

def test_after(shared):
    past(200)
    shift[1, 32](shared)
    assert shared.copy_to_host()[1] >= 2
"""


def test_a_fault_is_one_tests_business(tmp_path: Path) -> None:
    outcomes, said = _session(tmp_path, "--warpglass", "--junitxml=report.xml", text=_FAULTS)
    passing = dict.fromkeys(("before", "expected", "after"), "passed")
    failing = {"unnoticed": "failed", "noticed": "failed", "fixture": "error", "engine": "failed"}
    assert outcomes == passing | failing, said
    assert "which it has not noticed: " in said
    for name in failing:
        failure = _failure(tmp_path / "report.xml", f"test_{name}")
        assert re.search(r"argument 1\[(32|64)\]|y\[100\]", failure), (name, failure)


def test_faults_under_run(tmp_path: Path) -> None:
    (tmp_path / "test_session.py").write_text(_FAULTS, encoding="utf-8")
    words = ["-m", "warpglass", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_session.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert "3 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "1 error" in done.stdout
    assert done.returncode == 1


def _failure(report: Path, name: str) -> str:
    """What JUnit has of a test that failed."""
    (case,) = (one for one in ElementTree.parse(report).iter("testcase") if one.get("name") == name)
    (failure,) = (one for one in case if one.tag in ("failure", "error"))
    return f"{failure.get('message')} {failure.text}"


def test_a_path_behind_the_option_is_a_path(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"test_{name}.py").write_text("def test_it(): pass", encoding="utf-8")
    outcome, said = _session(tmp_path, "--warpglass", "here", "--deselect", "test_session.py")
    assert not outcome
    assert "1 passed" in said
    assert "test_elsewhere" not in said


def test_junit_and_sarif_have_each_finding_once(tmp_path: Path) -> None:
    text = _SESSION.partition("@pytest.mark")[0].replace("wg.compile(SOURCE.replace(", "wg.load(written(")
    text = (
        text.replace('("SYNC", sync), "rev")', '(sync), "rev")')
        + """
    raise ValueError("the test's own failure")

def written(sync):
    from pathlib import Path
    path = Path(f"rev{len(sync)}.cu")
    path.write_text(SOURCE.replace("SYNC", sync), "utf-8")
    return path

def test_racy_again():
    launch("")
"""
    )
    sarif = tmp_path / "out.sarif"
    _, said = _session(
        tmp_path, f"--warpglass-sarif={sarif}", "--warpglass-check", "--junitxml=r.xml", text=text
    )
    (result,) = json.loads(sarif.read_text("utf-8"))["runs"][0]["results"]
    launches = [one for one in result["relatedLocations"] if one["message"]["text"] == "the launch"]
    assert result["ruleId"] == "shared-race", said
    assert len(launches) == 1
    for name, own in (("test_racy", True), ("test_racy_again", False)):
        failure = _failure(tmp_path / "r.xml", name)
        assert "shared-race of s[32]" in failure
        assert "rev0.cu:6" in failure
        assert ("own failure" in failure) == own


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.least("full"))])
def test_a_bad_launch_fails_its_test(workers: tuple[str, ...], tmp_path: Path) -> None:
    sarif = tmp_path / "out.sarif"
    outcomes, said = _session(tmp_path, "--warpglass-check", f"--warpglass-sarif={sarif}", *workers)
    failing = {"racy", "misspelt", "over_budget", "unknown_counter", "nothing_counted"}
    passing = {"good", "allowed", "within_budget", "finds_a_gpu"}
    assert outcomes == dict.fromkeys(failing, "failed") | dict.fromkeys(passing, "passed"), said
    assert "shared-race of s[32]" in said
    assert "'shared-rage'; it may name shared-race" in said
    assert "sitecustomize" not in said
    assert "gld_transactions is 8, allowed is at most 1" in said
    assert "no counter or metric 'shared_bank_conflict' (did you mean shared_bank_conflicts?)" in said
    results = json.loads(sarif.read_text("utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["shared-race"]


def test_an_unknown_gpu_is_refused(tmp_path: Path) -> None:
    outcomes, said = _session(tmp_path, "--warpglass-model", "gtx9999")
    assert not outcomes
    assert "gtx9999" in said
    assert "Traceback" not in said
