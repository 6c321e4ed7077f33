"""Virtual cublasLt: to come."""

from __future__ import annotations

from .frame import Library, Statuses

CUBLASLT = Library("cublasLt", "cublasLt", ("libcublasLt.so.13",), Statuses(1, 3, 7, 9))
