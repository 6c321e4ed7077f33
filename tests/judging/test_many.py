"""200 hostile submissions among 200 good ones: every verdict is right, and nothing of them stays."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

import warpglass as wg
from tests.judging.hostile import CUDA, GOOD, PYTHON
from tests.judging.test_judging import LEFT_BEHIND, pytestmark, task  # noqa: F401

COUNT = 200
# Those whose verdict is found out by waiting: few of each, since each takes a limit's time.
_WAITS = (
    *("loops.py", "hoards.py", "threads.py", "hangs.cu", "sleeps.cu", "races_the_clock.cu", "floods.cu"),
    *("recursive.cu", "macro_bomb.cu", "spins.ptx", "sleeps.ptx", "masks_signals.py"),
)


def _processes() -> set[str]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if "compile_child" in line}


@pytest.mark.least("full")
def test_many_hostile_ones_among_many_good_ones(tmp_path: Path) -> None:
    LEFT_BEHIND.unlink(missing_ok=True)
    random.seed(5)
    bad = {name: one for name, one in {**CUDA, **PYTHON}.items() if not name.startswith("good")}
    wanted: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    quick = [name for name in bad if name not in _WAITS]
    chosen = [*_WAITS, *(quick[k % len(quick)] for k in range(COUNT - len(_WAITS)))]
    for k, name in enumerate(chosen):
        mark = {"py": "\n#", "ptx": "\n//"}.get(name.rpartition(".")[2], "\n//")
        texts[f"bad{k:03}_{name}"] = bad[name][0] + (f"{mark} {k}\n" if bad[name][0].strip() else "")
        wanted[f"bad{k:03}_{name}"] = bad[name][1]
    for k in range(COUNT):
        texts[f"good{k:03}.cu"] = GOOD.replace("out[i] =", f"out[i] = {k % 7} * 0.0f +") + f"// {k}\n"
        wanted[f"good{k:03}.cu"] = ("accepted",)
    order = random.sample(list(texts), len(texts))
    before, folders = _processes(), set(Path("/tmp").glob("warpglass-judge-*"))
    limits = {"limits": {"run": 3, "compile": 15, "memory": "3G", "output": "8K"}}
    found = wg.judge(task(tmp_path, **limits), {name: texts[name] for name in order}, workers=2)
    assert not [
        (row.name, row.verdict, row.text) for row in found.rows if row.verdict not in wanted[row.name]
    ]
    assert len(found.rows) == 2 * COUNT
    assert not LEFT_BEHIND.exists()
    assert _processes() <= before
    assert set(Path("/tmp").glob("warpglass-judge-*")) <= folders
