"""What docs/sweep.md shows is what the example prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.turns(3)

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_example_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "sweep.md").read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(page) if line.startswith("    $ warpglass sweep"))
    words = page[begin].split()[2:]
    shown: list[str] = []
    for line in page[begin + 1 :]:
        if line.strip() and not line.startswith("    "):
            break
        shown.append(line)
    command = [sys.executable, "-m", "warpglass", *words, "--results", str(tmp_path / "results.sqlite")]
    wide = {**os.environ, "COLUMNS": "120"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=wide, timeout=300)
    assert ran.returncode == 0, ran.stderr

    def words_of(lines: list[str]) -> list[list[str]]:
        kept = [line.split() for line in lines if line.strip() and not set(line.strip()) <= {"─"}]
        return [line for line in kept if line]

    assert words_of(ran.stdout.splitlines()) == words_of(shown)
