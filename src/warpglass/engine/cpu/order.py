"""The order in which a launch's blocks run, and in every round the warps of a block, if not by number.

Results of a correct kernel do not depend on it; what depends on it shows in one order and hides in another.
An order follows from its seed alone, whatever the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...host.budget import MEMORY, in_units, memory_limit

# Orders of the warps that rounds take in turn: a prime, so that loops of any other length meet all of them.
_ROUNDS = 61
MOST = (1 << 32) - 1  # the largest seed


@dataclass(frozen=True, slots=True)
class Order:
    """A random order of blocks and warps; equal seeds, from 0 to MOST, give equal orders."""

    seed: int

    def blocks(self, count: int) -> np.ndarray:
        """The block at each place: int64, a permutation."""
        need = 8 * count
        if need > memory_limit() // 4:
            raise ArgumentError(
                f"a random order of {count} blocks takes {in_units(need)}, too much of the "
                f"{in_units(memory_limit())} that are allowed ({MEMORY}); check a smaller grid"
            )
        return np.random.RandomState(self.seed).permutation(count).astype(np.int64)

    def warps(self, count: int) -> np.ndarray:
        """Orders of a block's warps, one a row: int32."""
        random = np.random.RandomState(self.seed ^ 0x5EED)
        return np.array([random.permutation(count) for _ in range(_ROUNDS)], np.int32)
