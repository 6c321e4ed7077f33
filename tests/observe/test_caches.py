"""The simulated caches against a plain simulation in Python, and what streaming through them must cost."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen.context import GLOBAL_BASE
from warpglass.engine.cpu.address_space import GUARD
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.models.caches import Geometry, Traffic
from warpglass.models.memory_rules import FirstLevel
from warpglass.observe.caches import CacheProbe, Caches
from warpglass.observe.caches.fetches import NEAR

# Every lane of block b takes its place of round r from `where` and reads, writes or adds to it.
SOURCE = r"""
extern "C" __global__ void walk(int* data, const int* where, int rounds, int* sink) {
    int total = 0;
    #pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        int i = where[(r * gridDim.x + blockIdx.x) * 32 + threadIdx.x];
        int verb = r % 3;
        if (i >= 0) {
            if (verb == 0) total += data[i];
            if (verb == 1) data[i] = r;
            if (verb == 2) atomicAdd(&data[i], 1);
        }
    }
    if (total == 123456789) sink[0] = total;
}
"""
ROUNDS, BLOCKS, WORDS = 40, 6, 4096
SMALL = Geometry(multiprocessors=2, l1_sets=4, l1_ways=2, l2_sets=8, l2_ways=3)
LARGER = replace(SMALL, l1_sets=64, l2_sets=64, resident=3)  # lines live until other blocks of a wave come


class Level:
    """A set-associative cache of lines with their sectors; the least recently used line is replaced."""

    def __init__(self, sets: int, ways: int):
        self.sets = [OrderedDict[int, set[int]]() for _ in range(sets)]
        self.ways, self.bits = ways, sets.bit_length() - 1

    def find(self, line: int, insert: bool) -> tuple[set[int] | None, set[int]]:
        """The line's sectors, None if absent and not to be inserted; and what its insertion drove out."""
        chosen = self.sets[(line ^ line >> self.bits ^ line >> 2 * self.bits) % len(self.sets)]
        gone: set[int] = set()
        if line not in chosen:
            if not insert:
                return None, gone
            if len(chosen) == self.ways:
                gone = chosen.popitem(last=False)[1]
            chosen[line] = set()
        chosen.move_to_end(line)
        return chosen[line], gone


def lone(sectors: set[int]) -> int:
    """Sectors without the other one of their 64 bytes."""
    return sum(s ^ 1 not in sectors for s in sectors)


class Simulation:
    """Both levels; dirty sectors of the second are marked by their number plus 4."""

    def __init__(self, g: Geometry):
        self.l1 = [Level(g.l1_sets, g.l1_ways) for _ in range(g.multiprocessors)]
        self.l2 = Level(g.l2_sets, g.l2_ways)
        self.first_level, self.keeps_stored = g.first_level, g.keeps_stored
        self.counts: Counter[str] = Counter()
        self.stamps: dict[tuple[int, int], tuple[int, int, str]] = {}  # of sectors: wave, accesses, level
        self.alone: dict[int, tuple[int, set[int]]] = {}  # of lines: when sectors came alone last, and which
        self.fetches = 0

    def access(self, sm: int, verb: str, addresses: list[int], time: tuple[int, int]) -> None:
        """What a block's first warp does; it counts how far the farthest line of a read has come."""
        self.sm = sm
        self.time, self.level = time, 0
        self.reach(verb, addresses)
        if verb == "read":
            self.counts[("first_l1", "first_l2", "first_dram")[self.level]] += 1

    def reach(self, verb: str, addresses: list[int]) -> None:
        sm = self.sm
        lines: dict[int, set[int]] = {}
        for address in addresses:
            lines.setdefault(address >> 7, set()).add(address >> 5 & 3)
        for line, sectors in lines.items():
            if verb == "read" and self.first_level is FirstLevel.LINES:
                sectors = {0, 1, 2, 3}
            if verb == "read" and self.first_level in (FirstLevel.NONE, FirstLevel.READ_ONLY):
                self.counts["l1_sectors"] += len(sectors)
                self.second(line, sectors, verb)
                continue
            if verb == "atomic":
                self.second(line, sectors, verb)
                continue
            self.counts["l1_sectors"] += len(sectors)
            held, _ = self.l1[sm].find(line, insert=verb == "read")
            hits = sectors & (held or set())
            self.counts["l1_hits"] += len(hits)
            if verb == "read" and (level := self.on_its_way(line, hits)):
                self.counts["l1_waits"] += len(hits)
                self.counts["dram_waits"] += len(hits) if level == "dram" else 0
                self.level = max(self.level, 2 if level == "dram" else 1)
            if verb == "write":
                if held and not self.keeps_stored:
                    held.clear()
                self.second(line, sectors, verb)
            elif sectors - hits:
                assert held is not None
                held |= sectors
                self.second(line, sectors - hits, verb)

    def second(self, line: int, sectors: set[int], verb: str) -> None:
        self.counts[f"l2_{verb}s"] += len(sectors)
        held, gone = self.l2.find(line, insert=True)
        assert held is not None
        self.counts["l2_lines"] += 1
        self.counts["dram_writes"] += len([s for s in gone if s >= 4])
        self.counts["lone_writes"] += lone({s - 4 for s in gone if s >= 4})
        hits = sectors if verb == "write" else sectors & held
        self.counts["l2_hits"] += len(hits)
        missed = set[int]() if verb == "write" else sectors - hits
        self.counts["dram_reads"] += len(missed)
        if missed:
            self.level = 2
            self.fetch(line, missed, "dram", (0, 0) if verb == "atomic" else self.time)
            self.join(line, missed)
        elif verb == "read":
            if self.on_its_way(line, sectors) == "dram":
                self.level = 2
                self.counts["dram_waits"] += len(hits)
            else:
                self.level = max(self.level, 1)
                self.fetch(line, sectors, "l2", self.time)
        held |= sectors if verb == "read" else sectors | {s + 4 for s in sectors}

    def on_its_way(self, line: int, sectors: set[int]) -> str:
        """The level that the first of these comes from, if it has been asked for at this time."""
        *when, level = self.stamps.get((line, min(sectors)), (0, 0, "")) if sectors else (0, 0, "")
        return level if tuple(when) == self.time else ""

    def fetch(self, line: int, sectors: set[int], level: str, time: tuple[int, int]) -> None:
        """Sectors start on their way; those from DRAM are not forgotten in the same wave."""
        for sector in sectors:
            wave, _, before = self.stamps.get((line, sector), (0, 0, ""))
            if level == "dram" or before != "dram" or wave != time[0]:
                self.stamps[line, sector] = *time, level

    def join(self, line: int, missed: set[int]) -> None:
        """Count sectors without the other one of their 64 bytes, less those whose other one comes soon."""
        self.fetches += 1
        when, waiting = self.alone.get(line, (-NEAR - 1, set[int]()))
        waiting = waiting if self.fetches - when <= NEAR else set[int]()
        single = {s for s in missed if s ^ 1 not in missed}
        joined = {s for s in single if s ^ 1 in waiting}
        self.counts["lone_reads"] += len(single) - 2 * len(joined)
        self.alone[line] = self.fetches, single - joined | {s for s in waiting if s ^ 1 not in joined}


