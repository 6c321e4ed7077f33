"""The library and its statuses."""

from __future__ import annotations

from ..frame import Library, Statuses

NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED = 1, 3, 7, 10
CUSPARSE = Library(
    "cuSPARSE",
    "cusparse",
    ("libcusparse.so.12",),
    Statuses(NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR, NOT_SUPPORTED),
)
ALL = "S D C Z"
VERSION = 12600
STATUSES = {
    0: ("CUSPARSE_STATUS_SUCCESS", "success"),
    1: ("CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"),
    2: ("CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"),
    3: ("CUSPARSE_STATUS_INVALID_VALUE", "invalid value"),
    7: ("CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"),
    9: ("CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"),
    10: ("CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"),
}
