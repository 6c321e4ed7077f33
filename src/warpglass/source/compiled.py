"""What every front end hands on: PTX text, the entry asked for, and how arguments become parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel as its author wrote it, and the PTX parameters that it fills.

    `fields` names what each consecutive PTX parameter holds:
      "pointer"         address of the array's first element
      "value"           the scalar itself
      "offset"          0 (element offset of a memref descriptor)
      "shape:K"         extent of dimension K, in elements
      "stride:K"        stride of dimension K, in elements
      "byte_stride:K"   stride of dimension K, in bytes
      "size"            number of elements
      "itemsize"        bytes per element
      "null"            0 (a pointer the kernel never follows)
    `dtype` is the element or scalar type where the front end knows it (Python kernels), else None.
    `ndim` is None when unknown (a C++ pointer), 0 for a scalar.
    """

    name: str
    fields: tuple[str, ...]
    dtype: np.dtype[Any] | None = None
    ndim: int | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX of one kernel, ready for either back end.

    `entry` is the name in the PTX (mangled), `name` the one the user asked for, `arguments` None when the
    PTX parameters correspond one to one to arguments of unknown name (PTX files).
    """

    ptx: str
    entry: str
    name: str
    language: str  # "cuda", "ptx", "python"
    arguments: tuple[Argument, ...] | None = None


class Source(Protocol):
    """A kernel before its argument types are known."""

    @property
    def language(self) -> str: ...

    @property
    def name(self) -> str: ...

    def compile(self, args: Sequence[object]) -> Compiled:
        """Return PTX for these arguments (only Python kernels look at them); cached on disk by content."""
        ...