@pytest.mark.parametrize(
    ("engine", "small"),
    [
        *((engine, SMALL) for engine in CPU_ENGINES),
        (CPU_ENGINES[0], LARGER),
        (CPU_ENGINES[0], replace(SMALL, first_level=FirstLevel.LINES)),
        (CPU_ENGINES[0], replace(SMALL, first_level=FirstLevel.READ_ONLY)),
        (CPU_ENGINES[0], replace(SMALL, keeps_stored=False)),
        (CPU_ENGINES[0], replace(SMALL, l2_sets=1, l2_ways=1, first_level=FirstLevel.NONE)),
    ],
)
def test_generated_caches_are_the_plain_ones(engine: str, small: Geometry):
    rng = np.random.default_rng(7)
    places = np.where(
        rng.random((ROUNDS, BLOCKS, 32)) < 0.8, rng.integers(0, WORDS, (ROUNDS, BLOCKS, 32)), -1
    )
    for r in range(0, ROUNDS, 3):  # neighbours, too, and places met before
        starts = rng.integers(0, WORDS - 32, (BLOCKS, 1))
        places[r] = (starts[:1] if r % 2 else starts) + np.arange(32)
    data, sink, where = np.zeros(WORDS, np.int32), np.zeros(1, np.int32), places.astype(np.int32)
    kernel = wg.compile(SOURCE, "walk")
    args = (data, where, np.int32(ROUNDS), sink)
    launch = Launch(kernel.compile(args), (BLOCKS, 1, 1), (32, 1, 1), args)
    with engine_mode(engine):
        _, seen = CpuBackend().observe(launch, Caches(small))
    (probe,) = seen.probes
    assert isinstance(probe, CacheProbe)
    found = asdict(probe.traffic(seen.totals.tolist()))
    assert found == expected(places, small), found
    if small is LARGER:
        assert found["dram_waits"]
        assert found["l1_waits"]


def expected(places: np.ndarray, small: Geometry) -> dict[str, int]:
    """The counts of the plain simulation; arrays lie as engine/cpu/address_space.py places them."""
    data, where = GLOBAL_BASE, GLOBAL_BASE + 4 * WORDS + GUARD
    made = Simulation(small)
    for block in range(BLOCKS):
        wave = block // (2 * small.resident)
        for r in range(ROUNDS):
            start = where + 128 * (r * BLOCKS + block)
            made.access(block % 2, "read", [start + 4 * lane for lane in range(32)], (wave, 2 * r + 1))
            own = [data + 4 * int(i) for i in places[r, block] if i >= 0]
            made.access(block % 2, ("read", "write", "atomic")[r % 3], own, (wave, 2 * r + 2))
    names = [field.name for field in fields(Traffic)]
    return {name: made.counts[name] for name in names}


def test_streaming_reads_every_sector_once():
    kernel = wg.compile(
        'extern "C" __global__ void add(const float* a, const float* b, float* c) {'
        " int i = blockIdx.x * 256 + threadIdx.x; c[i] = a[i] + b[i]; }",
        "add",
    )
    n = 1 << 16
    a, b, c = (np.ones(n, np.float32) for _ in range(3))
    p = wg.profile(kernel, n // 256, 256, (a, b, c))
    assert p.counters["dram__sectors_read.sum"] == pytest.approx(2 * n / 8, abs=200)
    assert p.counters["l1tex__t_sector_hit_rate.pct"] == 0
    assert p.label("dram__sectors_read.sum") == p.label("dram_read_transactions") == "modelled"
    assert p.metrics["dram_read_transactions"] == p.counters["dram__sectors_read.sum"]
    plain = wg.profile(kernel, n // 256, 256, (a, b, c), caches=False)
    assert "dram__sectors_read.sum" not in plain.counters
    assert plain.counters["smsp__inst_executed.sum"] == p.counters["smsp__inst_executed.sum"]
