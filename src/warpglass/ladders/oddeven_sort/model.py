"""The course notes' cost model of the sort in many blocks: arithmetic over measured times.

With B elements in a block, N in all, G = N / B blocks, alpha seconds for a comparison in one block and beta
for one on the host:

    T1 = alpha B^2 / 2          one block sorts its elements
    TH = beta N^2 / 2           the host sorts all
    TG = (2G - 1) G T1          all launches of all cycles, one block after another: about alpha N^2
    TM = TG / MP                the same on MP multiprocessors
    RG = TH / TM                about R1 MP / 2 with R1 = beta / alpha

Read backwards, MP = 2 RG / R1: the notes count the multiprocessors of a card by timing it. It holds where a
multiprocessor runs one block at a time and none waits for work. `Waves` is what becomes of that when the
blocks cannot be dealt out evenly.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured: B, N, the seconds of one block, of the host, and of the grid with transfers."""

    span: int
    size: int
    block_seconds: float
    host_seconds: float
    grid_seconds: float

    @property
    def blocks(self) -> int:
        """G."""
        return -(-self.size // self.span)

    @property
    def alpha(self) -> float:
        """Seconds for one comparison in one block."""
        return 2 * self.block_seconds / self.span**2

    @property
    def beta(self) -> float:
        """Seconds for one comparison on the host."""
        return 2 * self.host_seconds / self.size**2

    @property
    def block_ratio(self) -> float:
        """R1: how many times as fast as the host one block is."""
        return self.beta / self.alpha

    @property
    def one_by_one(self) -> float:
        """TG: seconds of all blocks one after another."""
        return (2 * self.blocks - 1) * self.blocks * self.block_seconds

    @property
    def grid_ratio(self) -> float:
        """RG: how many times as fast as the host the grid is."""
        return self.host_seconds / self.grid_seconds

    @property
    def multiprocessors(self) -> float:
        """MP, read off the ratios as the notes do."""
        return 2 * self.grid_ratio / self.block_ratio

    @property
    def comparisons_per_element_moved(self) -> float:
        """B^2 / 2 comparisons for B elements loaded and B stored."""
        return self.span / 4


@dataclass(frozen=True, slots=True)
class Waves:
    """Blocks dealt out to multiprocessors, one to each at a time."""

    blocks: int
    multiprocessors: int

    @property
    def count(self) -> int:
        """How often blocks are dealt out."""
        return -(-self.blocks // self.multiprocessors)

    @property
    def idle(self) -> int:
        """Multiprocessors without a block in the last wave."""
        return self.count * self.multiprocessors - self.blocks

    @property
    def busy(self) -> float:
        """The share of the multiprocessors' time that blocks use."""
        return self.blocks / (self.count * self.multiprocessors) if self.blocks else 0.0
