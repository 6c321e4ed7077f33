"""The lessons: when each applies, how much of the kernel's work it costs, its number and what to try.

Belongs here: the table. A row's `loss` is the share of the work at the narrowest place that would not be
needed, from 0 (nothing) to 1; its `line` says what a line has to do with it. A lesson that is the cause of
others hides them: a block of one thread also wastes sectors, but that is not what there is to learn. Every
row has a launch that fires it and one that does not, in tests/report/test_explain.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from ...models.kernel_time import ON_SM, saved
from .facts import LANES, SECTOR, Counts, Facts

# Where waste shows: instructions of lanes that wait, sectors that nobody asked for.
_LANES_WORK = ("issue", "fp32", "integer", "multiply", "shared units", "fp64", "fp16", "special")
_SECTORS = ("l2", "tags")
_SPREAD = ("accesses are not coalesced", "accesses are not aligned")  # lessons that others may explain

_UNUSED = 0.1  # share of the waste from which a kind of access is named
_ALIGNED = 18  # bytes of a sector from which on neighbours ask for neighbours: a stride of two uses 16
_BUSY = 2.0  # active lanes up to which an instruction is one of few threads


@dataclass(frozen=True, slots=True)
class Lesson:
    """One row. `number`, `costs` and `remedy` are sentences without their full stop.

    `limiters` are the parts of a GPU whose work, by the model of kernel times, contains the waste, and
    `wasted` is its share of that work, `loss` if not given; without them there is no cost in modelled time.
    `of_grid` lessons are about the size of the grid. `hides` are the lessons that it explains.
    """

    name: str
    loss: Callable[[Facts], float]
    number: Callable[[Facts], str]
    costs: Callable[[Facts], str]
    remedy: str
    line: Callable[[Counts], float] | None = None
    of_grid: bool = False
    hides: tuple[str, ...] = ()
    limiters: tuple[str, ...] = ()
    wasted: Callable[[Facts], float] | None = None

    def wastes(self, facts: Facts) -> dict[str, float]:
        """The wasted share of each limiter's work."""
        share = (self.wasted or self.loss)(facts)
        return dict.fromkeys(self.limiters, min(1.0, max(0.0, share)))


def _share(a: float, b: float) -> float:
    return a / b if b > 0 else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _missing_lanes(facts: Facts) -> float:
    """The share of lanes that no thread of the block fills."""
    return 1 - facts.block / (LANES * ceil(facts.block / LANES))


def _few(counts: Counts) -> float:
    """Instructions of a line where next to all lanes wait."""
    return counts.instructions if counts.lanes <= _BUSY else 0.0


def _busy_one(facts: Facts) -> float:
    few = sum(_few(counts) for _, counts in facts.lines)
    every = sum(counts.instructions for _, counts in facts.lines)
    return _share(few, every) if facts.block >= LANES else 0.0


def _idle_processors(facts: Facts) -> float:
    if not facts.multiprocessors:
        return 0.0
    return max(0.0, 1 - facts.blocks / facts.multiprocessors)


def _last_wave(facts: Facts) -> float:
    """The share of the time of all waves in which the last one leaves places empty."""
    if facts.together == 0 or facts.blocks <= facts.together:
        return 0.0
    waves = facts.blocks / facts.together
    return 1 - waves / ceil(waves)


def _waves(facts: Facts) -> float:
    return _share(facts.blocks, facts.together)


def _narrow(facts: Facts) -> float:
    """How far occupancy is from a half, from which on most kernels have warps enough to wait with."""
    share = facts.fit.get("share", 1.0)
    enough = facts.blocks >= facts.together > 0
    return max(0.0, 1 - share / 0.75) * 0.6 if enough and facts.block >= LANES else 0.0


def _missing_warps(facts: Facts) -> float:
    """The share of warps that would hide waiting and do not fit: so much longer the waves of blocks take."""
    return 1 - facts.fit.get("share", 1.0)


