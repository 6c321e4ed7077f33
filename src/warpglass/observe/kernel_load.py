"""From what was counted of a launch to what it asks of a GPU: the input of models/kernel_time/.

Belongs here: sorting machine instructions into execution units, the latency that each memory instruction
meets by where the simulated caches found its data, and the path of a block's busiest warp.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..devices import Device
from ..models.caches import LINE, Traffic, sum_traffic
from ..models.kernel_time import Atomics, Load, Rates, rates_of
from ..models.memory_rules import FirstLevel, rules_of
from ..program import Program
from ..program.fairness import find_block_waits
from ..sass.counts import by_line
from ..sass.decode import Instruction
from ..sass.estimate import Executed, block_runs, execute
from ..sass.operations import TENSOR
from ..sass.schedule import Path, path_of
from ..sass.translate import Translation
from .counting import Tally
from .met_stores import met_stores
from .profiling import line_counts
from .tensor_work import tensor_work

_MULTIPLY = ("IMAD", "IDP", "UIMAD")
_SPECIAL = ("MUFU", "I2F", "F2I", "F2F", "FRND", "I2I", "POPC", "FLO", "BREV", "FCHK", "UI2F")
_EXCHANGE = ("SHFL", "REDUX", "MATCH", "CREDUX")
_PACKED = ("HADD2", "HFMA2", "HMUL2", "HSETP2", "HSET2", "HMNMX2")
_COMPARES = ("FSEL", "FSETP", "FSET", "FMNMX", "FMNMX3")  # floating point, by the integer units
# Clocks from an instruction to its result, where neither memory nor a pipeline's depth tells.
_EXCHANGE_CLOCKS, _SPECIAL_CLOCKS, _CONSTANT_CLOCKS, _OTHER_CLOCKS = 24.0, 24.0, 30.0, 16.0


@dataclass(frozen=True, slots=True)
class Counted:
    """What a launch was counted with: instructions, the first warps', caches by site, and the counters.

    `sites` has the traffic by number of the step and whether it writes; `leaders` how often a block's first
    warp ran each step and with how many lanes.
    """

    program: Program
    tallies: Sequence[Tally]
    leaders: Mapping[int, tuple[int, int]]
    sites: Mapping[tuple[int, bool], Traffic]
    counters: Mapping[str, float]
    local: int  # bytes of local memory of a thread
    l1_bytes: int  # of a multiprocessor
    executed: tuple[Executed, ...] = ()  # of the GPU's own machine code, where that is known


def kernel_load(
    counted: Counted,
    translation: Translation,
    grid: Sequence[int],
    block: Sequence[int],
    resident: int,
    device: Device,
) -> Load:
    """What a launch asks of a GPU that holds `resident` of its blocks on a multiprocessor."""
    program, counters, rates = counted.program, counted.counters, rates_of(device)
    blocks, warps = prod(grid), -(-prod(block) // 32)
    executed = counted.executed or execute(translation, line_counts(program, counted.tallies))
    pipes = _pipes(executed, counted.tallies, device)
    path = _path(counted, translation, executed, blocks, warps, rates)
    spilt = _spilt(counted, counted.local * prod(block) * resident, device)
    traffic = sum_traffic((*counted.sites.values(), *spilt))
    uncached = rules_of(device.capability).first_level is FirstLevel.NONE
    return Load(
        blocks=blocks,
        warps=warps,
        resident=resident,
        instructions=float(sum(item.warps for item in executed)),
        pipes=pipes,
        shared_passes=counters.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0.0),
        requests=_sum(counters, _REQUESTS, (*_GLOBAL, *_LOCAL)),
        lines=_sum(counters, "l1tex__t_set_accesses_pipe_lsu_mem_{}.sum", _GLOBAL),
        bytes=_sum(counters, "smsp__sass_data_bytes_mem_{}.sum", _GLOBAL)
        + LINE * _sum(counters, _REQUESTS, _LOCAL),
        l2_reads=traffic.l2_reads,
        l2_writes=traffic.l2_writes,
        l2_atomics=traffic.l2_atomics,
        l2_stored=counters.get(_STORED, 0.0) + _kept(counted.tallies),
        l2_met=met_stores(program, counted.tallies) + spilt[1].l2_writes,
        l2_read_lines=_lines(counted.sites, write=False) + spilt[0].l2_lines,
        l2_write_lines=_lines(counted.sites, write=True) + spilt[1].l2_lines,
        dram_reads=_uncached(counters, "ld") if uncached else traffic.dram_reads,
        dram_writes=_uncached(counters, "st") if uncached else traffic.dram_writes,
        lone_reads=traffic.lone_reads,
        lone_writes=traffic.lone_writes,
        path_cycles=path.clocks,
        path_gaps=path.gaps,
        barriers=float(sum(one.warps for one in executed if one.instruction.operation.control == "barrier")),
        atomics=tuple(_atomics(counted, executed)),
        operations=frozenset(item.instruction.name for item in executed if item.warps),
        waits=bool(program.grid_waits or find_block_waits(program.blocks, program.registers, program.live)),
    )


_STORED = "smsp__sass_data_bytes_mem_global_op_st.sum"
_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_{}.sum"
_GLOBAL = tuple(f"global_op_{kind}" for kind in ("ld", "st", "atom", "red"))
_LOCAL = ("local_op_ld", "local_op_st")


def _sum(counters: Mapping[str, float], name: str, kinds: Sequence[str]) -> float:
    return sum(counters.get(name.format(kind), 0.0) for kind in kinds)


def _uncached(counters: Mapping[str, float], kind: str) -> float:
    """Sectors of global loads or stores, which all move where no cache has them."""
    return counters.get(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum", 0.0)


def _lines(sites: Mapping[tuple[int, bool], Traffic], *, write: bool) -> float:
    """Lines that loads, or stores, touch at the second level; atomics have a limiter of their own."""
    return sum(one.l2_lines for (_, writes), one in sites.items() if writes == write and not one.l2_atomics)


def _kept(tallies: Sequence[Tally]) -> float:
    """Bytes that stores carry to local memory, where each word of a thread is a request."""
    rows = [
        (tally, tally.accesses[place]) for tally in tallies if (place := ("local", True)) in tally.accesses
    ]
    return sum(4.0 * row[0] * tally.threads / tally.warps for tally, row in rows if tally.warps)


def _spilt(counted: Counted, footprint: int, device: Device) -> tuple[Traffic, Traffic]:
    """Local memory's loads and stores, as traffic of the second level and of DRAM.

    All stores go to the second level, but only those loads for which the first has no room, and to DRAM goes
    that for which the second has none. `footprint` has the bytes of the blocks of a multiprocessor.
    """
    share = max(0.0, 1 - counted.l1_bytes / footprint) if footprint else 0.0
    beyond = max(0.0, 1 - 1024 * device.l2_kib / (footprint * device.multiprocessors)) if footprint else 0.0
    found: list[Traffic] = []
    for write in (False, True):
        rows = [
            row
            for tally in counted.tallies
            for place, row in tally.accesses.items()
            if place == ("local", write)
        ]
        part = 1.0 if write else share
        sectors, lines = (round(part * sum(row[k] for row in rows)) for k in (1, 2))
        far = round(beyond * share * sum(row[1] for row in rows))
        way = "writes" if write else "reads"
        moved = {f"l2_{way}": sectors, f"dram_{way}": far}
        found.append(replace(sum_traffic(()), l2_lines=lines, **moved))
    return found[0], found[1]


# ---------------------------------------------------------------------------------------- execution units
def _pipes(executed: Sequence[Executed], tallies: Sequence[Tally], device: Device) -> dict[str, float]:
    """Instructions of warps by the units that run them; of tensor cores, their products."""
    found: dict[str, float] = defaultdict(float, tensor_work(tallies, device.capability))
    for item in executed:
        for name in _units(item.instruction):
            found[name] += float(item.warps)
    if device.capability < (7, 0):  # the same units do both; before, only 5.x and 6.x multiply in parts
        found["shared units"] = found.pop("fp32", 0.0) + found.pop("integer", 0.0)
    return dict(found)


def _units(item: Instruction) -> tuple[str, ...]:
    name, kind = item.name, item.operation.kind
    if name in TENSOR:
        return ()  # by what they multiply
    if name in _SPECIAL:
        return ("special",)
    if name in _EXCHANGE or (item.access and name != "LDGSTS") or name == "LDGSTS":
        return ("access",)
    if name in _PACKED:
        return ("fp16",)
    if kind == "fp64":
        return ("fp64",)
    if name in _MULTIPLY:
        return ("multiply", "fp32") if name != "UIMAD" else ()
    if kind == "fp32" and name not in _COMPARES:
        return ("fp32",)
    return ("integer",) if kind in ("integer", "bit", "fp32") or name == "MOV" else ()


# ---------------------------------------------------------------------------------------- latency
def _path(
    counted: Counted,
    translation: Translation,
    executed: Sequence[Executed],
    blocks: int,
    warps: int,
    rates: Rates,
) -> Path:
    """The time of a block's busiest warp."""
    runs = _runs(counted, translation, executed, blocks, warps)
    memory = _memory_clocks(counted, rates)

    def latency(item: Instruction) -> float:
        if item.operation.control == "barrier":
            return rates.barrier(warps)
        if item.access:
            return memory.get(item.line, rates.shared if item.operation.space == "shared" else rates.l1)
        if item.name in ("LDC", "ULDC", "LDCU"):
            return _CONSTANT_CLOCKS
        if item.name in _EXCHANGE:
            return _EXCHANGE_CLOCKS
        if item.name in _SPECIAL:
            return _SPECIAL_CLOCKS
        return max(_OTHER_CLOCKS, 4 * rates.dependent)

    return path_of(translation, runs, latency, rates.dependent / 4)


