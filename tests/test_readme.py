"""What the README shows is what happens: its commands, its programs, its table (times aside)."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from warpglass.ladders import find_ladder
from warpglass.ladders.reduction.problem import PROBLEM
from warpglass.ladders.trial import Options
from warpglass.report.figures import format_sum

LADDER = find_ladder("reduction")

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "WARPGLASS_DEVICE": "cpu", **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_table_has_the_launches_and_the_sum_of_today() -> None:
    table = PROBLEM.tables["global"]
    case = PROBLEM.case("global", None, None, None, 0)
    total = format_sum(case.expected(0)["sum"].value.item())
    rungs = [rung for rung in LADDER.rungs(Options()) if rung.table == "global" and rung.shape is not None]
    for number, rung in enumerate(rungs, 2):
        assert rung.shape is not None
        grid = rung.shape(case, table.block).grid
        kernel = re.escape(rung.kernels[0].cuda.format(type="double", block=table.block))
        row = rf"^ +{number} +\S+ \S+ {total} +<<<{grid}, {table.block}>>> {kernel} +C\+\+ .* yes$"
        assert re.search(row, README, re.MULTILINE), row
    assert "They say nothing about a GPU's" in README


def test_fault_is_reported_as_shown() -> None:
    shown = re.search(
        r"\$ cd (\S+).*\n    \$ warpglass ((?:.*\\\n)?.*)\n    warpglass: ((?:.|\n)*?)\n\n", README
    )
    assert shown is not None
    words = shlex.split(shown[2].replace("\\\n", " "))
    done = run([sys.executable, "-m", "warpglass", *words], ROOT / shown[1])
    assert done.returncode == 4
    assert " ".join(shown[3].split()) in done.stderr.replace(str(ROOT / shown[1]) + os.sep, "")


def test_check_is_as_shown() -> None:
    """Every line but the one that says which machine it was."""
    found = re.search(r"    \$ warpglass (check (?:.*\\\n)?.*)\n((?:(?:    .*)?\n)*?)(?=\S)", README)
    assert found is not None
    words = shlex.split(found[1].replace("\\\n", " "))
    done = run([sys.executable, "-m", "warpglass", *words], ROOT, COLUMNS="100")
    assert done.returncode == 1, done.stderr
    ours = "".join(f"    {line.rstrip()}".rstrip() + "\n" for line in done.stdout.splitlines())
    device = re.compile(r"^    Device: .*", re.MULTILINE)
    assert device.sub("", ours).strip() == device.sub("", found[2]).strip()


def profile_shown() -> re.Match[str]:
    shown = re.search(r"    \$ warpglass (profile (?:.*\\\n)?.*)\n((?:(?:    .*)?\n)*?)(?=\S)", README)
    assert shown is not None
    return shown


def profile_printed(command: str) -> str:
    """What the profile prints on 100 columns, indented as here."""
    words = shlex.split(command.replace("\\\n", " "))
    done = run([sys.executable, "-m", "warpglass", *words], ROOT, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    return "".join(f"    {line.rstrip()}".rstrip() + "\n" for line in done.stdout.splitlines())


def test_profile_is_as_shown() -> None:
    """Every line but those that say which machine and which assembler it was, and how long it took."""
    shown = profile_shown()
    volatile = re.compile(r"^    (Device:|Engine time:|Counted for) .*", re.MULTILINE)
    ours, theirs = (volatile.sub("", text).strip() for text in (profile_printed(shown[1]), shown[2]))
    assert ours == theirs


def test_python_programs_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert programs
    for program in programs:
        done = run([sys.executable, "-c", program], ROOT)
        assert done.returncode == 0, done.stderr
        kernel, numpy = map(float, done.stdout.split())
        assert abs(kernel - numpy) < 1e-6
