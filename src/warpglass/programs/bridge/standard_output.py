"""C's standard output as Python's, so that what kernels print stands where it belongs.

A program's own words wait in C's buffer; what Python wrote itself would overtake them.
"""

from __future__ import annotations

import ctypes
import io
import sys


class StandardOutput(io.TextIOBase):
    """A text file that writes to a FILE of C's, `stdout` or `stderr`."""

    encoding = "utf-8"

    def __init__(self, name: str):
        self._library = ctypes.CDLL(None)
        self._file = ctypes.c_void_p.in_dll(self._library, name)
        self._library.fwrite.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
        self._library.fflush.argtypes = [ctypes.c_void_p]
        self._number = {"stdout": 1, "stderr": 2}[name]

    def write(self, text: str, /) -> int:
        """Write a text; returns its length."""
        data = text.encode(self.encoding, "surrogateescape")
        self._library.fwrite(data, 1, len(data), self._file)
        return len(text)

    def flush(self) -> None:
        """Write out what waits."""
        self._library.fflush(self._file)

    def fileno(self) -> int:
        """The number of the file behind it."""
        return self._number

    def writable(self) -> bool:
        """It is."""
        return True


def share() -> None:
    """Let Python write to C's files from now on."""
    sys.stdout = StandardOutput("stdout")
    sys.stderr = StandardOutput("stderr")
