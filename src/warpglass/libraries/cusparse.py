"""Virtual cusparse: to come."""

from __future__ import annotations

from .frame import Library, Statuses

CUSPARSE = Library("cusparse", "cusparse", ("libcusparse.so.12",), Statuses(1, 3, 7, 9))
