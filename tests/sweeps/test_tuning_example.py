"""What docs/sweep.md shows of a search is what the example prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.least("full")
def test_the_page_shows_what_the_search_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "sweep.md").read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(page) if line.startswith("    $ warpglass tune"))
    shown = [line.strip() for line in page[begin + 2 : begin + 5]]
    words = page[begin].split()[2:]
    command = [sys.executable, "-m", "warpglass", *words, "--results", str(tmp_path / "kept.sqlite")]
    wide = {**os.environ, "COLUMNS": "120"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=wide, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-3:] == shown
