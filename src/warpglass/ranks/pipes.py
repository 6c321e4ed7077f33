"""Ranks on one host that have a pipe between every two of them: processes or threads, without a GPU."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..host.cores import cpu_name
from .communicator import RankLost

Ends = dict[int, Connection]  # by the rank at the other end


def connect(size: int) -> list[Ends]:
    """For each rank its ends of pipes to all others."""
    ends: list[Ends] = [{} for _ in range(size)]
    for one in range(size):
        for other in range(one + 1, size):
            ends[one][other], ends[other][one] = multiprocessing.Pipe()
    return ends


class Pipes:
    """A communicator of NumPy arrays."""

    module = np

    def __init__(self, rank: int, ends: Ends):
        self.rank, self.size, self._ends = rank, len(ends) + 1, ends

    def exchange(self, pieces: Sequence[Any], counts: Sequence[int]) -> list[Any]:
        """In as many rounds as there are ranks; in each, two at a time talk, the lower one first."""
        found: list[Any] = [None] * self.size
        for step in range(self.size):
            other = (step - self.rank) % self.size
            piece = pieces[other]
            if other == self.rank:
                found[other] = np.array(piece)
                continue
            ours, theirs = self._send, self._receive
            for act in (ours, theirs) if self.rank < other else (theirs, ours):
                got = act(other, piece, counts[other])
                found[other] = found[other] if got is None else got
        return found

    def _send(self, other: int, piece: Any, _: int) -> None:
        if piece.size:
            with suppress(OSError):  # a rank that has ended is told of when it is to answer
                self._ends[other].send_bytes(np.ascontiguousarray(piece).view(np.uint8).reshape(-1).data)

    def _receive(self, other: int, like: Any, count: int) -> Any:
        got = np.empty((count, *like.shape[1:]), like.dtype)
        if got.size:
            try:
                size = self._ends[other].recv_bytes_into(got.view(np.uint8).reshape(-1).data)
            except (EOFError, OSError):
                raise RankLost(f"rank {other} has ended") from None
            except multiprocessing.BufferTooShort as problem:
                size = len(problem.args[0])
            if size != got.nbytes:
                raise RankLost(
                    f"rank {other} sent {size} bytes where {got.nbytes} were expected: shares are of one "
                    "type and, but for their length, of one shape"
                )
        return got

    def wait(self) -> None:
        """The engine has done a call when it returns."""

    @property
    def name(self) -> str:
        """The engine, and what it runs on."""
        return f"warpglass engine on {cpu_name()}"

    def close(self) -> None:
        """Let the other ranks know that this one has ended."""
        for end in self._ends.values():
            end.close()

    def abort(self) -> None:
        """What waits for a rank that has failed hears of it from that one's end of the pipe."""
