"""Running other programs that end with this process, whatever ends it, and all that they start.

A program between the two (tied_child.py) watches a pipe that only this process holds open.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .tied_child import NOT_STARTED

_CHILD = str(Path(__file__).with_name("tied_child.py"))


def run_tied(
    command: Sequence[str],
    *,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    scratch: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program without input; its output is captured as text.

    `timeout` is in seconds. `scratch`, a folder of this process, is deleted if this process ends meanwhile.
    Raises OSError if the program cannot be started, subprocess.TimeoutExpired if it was ended for its time.
    """
    between = [sys.executable, "-I", "-S", _CHILD, str(scratch or "")] if sys.executable else []
    theirs, ours = os.pipe()  # neither is inherited by what is started otherwise
    try:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*between, *command],
            stdin=theirs,
            stdout=pipe,
            stderr=pipe,
            text=True,
            errors="replace",
            env=env,
            cwd=cwd,
        ) as process:
            os.close(theirs)
            theirs = -1
            try:
                output, errors = process.communicate(timeout=timeout)
            except BaseException:
                os.close(ours)  # which ends it all
                ours = -1
                if not between:
                    process.kill()
                raise
    finally:
        for end in (theirs, ours):
            if end >= 0:
                os.close(end)
    if between and process.returncode == NOT_STARTED and errors.isdigit():
        raise OSError(int(errors), os.strerror(int(errors)), command[0])
    return subprocess.CompletedProcess(command, process.returncode, output, errors)
