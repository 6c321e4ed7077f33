"""What operations must know of a library whose arrays lie on a GPU."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import numpy as np

from ..task import Operand


class Library(Protocol):
    """One library of GPU arrays."""

    @property
    def name(self) -> str:
        """What its users call it."""
        ...

    def on_gpu(self, array: Any) -> bool:
        """Whether an array of it lies on a CUDA device."""
        ...

    def looks(self, array: Any) -> Hashable:
        """All that a task depends on; raises AttributeError for an array of another library."""
        ...

    def device(self, array: Any) -> int:
        """The number of the GPU that holds an array."""
        ...

    def operand(self, name: str, array: Any) -> Operand:
        """An array as an operation sees it; raises ArgumentError for one that none takes."""
        ...

    def address(self, array: Any) -> int:
        """The device address of the first element."""
        ...

    def readonly(self, array: Any) -> bool:
        """Whether writing to an array is forbidden."""
        ...

    def stream(self, device: int, array: Any) -> int:
        """The handle of the stream that work on a device goes to now."""
        ...

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """An array of any content on a device."""
        ...
