"""The program of a process that answers calls (slots.py): pickled calls in, pickled answers out.

It is run by its path. Its input begins with a line of JSON, sys.path as the calls need it, which is answered
as a call is. It ends when its input does, even amid a call, so that it never outlives who calls.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO


def main() -> None:
    """Answer calls until there are no more."""
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the process that calls
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):  # what calls print is no answer
        os.dup2(nowhere, standard)
    os.close(nowhere)
    sys.path[:] = json.loads(calls.readline())
    waiting: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls, waiting), daemon=True).start()
    said: tuple[str, bytes, str] = ("returned", b"", "")
    known: tuple[bytes, Callable[[Any], Any]] = b"", abs
    while True:
        pickle.dump(said, answers)
        answers.flush()
        function, argument = waiting.get()
        try:
            if function != known[0]:
                known = function, pickle.loads(function)
            said = "returned", pickle.dumps(known[1](pickle.loads(argument))), ""
        except Exception as problem:
            said = "raised", b"", f"{type(problem).__name__}: {problem}"


def _read(calls: BinaryIO, waiting: queue.SimpleQueue[tuple[bytes, bytes]]) -> None:
    try:
        while True:
            waiting.put(pickle.load(calls))
    except (OSError, EOFError, pickle.UnpicklingError):
        os._exit(1)


if __name__ == "__main__":
    main()
