"""What an operation needs of the ranks around it: one exchange of pieces, of which all else is made.

Belongs here: the interface, and what follows from it for every means of communication.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..errors import WarpglassError
from ..ops.sample_sort import on_host


class RankLost(WarpglassError):
    """Another rank has ended, or does something else; what became of that one says why."""


class Communicator(Protocol):
    """One rank's view of all ranks."""

    rank: int
    size: int
    module: Any  # whose arrays are communicated: numpy or cupy

    def exchange(self, pieces: Sequence[Any], counts: Sequence[int]) -> list[Any]:
        """Give `pieces[r]` to rank r, and return the piece that each rank has for this one.

        All ranks call it together. `counts[r]` is the number of rows of the piece that comes from rank r; its
        type and the extents of a row are those of `pieces[r]`. Raises RankLost where a rank does not answer.
        """
        ...

    def wait(self) -> None:
        """Wait until this rank's device has done all that it was given."""
        ...

    @property
    def name(self) -> str:
        """What the rank's device is called."""
        ...


def all_gather(here: Communicator, array: Any) -> Any:
    """The arrays of all ranks, of one shape and type, as one array with the rank as first axis."""
    parts = here.exchange([array[None]] * here.size, [1] * here.size)
    return here.module.concatenate(parts)


def gather_rows(here: Communicator, array: Any, counts: Sequence[int]) -> Any:
    """The shares of all ranks as one array, on every rank; `counts` are their rows."""
    return here.module.concatenate(here.exchange([array] * here.size, counts))


def gather_numbers(here: Communicator, *numbers: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A row of whole numbers of each rank, in host memory."""
    return on_host(all_gather(here, here.module.asarray(np.array(numbers, np.int64))))
