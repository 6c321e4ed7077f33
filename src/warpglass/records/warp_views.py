"""What the lanes of one warp did at one access or branch: the record behind the warp view.

Belongs here: the record and what follows from it alone: which sectors and banks the lanes touch. Sectors have
32 bytes; shared memory has 32 banks of 4 bytes, and repeats a pass where lanes want different words of one
bank (CUDA C++ Programming Guide, compute capability 5.0 and newer).
"""

from __future__ import annotations

from dataclasses import dataclass

LANES, SECTOR, BANKS, WORD = 32, 32, 32, 4


@dataclass(frozen=True, slots=True)
class WarpView:
    """One execution of an instruction by a warp: the first with the most active lanes.

    `kind` is "load", "store", "atomic" or "branch", `space` "global", "shared" or "local" ("" for branches),
    `size` the bytes that a lane accesses. `active` is the mask of the lanes that took part; `taken` of those
    that a branch sent to its target. `addresses` has one for each of the 32 lanes, those of inactive lanes
    being 0; global ones are device addresses, shared ones offsets in the block's shared memory. `ptx` is the
    number of its PTX line.
    """

    kind: str
    space: str
    file: str
    line: int
    ptx: int
    text: str
    size: int
    block: int
    warp: int
    active: int
    taken: int = 0
    addresses: tuple[int, ...] = ()

    def lanes(self, mask: int | None = None) -> tuple[int, ...]:
        """The numbers of the lanes in a mask; of the active ones, if none is given."""
        wanted = self.active if mask is None else mask
        return tuple(lane for lane in range(LANES) if wanted >> lane & 1)

    def sectors(self) -> tuple[int, ...]:
        """The numbers of the 32-byte sectors that the active lanes touch, ascending."""
        return self._units(SECTOR)

    def words(self) -> tuple[int, ...]:
        """The numbers of the 4-byte words that the active lanes touch, ascending."""
        return self._units(WORD)

    def units_of(self, lane: int, unit: int) -> range:
        """The numbers of the units of so many bytes that a lane touches."""
        start = self.addresses[lane]
        return range(start // unit, (start + max(self.size, 1) - 1) // unit + 1)

    def _units(self, unit: int) -> tuple[int, ...]:
        return tuple(sorted({number for lane in self.lanes() for number in self.units_of(lane, unit)}))
