"""The statuses of the runtime, cudaError_t: their names and texts, and those that only the runtime has.

Where the driver has a status of the same meaning the number is the same. errors.txt has a line for each:
number, name, text.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from pathlib import Path


class Status(IntEnum):
    """Statuses that the driver does not have, or has under another number."""

    SUCCESS = 0
    INVALID_CONFIGURATION = 9
    INVALID_PITCH_VALUE = 12
    INVALID_SYMBOL = 13
    INVALID_DEVICE_POINTER = 17
    INVALID_COPY_DIRECTION = 21
    MISSING_CONFIGURATION = 52
    INVALID_DEVICE_FUNCTION = 98
    NOT_SUPPORTED = 801


@cache
def statuses() -> dict[int, tuple[str, str]]:
    """Name and text of each status."""
    lines = Path(__file__).with_name("errors.txt").read_text("utf-8").splitlines()
    rows = (line.split(maxsplit=2) for line in lines)
    return {int(number): (name, text) for number, name, text in rows}
