"""Work on background threads: its order, and how it ends with the process."""

from __future__ import annotations

import subprocess
import sys
import threading

from warpglass.host.background import in_background


def test_later_jobs_are_done_first_and_late_ones_later() -> None:
    done, begun, go, found = threading.Event(), threading.Event(), threading.Event(), list[str]()
    in_background(done.set, "test", 0.1)
    in_background(lambda: found.append(f"late {done.is_set()}"), "test", 0.05)

    def others_wait() -> None:
        begun.set()
        go.wait(10)

    in_background(others_wait, "test")
    assert begun.wait(10)
    for word in ("first", "second"):
        in_background(lambda word=word: found.append(word), "test")
    go.set()
    assert done.wait(10)
    assert found == ["second", "first", "late False"]


def test_a_process_that_ends_gives_up_its_jobs_without_a_word() -> None:
    """From Python 3.12 on such a process refuses to start threads."""
    text = """
import atexit, threading, time
from warpglass.host.background import in_background

begun = threading.Event()

def job() -> None:
    begun.set()
    time.sleep(0.3)  # the process ends meanwhile
    threading.Thread(target=print).start()

in_background(job)
begun.wait()
atexit.register(time.sleep, 0.6)
"""
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
