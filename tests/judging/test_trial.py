"""A trial in this process: what is made of a task once, and what every launch has of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.judging.hostile import CUDA
from tests.judging.test_judging import task
from warpglass.host.tied import tied
from warpglass.judging import cases, jail, trial
from warpglass.judging.submission import Job, of_text
from warpglass.judging.task import make_task
from warpglass.judging.verdicts import ACCEPTED, FLOOD, Verdict

psutil: Any = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(bool(jail.available()), reason=jail.available())


def test_a_cases_arguments_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = make_task(task(tmp_path))
    made: list[Any] = []
    once = cases.make_arguments

    def counted(*words: Any) -> list[Any]:
        made.append(words)
        return once(*words)

    monkeypatch.setenv("WARPGLASS_MEMORY", "3G")  # which a trial sets, and which is to be as before then
    monkeypatch.setattr(cases, "make_arguments", counted)
    for name in ("one.cu", "two.cu"):
        outcome = trial.judge_one(Job(of_text(name, CUDA["good.cu"][0], asked), asked))
        assert outcome.status == ACCEPTED, outcome.text
    assert len(made) == len(asked.cases) == 3


def test_a_verdict_ends_what_runs():
    with pytest.raises(Verdict) as caught, tied(["sleep", "1000"]) as process:
        raise Verdict(FLOOD, "enough")
    assert caught.value.code == FLOOD
    assert process.returncode == 128 + signal.SIGKILL


@pytest.mark.least("full")
def test_what_compiles_ends_with_its_worker(tmp_path: Path):
    """A submission that sleeps takes no processor time, and so would never be ended by its limit."""
    here = tmp_path / "add.py"
    here.write_text("import time\ntime.sleep(1000)\n")
    code = (
        "import sys\nfrom tests.judging.test_judging import task\nfrom pathlib import Path\n"
        "from warpglass.judging.compiling import compile_submission\n"
        "from warpglass.judging.submission import of_text\nfrom warpglass.judging.task import make_task\n"
        "from warpglass.judging.cases import arguments\n"
        "folder = Path(sys.argv[1])\nasked = make_task(task(folder), folder)\n"
        "given = of_text('add.py', (folder / 'add.py').read_text(), asked)\n"
        "compile_submission(given, asked, arguments(asked, 0))\n"
    )
    (tmp_path / "temporary").mkdir()
    own = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=own) as worker:
        found: list[int] = []
        while not found:
            assert worker.poll() is None
            time.sleep(0.2)
            found = [child.pid for child in psutil.Process(worker.pid).children(True) if _asleep(child)]
        worker.kill()
    gone, _ = psutil.wait_procs([psutil.Process(one) for one in found if psutil.pid_exists(one)], 20)
    assert all(not psutil.pid_exists(one) for one in found), gone
    deadline = time.monotonic() + 20
    while (left := list((tmp_path / "temporary").iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _asleep(process: Any) -> bool:
    """Whether it has worked for a second and does not work now."""
    try:
        before = sum(process.cpu_times()[:2])
        time.sleep(0.5)
        return before > 0.5 and sum(process.cpu_times()[:2]) == before
    except psutil.NoSuchProcess:
        return False
