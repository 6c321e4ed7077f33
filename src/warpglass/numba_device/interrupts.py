"""Ctrl-C in a driver call: the program is interrupted as soon as C has returned to it.

An exception cannot pass through C: raised in a callback, it is printed and lost, and the caller gets what
is in a register. C may also call the driver again before it returns, for the name of the error as a rule. So
the interrupt waits: until then SIGINT has a handler that lets callbacks alone, and each callback that ends
asks for it anew.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from types import CodeType, FrameType
from typing import Any

_ask = ctypes.pythonapi.PyErr_SetInterruptEx


class Interrupts:
    """The interrupt that waits, if one does. `callbacks` is the code of the functions that C calls."""

    def __init__(self) -> None:
        self.waiting = False
        self.callbacks: set[CodeType] = set()
        self._before: Any = None

    def defer(self) -> None:
        """Take a KeyboardInterrupt in, which a callback has caught."""
        if threading.current_thread() is threading.main_thread() and not self.waiting:
            self._before = signal.signal(signal.SIGINT, self._arrived)
            self.waiting = True

    def ask(self) -> None:
        """Let Python call the handler at the next opportunity. The caller has to return to C at once.

        Opportunities are after calls that Python evaluates; an iterator's is none.
        """
        (_,) = map(_ask, (signal.SIGINT,))

    def _arrived(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code in self.callbacks:
                return
            frame = frame.f_back
        self.waiting = False
        signal.signal(signal.SIGINT, self._before)
        raise KeyboardInterrupt


INTERRUPTS = Interrupts()
