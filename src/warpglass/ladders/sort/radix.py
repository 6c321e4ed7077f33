"""What the radix sorts share: what is sorted, and how their kernels are called.

Digits are of eight bits, the lowest first; each pass moves the keys to where their digit belongs and leaves
those with the same digit in their order (radix.cuh). Keys are moved as bits, so zeros of both signs and NaN
come out as they went in, in the order in which they stood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import C_NAMES

BINS = 256
_NAMES = {**C_NAMES, "bool": "bool", "int8": "signed char", "int16": "short"}


@dataclass(frozen=True, slots=True)
class Request:
    """`size` keys of a type, and what is wanted of them, by the names of the arrays.

    Sorted keys go from `keys` to `sorted_keys`, values along with them from `values` to `sorted_values`: all
    to other arrays, or all back to where they were. With `indices` there are no sorted keys: the array of
    that name, of int64, gets their indices (np.argsort, stable). Arrays hold `rows` such requests one after
    the other.
    """

    size: int
    dtype: np.dtype[Any]
    keys: str = "x"
    sorted_keys: str = "x"
    values: str = ""
    sorted_values: str = ""
    value_dtype: np.dtype[Any] | None = None
    indices: str = ""
    rows: int = 1

    def __post_init__(self) -> None:
        """Refuse what no kernel does."""
        if self.values and (self.values == self.sorted_values) != (self.keys == self.sorted_keys):
            raise ValueError("keys and values are sorted both in place or neither")

    @property
    def passes(self) -> int:
        """Digits of a key; at least two, so that keys can go to another array and come back."""
        return max(2, self.dtype.itemsize)

    @property
    def what(self) -> str:
        """What the kernels for this are called: sweep_keys, sweep_pairs or sweep_indices."""
        return "indices" if self.indices else "pairs" if self.values else "keys"

    @property
    def in_place(self) -> bool:
        """Whether the sorted keys replace the keys."""
        return not self.indices and self.keys == self.sorted_keys

    @property
    def key_type(self) -> str:
        """How C++ calls the type of the keys."""
        return _NAMES[self.dtype.name]

    @property
    def types(self) -> str:
        """The first template arguments of the kernels that sort."""
        pair = () if self.value_dtype is None else (_NAMES[self.value_dtype.name],)
        return ", ".join((self.key_type, *pair))

    @property
    def ends(self) -> tuple[str, ...]:
        """The arrays before and after."""
        if self.indices:
            return self.keys, self.indices
        pair = (self.values, self.sorted_values) if self.values else ()
        return (self.keys, self.sorted_keys, *pair)

    def value_bytes(self, index_bytes: int) -> int:
        """Bytes of what moves along with a key."""
        if self.indices:
            return index_bytes
        return 0 if self.value_dtype is None else self.value_dtype.itemsize


def shared_bytes(threads: int, items: int, element: int) -> int:
    """What a block needs that sorts a tile: a count of every bin for each warp, and the tile."""
    return threads // 32 * BINS * 4 + threads * items * element