def _runs(
    counted: Counted, translation: Translation, executed: Sequence[Executed], blocks: int, warps: int
) -> list[float]:
    """How often a block's busiest warp runs each block of the machine code: the first, or one of the mean."""
    warps_of = {id(one.instruction): one.warps for one in executed}
    every = [
        next((warps_of[id(item)] for item in block.instructions if id(item) in warps_of), 0)
        for block in translation.graph.blocks
    ]
    mean = [float(number) / (blocks * warps) for number in every]
    leaders = counted.leaders
    if all(
        (one.warps, one.threads) == tuple(warps * k for k in leaders[one.step.number])
        for one in counted.tallies
    ):
        return mean  # all warps do the same
    parted = {tally.step.number: tally.divergent for tally in counted.tallies}
    leading = {number: (*ran, min(parted.get(number, 0), ran[0])) for number, ran in leaders.items()}
    first = block_runs(translation, by_line(counted.program, leading))
    return [max(float(own) / blocks, other) for own, other in zip(first, mean, strict=True)]


def _memory_clocks(counted: Counted, rates: Rates) -> dict[int, float]:
    """By PTX line of an access, the clocks until its data is there."""
    steps = {
        step.number: step.instruction.line for block in counted.program.blocks for step in block.all_steps
    }
    by_place: dict[int, list[Traffic]] = {}
    for (number, _), traffic in counted.sites.items():
        by_place.setdefault(steps[number], []).append(traffic)
    found: dict[int, float] = {}
    for line, parts in by_place.items():
        found[line] = _level_clocks(sum_traffic(parts), rates)
    for tally in counted.tallies:
        for (space, _), row in tally.accesses.items():
            if space == "shared" and tally.warps:
                passes = row[1] / tally.warps
                found.setdefault(tally.step.instruction.line, rates.shared + max(0.0, passes - 1))
            elif space != "shared" and row[0] and tally.step.instruction.line in found:
                found[tally.step.instruction.line] += row[2] / row[0] - 1
    return found


