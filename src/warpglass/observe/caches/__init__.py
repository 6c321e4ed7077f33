"""Simulates the caches of models/caches.py on the stream of global accesses, in generated code.

The warp's addresses become lines with the sectors wanted of each; first-level misses and all stores and
atomics go on to the second level, its misses to DRAM. Blocks run in order on one thread, so results repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...codegen import Emission, Probe, WorkerWords
from ...codegen.memory.sites import Site
from ...codegen.values.value import Value
from ...isa.ordering import ordering_of
from ...models.caches import Geometry, Traffic, sum_traffic
from ...models.memory_rules import FirstLevel
from ...program import Program, Step
from .fetches import TABLE_WORDS
from .helpers import COUNTS, cache_helpers

_BYPASS = frozenset(("cg", "cv"))  # cache operators; accesses that order others bypass the first level, too


def _kind(step: Step, first_level: FirstLevel) -> tuple[str, str]:
    """What a step's reads and its writes are to the caches."""
    if step.match.row.is_atomic:
        return "atomic", "atomic"
    modifiers = step.instruction.modifiers
    kept = first_level in (FirstLevel.ALL, FirstLevel.LINES) or (
        first_level is FirstLevel.READ_ONLY and "nc" in modifiers
    )
    strong = ordering_of(step.match).strong
    return ("read" if kept and not strong and _BYPASS.isdisjoint(modifiers) else "bypass"), "write"


class CacheProbe(Probe):
    """Feeds every access to global memory to the simulated caches."""

    alone = True

    def __init__(self, geometry: Geometry):
        self._geometry = geometry

    def prepare(self, program: Program, words: WorkerWords) -> None:
        g = self._geometry
        self._words = words
        self._sites: dict[tuple[int, bool], int] = {}  # by step and direction, the first word of its counts
        self._l1 = words.take(g.multiprocessors * g.l1_sets * g.l1_ways)
        self._l2 = words.take(g.l2_sets * g.l2_ways)
        self._table = words.take(TABLE_WORDS)
        self._used: set[str] = set()
        self._kinds = {
            step.number: _kind(step, g.first_level) for block in program.blocks for step in block.all_steps
        }

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in ("global", "generic"):
            return
        kind = self._kinds[site.step][site.write]
        self._used.add(kind)
        b = at.builder
        x, y, z = ("%ctaid_x", "%ctaid_y", "%ctaid_z")
        rows = b.value(f"mul i32 {z}, %nctaid_y")
        row = b.value(f"add i32 {rows}, {y}")
        block = b.value(f"add i32 {b.value(f'mul i32 {row}, %nctaid_x')}, {x}")
        place = b.value(f"urem i32 {block}, {self._geometry.multiprocessors}")
        bytes_ = 8 * self._geometry.l1_sets * self._geometry.l1_ways
        own = b.value(f"mul i64 {b.value(f'zext i32 {place} to i64')}, {bytes_}")
        table = self.place(at, self._table)
        args = [
            ("ptr", self.place(at, self._counts(site))),
            ("ptr", b.offset(self.place(at, self._l1), own)),
            ("ptr", self.place(at, self._l2)),
            ("ptr", table),
            ("<32 x i64>", at.lanes.as_vector(address).ir),
            ("i32", at.mask),
            ("i1", "true" if site.space == "generic" else "false"),
            ("i32", self._stamp(at, table, block)),
            ("i1", b.value("icmp eq i32 %warp, 0")),
        ]
        b.call("void", f"wg_cached_{kind}", args)

    def _stamp(self, at: Emission, table: str, block: str) -> str:
        """When a warp makes its access: the wave of its block, and how many it has made before."""
        b = at.builder
        wave = b.value(f"udiv i32 {block}, {self._geometry.multiprocessors * self._geometry.resident}")
        wide = b.value(f"zext i32 {block} to i64")
        args = [("ptr", table), ("i64", wide), ("i32", wave), ("i32", "%warp")]
        return b.call("i32", "wg_cache_stamp", args)

    def helpers(self, declarations: set[str]) -> str:
        return cache_helpers(self._used, self._geometry, declarations)

    def _counts(self, site: Site) -> int:
        """The first word of a site's counts."""
        key = site.step, site.write
        if key not in self._sites:
            self._sites[key] = self._words.take(len(COUNTS))
        return self._sites[key]

    def by_site(self, words: Sequence[int]) -> dict[tuple[int, bool], Traffic]:
        """The counts from the totals of a launch's words, by number of the step and whether it writes."""
        return {
            key: Traffic(*words[first : first + len(COUNTS)]) for key, first in sorted(self._sites.items())
        }

    def traffic(self, words: Sequence[int]) -> Traffic:
        """The counts of a launch from the totals of its words."""
        return sum_traffic(self.by_site(words).values())


@dataclass(frozen=True, slots=True)
class Caches:
    """The instrument that only simulates caches."""

    geometry: Geometry

    def probes(self, program: Program) -> tuple[Probe, ...]:
        """The one probe."""
        return (CacheProbe(self.geometry),)
