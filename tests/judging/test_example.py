"""What docs/judge.md shows is what the example prints, and its table has every verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpglass.judging import VERDICTS, jail

pytestmark = pytest.mark.turns(3)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "judge.md"


@pytest.mark.least("ci")
@pytest.mark.skipif(bool(jail.available()), reason=jail.available())
def test_the_page_shows_what_the_example_prints() -> None:
    page = PAGE.read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(page) if line.startswith("    $ warpglass judge"))
    end = next(number for number in range(begin + 1, len(page)) if page[number].startswith("## "))
    command = [sys.executable, "-m", "warpglass", *page[begin].split()[2:], "--workers", "1"]
    wide = {**os.environ, "COLUMNS": "116"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=wide, timeout=300)
    assert ran.returncode == 0, ran.stderr
    shown = [line.strip() for line in page[begin + 1 : end] if line.strip()]
    assert [line.strip() for line in ran.stdout.splitlines() if line.strip()] == shown


def test_every_verdict_is_in_the_table() -> None:
    text = PAGE.read_text("utf-8")
    assert all(f"| `{code}` | {meaning} |" in text for code, meaning in VERDICTS.items())
