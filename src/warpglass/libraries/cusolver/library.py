"""The library and its statuses."""

from __future__ import annotations

from ..frame import Library, Statuses

NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED = 1, 3, 7, 9
CUSOLVER = Library(
    "cuSOLVER",
    "cusolver",
    ("libcusolver.so.12", "libcusolver.so.11"),
    Statuses(NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED),
)
ALL, REAL, COMPLEX = "S D C Z", "S D", "C Z"
VERSION = 12000