def _of_shared(facts: Facts) -> float:
    return _narrow(facts) if "shared memory" in facts.fit.get("limiting", ()) else 0.0


def _of_registers(facts: Facts) -> float:
    limiting = facts.fit.get("limiting", ())
    return _narrow(facts) if "registers" in limiting and "shared memory" not in limiting else 0.0


def _of_blocks(facts: Facts) -> float:
    limiting = facts.fit.get("limiting", ())
    return _narrow(facts) if "blocks" in limiting and "shared memory" not in limiting else 0.0


@dataclass(frozen=True, slots=True)
class _Waste:
    """Sectors that better addresses would save: of rows that begin between sectors, or of lanes far apart."""

    aligned: bool

    def of(self, counts: Counts, kind: str) -> float:
        """Of one line's accesses of a kind."""
        return counts.excess(kind) if self._is_its_own(counts, kind) else 0.0

    def at(self, counts: Counts) -> float:
        """Of one line."""
        return self.of(counts, "ld") + self.of(counts, "st")

    def share(self, facts: Facts) -> float:
        """Of all sectors of a launch."""
        return _share(sum(self.at(counts) for counts in _lines(facts)), facts.sectors())

    def number(self, facts: Facts) -> str:
        """Of loads and of stores, if they waste anything, the sectors that move and how much is used."""
        every = sum(self.at(counts) for counts in _lines(facts))
        said: list[str] = []
        for kind, words in (("ld", "load"), ("st", "store")):
            own = [counts for counts in _lines(facts) if self.of(counts, kind)]
            if sum(self.of(counts, kind) for counts in own) > _UNUSED * every:
                sectors = sum(counts.sectors(kind) for counts in own)
                each = _share(sectors, sum(counts.requests(kind) for counts in own))
                used = _share(sum(counts.used(kind) for counts in own), sectors)
                said.append(
                    f"a {words} of a warp moves {each:.3g} sectors and asks for {used:.3g} of their 32 bytes"
                )
        return "; ".join(said)

    def costs(self, facts: Facts) -> str:
        return f"{_percent(self.share(facts))} of the sectors would not have to move"

    def _is_its_own(self, counts: Counts, kind: str) -> bool:
        return (counts.used(kind) >= _ALIGNED * counts.sectors(kind)) is self.aligned


_APART, _UNALIGNED = _Waste(aligned=False), _Waste(aligned=True)


def _lines(facts: Facts) -> Sequence[Counts]:
    """The counts of every line, or, without lines, of the launch."""
    return [counts for _, counts in facts.lines] or [facts]


def _met(facts: Facts) -> float:
    """The share of the modelled time that atomics at one place, or in one slice of L2, take."""
    modelled = facts.profile.modelled
    if modelled is None or not modelled.seconds:
        return 0.0
    return saved(modelled.seconds, modelled.limits, {"atomics": 1.0}) / modelled.seconds


def _conflicted(facts: Facts) -> float:
    """Repeats among all that goes through the load and store unit."""
    return _share(facts.conflicts, facts.passes + facts.sectors() / 4)


def _parting(facts: Facts) -> float:
    """Lanes that wait, where branches part; missing lanes and single busy threads are other lessons."""
    waiting = _share(facts.idle, LANES * facts.instructions) - _missing_lanes(facts)
    return max(0.0, waiting) if facts.parted else 0.0


def _waiting(facts: Facts) -> float:
    """Lanes that wait or have left without a branch that parts: guards that the machine code predicates."""
    waiting = _share(facts.idle, LANES * facts.instructions) - _missing_lanes(facts)
    return max(0.0, waiting - 0.1) if not facts.parted else 0.0


def _spilt(facts: Facts) -> float:
    return _share(facts.local, facts.local + facts.sectors())


def _again(facts: Facts) -> float:
    """Loads that ask for what has been there before: bytes asked for against bytes that came from DRAM."""
    if not facts.dram or facts.passes > facts.sectors("ld") / 8:
        return 0.0
    asked = SECTOR * facts.sectors("ld")
    return max(0.0, 1 - 4 * facts.dram / asked) * 0.9 if asked else 0.0


