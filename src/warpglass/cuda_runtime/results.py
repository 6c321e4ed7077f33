"""The statuses of the runtime, cudaError_t: their names and texts, and those that only the runtime has.

Where the driver has a status of the same meaning the number and the text are the same
(numba_device/status_texts.py).
"""

from __future__ import annotations

from enum import IntEnum


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
