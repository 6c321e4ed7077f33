"""Virtual cuBLASLt: products of matrices with descriptors, epilogues and scales."""

from __future__ import annotations

from . import matmul
from .descriptors import CUBLASLT

__all__ = ["CUBLASLT", "matmul"]
