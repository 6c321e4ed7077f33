"""What is shown while something takes long: nothing of what is quick, nothing where there is no terminal."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from warpglass.report import progress


@pytest.mark.parametrize(
    ("terminal", "seconds", "shown"), [(True, 0.5, True), (True, 0.0, False), (False, 0.5, False)]
)
def test_what_takes_long_is_said(
    terminal: bool, seconds: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=80)
    monkeypatch.setattr(progress, "stderr_console", lambda: console)
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    monkeypatch.setenv("TERM", "xterm")
    with progress.waiting("Checking k[0]"):
        time.sleep(seconds)
    assert isinstance(console.file, io.StringIO)
    assert ("Checking k[0]" in console.file.getvalue()) is shown
