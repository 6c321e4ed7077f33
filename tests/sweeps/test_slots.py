"""Calls in processes beside this one: what becomes of those that fail, crash, print or take too long."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from warpglass.host import slots
from warpglass.host.processes import without_interrupts


def call(function: Any, *arguments: Any, seconds: float = 60.0) -> list[slots.Answer]:
    return slots.call_all(pickle.dumps(function), [(pickle.dumps(one), seconds) for one in arguments])


def test_calls() -> None:
    assert [pickle.loads(one.content) for one in call(abs, -3, 4)] == [3, 4]
    assert call(int, "x") == [slots.Answer("raised", text=call(int, "x")[0].text)]
    assert "ValueError: invalid literal" in call(int, "x")[0].text
    pids = {pickle.loads(one.content) for one in call(eval, *["__import__('os').getpid()"] * 2)}
    assert len(pids) == 1  # one process for one call after another
    assert os.getpid() not in pids
    assert [pickle.loads(one.content) for one in call(print, "to nobody")] == [None]
    how = [(one.how, one.text) for one in call(os._exit, 3, 4)]
    assert how == [("lost", f"the process that did it ended with status {k}") for k in (3, 4)]
    ended, *after = slots.call_all(
        pickle.dumps(time.sleep), [(pickle.dumps(100), 0.3), (pickle.dumps(0), 60.0)]
    )
    assert (ended.how, ended.text) == ("ended", "ended after 0.3 s")
    assert [one.how for one in after] == ["returned"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_processes_end_when_nobody_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "_idle", [])
    monkeypatch.setattr(slots, "_IDLE", 0.2)
    (answer,) = call(eval, "__import__('os').getpid()")
    place = Path(f"/proc/{pickle.loads(answer.content)}")
    assert place.exists()
    deadline = time.monotonic() + 20
    while place.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not place.exists()
    assert [one.how for one in call(abs, 1)] == ["returned"]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there are no masks of signals")
def test_processes_that_never_see_interrupts() -> None:
    ask = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    command = [sys.executable, "-c", ask]
    with without_interrupts():
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