def _fit_number(facts: Facts) -> str:
    demand = facts.fit["demand"]
    shared = demand["static_shared"] + demand["dynamic_shared"]
    return (
        f"{facts.fit['blocks']} blocks of {facts.block} threads fit on a multiprocessor, "
        f"{_percent(facts.fit['share'])} of its warps ({demand['registers']} registers a thread, "
        f"{shared} bytes of shared memory a block)"
    )


def _fit_costs(facts: Facts) -> str:
    return f"{_percent(1 - facts.fit['share'])} of the warps that could hide waiting for memory are missing"


LESSONS = (
    Lesson(
        "a block is less than a warp",
        lambda facts: _missing_lanes(facts) if facts.block < LANES else 0.0,
        lambda facts: f"a block has {facts.block} thread{'s' * (facts.block > 1)}, a warp 32 lanes",
        lambda facts: f"{LANES - facts.block} of 32 lanes never do anything",
        "give a block 128 or 256 threads, and the grid so many fewer blocks",
        hides=(*_SPREAD, "lanes wait", "few blocks fit"),
        limiters=_LANES_WORK,
    ),
    Lesson(
        "a warp is not filled",
        lambda facts: _missing_lanes(facts) if facts.block > LANES else 0.0,
        lambda facts: f"{facts.block} threads are {facts.block / LANES:.4g} warps: the last one is not full",
        lambda facts: f"{_percent(_missing_lanes(facts))} of all lanes never do anything",
        "make the block a multiple of 32 threads",
        limiters=_LANES_WORK,
    ),
    Lesson(
        "one thread works, the others wait",
        _busy_one,
        lambda facts: f"{_percent(_busy_one(facts))} of the instructions are those of one or two lanes",
        lambda facts: f"in that time {LANES - 1} of 32 lanes wait, and so do the block's other warps",
        "let the block do it together: a tree in shared memory, or __shfl_down_sync within a warp",
        line=_few,
        hides=("branches part warps", "lanes wait", *_SPREAD),
        limiters=(*_LANES_WORK, "latency"),
    ),
    Lesson(
        "most of the GPU has no block",
        _idle_processors,
        lambda facts: f"{facts.blocks} blocks for {facts.multiprocessors} multiprocessors",
        lambda facts: f"{_percent(_idle_processors(facts))} of the multiprocessors have nothing to do",
        "let more blocks share the work: fewer elements a thread, or another dimension of the grid",
        of_grid=True,
        hides=("the last wave is not full",),
        limiters=ON_SM,
    ),
    Lesson(
        "the last wave is not full",
        lambda facts: _last_wave(facts) * 0.8,
        lambda facts: f"{facts.blocks} blocks are {_waves(facts):.3g} waves of {facts.together}",
        lambda facts: f"{_percent(_last_wave(facts))} of the places stay empty, in the last wave",
        "choose a grid that is a multiple of a wave, or a grid-stride loop with exactly one",
        of_grid=True,
    ),
    Lesson(
        "accesses are not coalesced",
        _APART.share,
        _APART.number,
        _APART.costs,
        "let neighbouring threads access neighbouring elements, or go through a tile in shared memory",
        line=_APART.at,
        limiters=_SECTORS,
    ),
    Lesson(
        "accesses are not aligned",
        _UNALIGNED.share,
        _UNALIGNED.number,
        _UNALIGNED.costs,
        "begin every row, and every warp's part of it, at a multiple of 32 bytes: pad the rows "
        "(cudaMallocPitch), or load a halo apart from the tile",
        line=_UNALIGNED.at,
        limiters=_SECTORS,
    ),
    Lesson(
        "atomics wait for each other",
        _met,
        lambda facts: f"{facts.requests('atom', 'red'):,.0f} atomics of warps reach global memory",
        lambda facts: "those at one address, or in one slice of L2, take place one after the other",
        "add up within a warp (__reduce_add_sync) or a block first, and let one thread of it do the atomic",
        line=lambda counts: counts.requests("atom", "red"),
        limiters=("atomics",),
        wasted=lambda facts: 1.0,
    ),
    Lesson(
        "banks conflict",
        _conflicted,
        lambda facts: f"{facts.conflicts:,.0f} of {facts.passes:,.0f} passes over shared memory are repeats",
        lambda facts: (
            f"accesses to shared memory take {_share(facts.passes, facts.passes - facts.conflicts):.3g} "
            "times as long"
        ),
        "pad rows by one element, or let neighbouring threads use neighbouring words",
        line=lambda counts: counts.conflicts,
        limiters=("shared",),
    ),
    Lesson(
        "atomics meet in shared memory",
        lambda facts: _share(facts.collisions, facts.passes + facts.sectors() / 4),
        lambda facts: f"{facts.collisions:,.0f} of {facts.passes:,.0f} passes over shared memory are repeats",
        lambda facts: "lanes whose atomics go to one bank, or to one word, take turns",
        "keep a copy of the counters for each warp or few lanes and add them up at the end, or let one lane "
        "count equal keys (__match_any_sync)",
        line=lambda counts: counts.collisions,
        limiters=("shared",),
    ),
    Lesson(
        "branches part warps",
        _parting,
        lambda facts: f"at {facts.parted:,.0f} of {facts.branches:,.0f} branches the lanes of a warp part",
        lambda facts: (
            f"{facts.lanes:.3g} of 32 lanes are active on average: the two ways run one after the other"
        ),
        "let whole warps decide alike: compare with multiples of 32, or sort the work first",
        line=lambda counts: counts.idle,
        limiters=_LANES_WORK,
    ),
    Lesson(
        "lanes wait",
        _waiting,
        lambda facts: f"{facts.lanes:.3g} of 32 lanes are active on average",
        lambda facts: f"{_percent(_waiting(facts))} of the lanes' time is lost",
        "give the threads that a guard sends home work, or make the block fit the data",
        line=lambda counts: counts.idle,
        limiters=_LANES_WORK,
    ),
    Lesson(
        "shared memory leaves room for few blocks",
        _of_shared,
        _fit_number,
        _fit_costs,
        "a narrower tile, a smaller type, or more threads for the same tile",
        limiters=("latency",),
        wasted=_missing_warps,
    ),
    Lesson(
        "registers leave room for few blocks",
        _of_registers,
        _fit_number,
        _fit_costs,
        "__launch_bounds__, fewer values at once in a thread, or smaller blocks",
        limiters=("latency",),
        wasted=_missing_warps,
    ),
    Lesson(
        "few blocks fit",
        _of_blocks,
        _fit_number,
        _fit_costs,
        "larger blocks: a multiprocessor holds only so many, however small they are",
        limiters=("latency",),
        wasted=_missing_warps,
    ),
    Lesson(
        "registers do not suffice",
        _spilt,
        lambda facts: f"{facts.local:,.0f} sectors of local memory move",
        lambda facts: f"{_percent(_spilt(facts))} of the memory traffic is that of the threads' own arrays",
        "index such arrays by constants (#pragma unroll), or keep fewer values",
        line=lambda counts: counts.local,
        limiters=_SECTORS,
    ),
    Lesson(
        "the same data is loaded again",
        _again,
        lambda facts: (
            f"loads ask for {_share(SECTOR * facts.sectors('ld'), facts.dram):.3g} times the bytes that "
            "DRAM moves"
        ),
        lambda facts: f"{facts.requests('ld'):,.0f} requests go to the caches for data that threads share",
        "load it once into shared memory or registers and let all threads of the block use it",
        line=lambda counts: counts.sectors("ld"),
        hides=_SPREAD,
        limiters=_SECTORS,
    ),
)
