"""Saying on stderr what takes long, while it does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 1.0  # what takes less is not worth a line


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Print a line that says what is being done, if it takes longer than SECONDS."""
    timer = threading.Timer(SECONDS, lambda: sys.stderr.write(f"warpglass: {what} ...\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
