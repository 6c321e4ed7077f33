"""Broken PTX ends in a clean error or a clean run: texts that once did not, and mutated ones by number.

WARPGLASS_FUZZ=FIRST:COUNT tries numbers of one's own choice; tests/fuzz/campaign.py tries many more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines import CPU_ENGINES
from tests.fuzz.broken_ptx import run_broken
from tests.fuzz.watched import try_all
from tests.levels import numbers

_FILES = sorted((Path(__file__).parent / "broken").glob("*.ptx"))


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_once_broken(file: Path, engine: str):
    """A file's first line is `// ends in` and the name of the error, or `run`."""
    text = file.read_text(encoding="utf-8")
    assert run_broken(text, engine) == text.splitlines()[0].removeprefix("// ends in ")


def test_mutated_ptx_ends_cleanly():
    found = try_all("tests.fuzz.broken_ptx", numbers(200, quick=8, ci=3))
    assert not found.bad, "\n\n".join(f"number {number}: {text}" for number, text in found.bad.items())
