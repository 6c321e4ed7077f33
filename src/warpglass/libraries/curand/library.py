"""The library and its statuses."""

from __future__ import annotations

from ..frame import Library, Statuses

NOT_INITIALIZED, TYPE_ERROR, OUT_OF_RANGE, LENGTH_NOT_MULTIPLE, INTERNAL_ERROR = 101, 103, 104, 105, 999
CURAND = Library(
    "cuRAND",
    "curand",
    ("libcurand.so.10",),
    Statuses(NOT_INITIALIZED, OUT_OF_RANGE, INTERNAL_ERROR, TYPE_ERROR),
)
