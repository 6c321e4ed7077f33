"""The cost model of the odd-even sort beside the times of a bench.

Belongs here: which rows of the record the model needs, its words and its tables. The arithmetic is
model.py's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import devices
from ...records.bench import Record, Row
from ...report.figures import LANGUAGES, format_ratio, format_seconds
from ..view import Section, TextTable
from .model import Costs, Waves

# What one block of a many-block rung sorts with.
ONE_BLOCK = {"multi_block": "one_block", "multi_block_split": "one_block_split"}
HOST = "host_oddeven"
NOTES = ("8800ultra", "gtx280", "c1060")  # the cards that the notes measured
NOTES_R1 = 1.9


def cost_model(record: Record) -> tuple[Section, ...]:
    """What the model makes of the times, if the rungs that it needs have run."""
    found = list(_costs(record))
    if not found:
        return ()
    costs = found[0][1]
    parts = (
        f"One block sorts B = {costs.span} elements in T1, the host N = {costs.size} in TH (odd-even, "
        f"{format_seconds(costs.host_seconds)}); G = {costs.blocks} blocks.",
        _times(found),
        "R1 = beta / alpha, TG = (2G - 1) G T1, RG = TH / TM, transfers included; RG is about R1 MP / 2, so "
        f"MP = 2 RG / R1 (the notes: R1 = {NOTES_R1}, RG about MP).",
        "The notes measured RG = 17.2 on 16 multiprocessors (8800 GTX Ultra), 28.8 and 30.4 on 30 (GTX 280), "
        "27.0 and 31.1 on 30 (C1060).",
        f"Each element moved serves B / 4 = {costs.comparisons_per_element_moved:g} comparisons, so "
        "transfers hardly count. (The notes reckon with 512 elements, 128; their blocks sort 1024, 256.)",
        "",
        f"Waves: {costs.blocks} blocks in pass a, one a multiprocessor at a time",
        _waves(costs.blocks, record),
        "The notes' own: 128 blocks on a GTX 280's 30 multiprocessors are 5 waves with 22 idle in the last, "
        f"{Waves(128, 30).busy:.0%} busy; 256 blocks are {Waves(256, 30).busy:.0%} busy.",
    )
    return (Section("The notes' cost model beside these times", parts),)


def _costs(record: Record) -> Iterator[tuple[Row, Costs]]:
    rows = {(row.rung, row.language): row for row in record.rows if row.seconds}
    host = rows.get((HOST, "python"))
    for (rung, language), row in rows.items():
        block = rows.get((ONE_BLOCK.get(rung, ""), language))
        if host is None or block is None or not isinstance(row.block, int) or block.size != 2 * row.block:
            continue
        if row.size < block.size or not host.seconds or not block.seconds or not row.seconds:
            continue
        seconds = row.seconds + (row.transfer_seconds or 0.0)
        yield row, Costs(block.size, row.size, block.seconds, host.seconds, seconds)


def _times(found: list[tuple[Row, Costs]]) -> TextTable:
    rows = (
        (
            format_seconds(costs.block_seconds),
            f"{costs.alpha * 1e9:.3f} ns",
            f"{costs.beta * 1e9:.3f} ns",
            format_ratio(costs.block_ratio),
            format_seconds(costs.one_by_one),
            format_seconds(costs.grid_seconds),
            format_ratio(costs.grid_ratio),
            f"{costs.multiprocessors:.1f}",
            row.rung,
            LANGUAGES[row.language],
        )
        for row, costs in found
    )
    headings = ("T1", "alpha", "beta", "R1", "TG", "TM measured", "RG", "MP", "rung", "lang")
    return TextTable(headings, tuple(rows), texts=2)


def _waves(blocks: int, record: Record) -> TextTable:
    dealt = ((device.name, Waves(blocks, device.multiprocessors)) for device in _gpus(record))
    rows = (
        (str(waves.multiprocessors), str(waves.count), str(waves.idle), f"{waves.busy:.0%}", name)
        for name, waves in dealt
    )
    headings = ("multiprocessors", "waves", "idle in the last", "busy", "GPU")
    return TextTable(headings, tuple(rows), texts=1)


def _gpus(record: Record) -> list[devices.Device]:
    """The GPU of the bench, or the one that it counted for, and those of the notes."""
    own = record.device.partition(" (")[0] if record.backend == "gpu" else record.counted_for or "h100"
    try:
        first = [devices.get(own)]
    except devices.UnknownDevice:
        first = []
    return [*first, *(devices.get(name) for name in NOTES)]
