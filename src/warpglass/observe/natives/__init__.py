"""Native code of our own: Python functions over 64-bit words, compiled by LLVM once for a machine.

translation.py makes LLVM IR of such functions, library.py machine code that processes share by the cache on
disk. What the detectors and the counters compute in it is their own business.
"""

from __future__ import annotations

from .library import Library
from .syntax import NotNative
from .translation import Intrinsic, Translation

__all__ = ["Intrinsic", "Library", "NotNative", "Translation"]
