"""How a GPU's generation turns a warp's addresses into transactions of global memory.

Belongs here: which rule a compute capability has, as the CUDA programming guides of its time describe it.
What the rules cost is counted in observe/counting/; sizes and ways of caches are caches.py's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Loads(Enum):
    """What the global loads of a warp move; stores do likewise on 1.x, and move sectors of 32 bytes since."""

    IN_ORDER = "16 threads in order"
    SEGMENTS = "segments of half-warps"
    LINES = "lines"
    SECTORS = "sectors"


class FirstLevel(Enum):
    """Which global loads the first-level cache keeps."""

    NONE = "none"
    READ_ONLY = "read-only"  # ld.global.nc
    LINES = "all, whole lines"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """The rules of one compute capability, and whether those of other accesses are known for it.

    Bank conflicts and atomic operations are counted by the rules of 7.0 and newer. 5.x and 6.x have the same
    banks; `other_accesses` is false where banks were others.
    """

    loads: Loads
    first_level: FirstLevel
    other_accesses: bool

    @property
    def note(self) -> str:
        """What to know of a profile's transactions, "" where they are the usual ones."""
        return _NOTES.get(self.loads, "")


_NOTES = {
    Loads.IN_ORDER: (
        "global accesses are those of half-warps, in one piece where thread k has word k of an aligned "
        "segment, else 32 bytes for each thread; sectors are their 32-byte parts"
    ),
    Loads.SEGMENTS: (
        "global accesses are segments of 32, 64 or 128 bytes for each half-warp; sectors are their 32-byte "
        "parts"
    ),
    Loads.LINES: "global loads move lines of 128 bytes, each counted as four sectors",
}

# By the oldest capability that has them, newest first. Pascal's tuning guide: GP100 (6.0) caches global
# loads, other Maxwell and Pascal GPUs only read-only ones.
_RULES: tuple[tuple[tuple[int, int], MemoryRules], ...] = (
    ((7, 0), MemoryRules(Loads.SECTORS, FirstLevel.ALL, True)),
    ((6, 1), MemoryRules(Loads.SECTORS, FirstLevel.READ_ONLY, True)),
    ((6, 0), MemoryRules(Loads.SECTORS, FirstLevel.ALL, True)),
    ((5, 0), MemoryRules(Loads.SECTORS, FirstLevel.READ_ONLY, True)),
    ((2, 0), MemoryRules(Loads.LINES, FirstLevel.LINES, False)),
    ((1, 2), MemoryRules(Loads.SEGMENTS, FirstLevel.NONE, False)),
    ((1, 0), MemoryRules(Loads.IN_ORDER, FirstLevel.NONE, False)),
)
MODERN = _RULES[0][1]


def rules_of(capability: tuple[int, int]) -> MemoryRules:
    """The rules of a compute capability."""
    return next(rules for oldest, rules in _RULES if capability >= oldest)