def _level_clocks(one: Traffic, rates: Rates) -> float:
    """Clocks of an access by where its sectors were found, or were on their way from."""
    if one.l2_atomics:
        return rates.l2 + 4 * rates.dependent
    if not one.l1_sectors:
        return rates.l1
    first, middle, last = one.first_l1, one.first_l2, one.first_dram
    if not first + middle + last:  # the first warps have none: all warps stand for them
        first, last = one.l1_hits - one.l1_waits, one.dram_reads + one.dram_waits
        middle = max(0, one.l1_sectors - first - last)
    return (first * rates.l1 + middle * rates.l2 + last * rates.dram) / (first + middle + last)


# ---------------------------------------------------------------------------------------- atomics
def _atomics(counted: Counted, executed: Sequence[Executed]) -> list[Atomics]:
    """The atomic operations of each instruction on global memory."""
    made = Counter[int]()
    for one in executed:
        if one.instruction.access in ("atomic", "reduction") and one.instruction.operation.space != "shared":
            made[one.instruction.line] += int(one.threads)
    found: list[Atomics] = []
    tallies = {tally.step.number: tally for tally in counted.tallies}
    for (number, write), traffic in counted.sites.items():
        if not traffic.l2_atomics or not write:
            continue
        tally = tallies[number]
        operations = made.get(tally.step.instruction.line) or tally.threads
        found.append(
            Atomics(
                operations=operations,
                lines=min(operations, traffic.l2_lines),
                places=max(1, traffic.l2_atomics - traffic.l2_hits),
                floats=not {"f32", "f64", "f16", "f16x2", "bf16"}.isdisjoint(
                    tally.step.instruction.modifiers
                ),
            )
        )
    return found
