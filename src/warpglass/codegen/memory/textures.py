"""Where operands, results and texels of a texture instruction stand while its lanes are served one by one.

The lanes' buffer has the vectors of operands, the handles first, behind them those of results, and then,
where somebody observes the kernel, the address of each texel that a lane has visited (0: none) and its size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from ...isa.lanes import Fetch
from ...isa.types import BITS
from ..builder import WIDTH, Builder

MOST_TEXELS = 16
VISITED = 64 * WIDTH  # bytes before the texels' addresses
BUFFER = 64 + 8 * (MOST_TEXELS + 1)  # bytes of it a lane


@dataclass(frozen=True, slots=True)
class Requested:
    """A fetch as a kernel calls it: the types of its operands, and whether observers want its texels."""

    fetch: Fetch
    types: tuple[str, ...]
    traced: bool

    @property
    def function(self) -> str:
        """The name of its function."""
        return f"wg_fetch_{self.fetch.name}"

    @property
    def _places(self) -> list[int]:
        sizes = (BITS[type_] // 8 * WIDTH for type_ in (*self.types, *self.fetch.results))
        return list(accumulate(_rounded(sizes), initial=0))

    @property
    def operand_places(self) -> list[int]:
        """Where the vectors of operands are."""
        return self._places[: len(self.types)]

    @property
    def result_places(self) -> list[int]:
        """Where the vectors of results are."""
        return self._places[len(self.types) : -1]


def _rounded(sizes: Iterable[int]) -> Iterable[int]:
    return (-(-size // 64) * 64 for size in sizes)


def visited(b: Builder, number: int) -> str:
    """A pointer to the addresses of all lanes' texels of a number; behind the last are their sizes."""
    return b.offset("%lane_buffer", VISITED + 8 * WIDTH * number)
