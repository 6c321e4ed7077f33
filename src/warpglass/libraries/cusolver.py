"""Virtual cusolver: to come."""

from __future__ import annotations

from .frame import Library, Statuses

CUSOLVER = Library("cusolver", "cusolver", ("libcusolver.so.12",), Statuses(1, 3, 7, 9))
