"""One version of a kernel's code in the making: what it is for, and what the passes have found so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..program import Program
from .control.clock import clock_readers
from .few_lanes.find import FewRegion
from .infer import Inference
from .lane_loops.choose import ChosenLoop
from .memory.merged_checks import VersionedRegion
from .memory.neighbours import Neighbours
from .memory.prefetch import Prefetch
from .memory.row_stores import RowStores
from .memory.shared_tables import SharedTables
from .memory.tiles import Tiles
from .operands import Symbols
from .probes import Probe
from .shape import BlockShape, Promises


@dataclass
class Version:
    """What `generate` is asked for, and the results of passes.py; without promises it is the reference."""

    program: Program
    shape: BlockShape
    symbols: Symbols
    probes: tuple[Probe, ...]
    promises: Promises | None
    small: bool = False  # whether as little of the reference's code is wanted as can be

    inference: Inference = field(init=False)
    full: tuple[bool, ...] = field(init=False)  # blocks that always run with all lanes
    deserted: frozenset[int] = frozenset()  # headers of loops that few lanes come to
    regions: Mapping[int, VersionedRegion] = field(default_factory=dict[int, VersionedRegion])  # by block
    lane_loops: Mapping[int, ChosenLoop] = field(default_factory=dict[int, ChosenLoop])  # by header
    few_lanes: Mapping[int, FewRegion] = field(default_factory=dict[int, FewRegion])  # by header
    neighbours: Mapping[int, Neighbours] = field(default_factory=dict[int, Neighbours])  # by step
    shared_tables: SharedTables = field(default_factory=SharedTables)  # what loops look up in
    tiles: Tiles = field(default_factory=Tiles)  # the rows along which lanes walk
    row_stores: RowStores = field(default_factory=RowStores)  # those along which they store
    prefetches: Mapping[int, Prefetch] = field(default_factory=dict[int, Prefetch])  # by the load's step
    streaming: frozenset[int] = frozenset()  # steps whose stores may go past the caches
    masks_boundaries: bool = False  # whether accesses across the end of shared memory are masked
    by_segments: bool = False  # whether lanes in a few places far apart have an access for each
    by_region: bool = False  # whether optimised code has a loop over the warps for each barrier region

    def __post_init__(self) -> None:
        self.full = (False,) * len(self.program.blocks)

    @cached_property
    def observed(self) -> bool:
        """Whether the program's own instructions are seen: by probes, or by the clock that counts them."""
        return bool(self.probes or clock_readers(self.program))
