"""The parts of a GPU that a kernel may wait for, and how long each needs for all that the kernel asks of it.

Belongs here: one function a limiter. Their times would add up if nothing overlapped; the longest alone would
count if all did. prediction.py says what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .load import Load
from .rates import Rates

# What each limiter is called in a sentence: "limited by ...".
LAUNCH = "the launch itself"
WORDS: Mapping[str, str] = {
    "issue": "instruction issue",
    "fp32": "FP32 units",
    "integer": "integer units",
    "multiply": "integer multipliers",
    "shared units": "arithmetic units",
    "fp64": "FP64 units",
    "fp16": "FP16 units",
    "special": "special-function units",
    "tensor": "tensor cores",
    "access": "the load/store units",
    "shared": "shared memory and L1 data",
    "tags": "L1 lookups",
    "l2": "L2 bandwidth",
    "dram": "DRAM bandwidth",
    "atomics": "atomics that meet",
    "latency": "latency",
    "barriers": "barriers",
    "blocks": "starting blocks",
}


def times(load: Load, rates: Rates) -> dict[str, float]:
    """Seconds that every limiter needs, the launch itself apart."""
    busy = _busiest(load, rates)
    found = {
        name: seconds(load, rates) * (busy if on_sm else 1.0) for name, (seconds, on_sm) in _LIMITERS.items()
    }
    for name, count in load.pipes.items():
        if count and name in rates.pipes:
            more = _more(load, rates) if name == "shared units" else 0.0
            found[name] = busy * _each((count + more) / rates.pipes[name], rates)
    return {name: seconds for name, seconds in found.items() if seconds}


def _busiest(load: Load, rates: Rates) -> float:
    """What the multiprocessor with most blocks does, over the average of all."""
    sms = rates.multiprocessors
    share = load.blocks / sms
    if share <= 1:
        return sms / load.blocks
    held = load.resident
    if share >= 4 * held:  # blocks that end early make room: the last wave overlaps
        return 1 + 0.5 / share
    return -(-load.blocks // sms) / share


def _each(clocks: float, rates: Rates) -> float:
    """Seconds of clocks that all multiprocessors share."""
    return clocks / rates.multiprocessors / rates.clock


def _issue(load: Load, rates: Rates) -> float:
    return _each((load.instructions + _more(load, rates)) / rates.issue, rates)


def _more(load: Load, rates: Rates) -> float:
    """Instructions that this GPU needs for multiplications beyond those of the code that was counted."""
    return (rates.multiply_parts - 1) * load.pipes.get("multiply", 0.0)


def _access(load: Load, rates: Rates) -> float:
    return _each(load.pipes.get("access", 0.0) / rates.access, rates)


def _shared(load: Load, rates: Rates) -> float:
    return _each((load.shared_passes + max(load.bytes / 128, load.requests)) / rates.passes, rates)


def _tags(load: Load, rates: Rates) -> float:
    return _each(load.lines / rates.lines, rates)


def _barriers(load: Load, rates: Rates) -> float:
    return _each(load.barriers / rates.barriers, rates)


def _l2(load: Load, rates: Rates) -> float:
    """Sectors, or of reads where few of a line are wanted, lines; few multiprocessors do not get all of it.

    A store of a part of its sectors takes as long as one of all of them, and something more for every line.
    """
    written = min(load.l2_writes, load.l2_met)
    filled = min(1.0, load.l2_stored / (32 * written)) if written else 1.0
    masked = min(1.0, 2 * (1 - filled)) * min(load.l2_write_lines, written)
    active = min(load.blocks, rates.multiprocessors) / rates.multiprocessors
    wide, narrow = (min(1.0, alone * active) for alone in (_BYTES_ALONE, _LINES_ALONE))
    reads = max(32 * load.l2_reads / rates.l2_read / wide, load.l2_read_lines / rates.l2_read_lines / narrow)
    each = max(0.0, 1 / rates.l2_write_lines - 32 / rates.l2_write)  # rates of lines are of one sector each
    return reads + 32 * written / rates.l2_write / wide + masked * each / narrow


# What a multiprocessor gets of the second level that is alone, over its share where all ask: an H100's.
_BYTES_ALONE, _LINES_ALONE, _ATOMICS_ALONE = 2.4, 1.8, 3.0


def _dram(load: Load, rates: Rates) -> float:
    """Sectors, those that move alone for several; reading and writing in turns takes a little longer."""
    read = 32 * (load.dram_reads + (rates.lone_read - 1) * load.lone_reads) / rates.dram_read
    write = 32 * (load.dram_writes + (rates.lone_write - 1) * load.lone_writes) / rates.dram_write
    return (read + write) * (1 + _TURNS * read * write / (read + write) ** 2) if read + write else 0.0


_TURNS = 0.32  # a copy takes 8 % longer than reading and writing apart


def _atomics(load: Load, rates: Rates) -> float:
    """Operations and their lines, of all slices, of those slices that have the places, of one place."""
    clocks = 0.0
    lines = rates.atomic_lines * min(1.0, _ATOMICS_ALONE * load.blocks / rates.multiprocessors)
    for one in load.atomics:
        together = min(8.0, max(1.0, one.operations / max(one.lines, one.places)))  # places of a sector
        slices = max(1.0, one.places / _SLICE)
        place = rates.atomic_place_float if one.floats else rates.atomic_place
        clocks += max(
            one.operations / rates.atomics,
            one.lines / min(lines, slices),
            one.operations / (rates.atomic_slice * slices),
            one.operations / (one.places * together) * place,
        )
    return clocks / rates.clock


_SLICE = 32.0  # neighbouring sectors that one slice of the second level has


def _latency(load: Load, rates: Rates) -> float:
    """Waves of blocks, one after the other, each as long as a block's busiest warp."""
    share = load.blocks / rates.multiprocessors
    waves = max(1.0, share / load.resident)
    if waves < 4:
        waves = float(-(-load.blocks // (rates.multiprocessors * load.resident)))
    return waves * (load.path_cycles + _NEXT_BLOCK) / rates.clock


_NEXT_BLOCK = 200.0  # clocks from a block's last instruction to its successor's first


def _blocks(load: Load, rates: Rates) -> float:
    return max(load.blocks / rates.blocks, load.all_warps / rates.warps / rates.multiprocessors) / rates.clock


_LIMITERS: Mapping[str, tuple[Callable[[Load, Rates], float], bool]] = {
    "issue": (_issue, True),
    "access": (_access, True),
    "shared": (_shared, True),
    "tags": (_tags, True),
    "l2": (_l2, False),
    "dram": (_dram, False),
    "atomics": (_atomics, False),
    "latency": (_latency, False),
    "barriers": (_barriers, True),
    "blocks": (_blocks, False),
}
