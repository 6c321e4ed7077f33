"""The program between tied.py and what that runs: ends it, with all that it started, when its own input ends.

It is run by its path, with a folder to delete at the end ("" for none), the file to run ("" for that which
the command's first word names) and the command. Its input is a pipe that the system closes when the process
at the other end is gone, whatever ended that.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

NOT_STARTED = 125  # the status that says so; the number of the error is written to the standard error output


def main() -> int:
    """Run the command; returns its status, for signals as shells do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    folder, file, *command = sys.argv[1:]
    try:
        program = subprocess.Popen(
            command,
            executable=file or None,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=False,  # what was handed to this process is the command's
        )
    except OSError as error:
        sys.stderr.write(str(error.errno))
        return NOT_STARTED
    alone = threading.Event()
    threading.Thread(target=_watch, args=(program, alone), daemon=True).start()
    status = program.wait()
    _end(program)  # what it has left behind
    if alone.is_set() and folder:
        shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


def _watch(program: subprocess.Popen[bytes], alone: threading.Event) -> None:
    """Wait for the end of the input; then nobody wants anything of the command any more."""
    while os.read(0, 1):
        pass
    alone.set()
    _end(program)


def _end(program: subprocess.Popen[bytes]) -> None:
    """End the processes of the command's session."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()


if __name__ == "__main__":
    sys.exit(main())
