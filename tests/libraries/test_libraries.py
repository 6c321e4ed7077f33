"""Virtual libraries: their functions as C calls them, and the page that lists them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.libraries import coverage
from warpglass.libraries import LIBRARIES

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.turns(2)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize("name", sorted(path.name for path in INSIDE.glob("*_checks.py")))
def test_checks_inside_pass(name: str) -> None:
    words = ("run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", str(INSIDE / name))
    command = [sys.executable, "-m", "warpglass", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_rows_are_functions_of_nvidias_library(library: object) -> None:
    """A row that NVIDIA's library does not export is a mistake in its name."""
    unknown = coverage.not_exported(library)  # type: ignore[arg-type]
    assert not unknown


def test_page_lists_what_there_is() -> None:
    assert coverage.PAGE.read_text("utf-8") == coverage.page(), "run python -m tests.libraries.coverage"
