"""The model of kernel times: against an H200's times, the course notes' P100, and itself."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench.kernel_time.page import load_of
from warpglass import devices
from warpglass.models.kernel_time import Atomics, Load, Refused, predict

HERE = Path(__file__).parent
# The notes' run on a P100 (2^24 doubles), in seconds; they validate the model and nothing was fitted to them.
NOTES = {
    "neighbored": 0.002044,
    "neighbored_less": 0.001141,
    "interleaved": 0.000958,
    "unroll2": 0.000620,
    "unroll4": 0.000382,
    "unroll8": 0.000318,
    "unroll_warps8": 0.000306,
    "complete_unroll_warps8": 0.000306,
    "complete_unroll": 0.000305,
}
STREAM = Load(
    blocks=65536,
    warps=8,
    resident=8,
    instructions=65536 * 8 * 10.0,
    pipes={"integer": 65536 * 8 * 4.0, "access": 65536 * 8 * 2.0},
    shared_passes=0,
    requests=65536 * 8 * 2.0,
    lines=65536 * 8 * 4.0,
    bytes=2.0**28,
    l2_reads=2.0**22,
    l2_writes=2.0**22,
    l2_atomics=0,
    l2_read_lines=2.0**20,
    l2_write_lines=2.0**20,
    dram_reads=2.0**22,
    dram_writes=2.0**22,
    lone_reads=0,
    lone_writes=0,
    path_cycles=800,
    barriers=0,
)


def measured_kernels() -> dict[str, tuple[float, float]]:
    """By name, what an H200 measured and what is modelled, in seconds."""
    device = devices.get("h200")
    data = json.loads((HERE / "kernel_times_h200.json").read_text("utf-8"))
    return {
        name: (one["seconds"], predict(load_of(one["load"]), device).seconds) for name, one in data.items()
    }


def error(pairs: list[tuple[float, float]]) -> float:
    return sum(abs(found - right) / right for right, found in pairs) / len(pairs)


def test_error_on_h200() -> None:
    kernels = measured_kernels()
    assert len(kernels) > 100
    assert error(list(kernels.values())) <= 0.10
    ladders: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, pair in kernels.items():
        ladders[name.partition("/")[0]].append(pair)
    assert max(map(error, ladders.values())) <= 0.17
    simple = [pair for name, pair in kernels.items() if name.startswith(("vector/", "reduction/"))]
    assert error(simple) <= 0.10


def test_few_warps_between_barriers_take_turns() -> None:
    """One block of eight warps: what one waits for, nobody fills; in eight blocks there is always another."""
    device = devices.get("h200")
    block = replace(STREAM, blocks=132, resident=1, barriers=1e5, path_cycles=2e5, shared_passes=132 * 1e5)
    block = replace(block, instructions=132 * 4e5)
    alone, free = (predict(replace(block, barriers=n), device) for n in (1e5, 0))
    parts = alone.limits["latency"] + 0.8 * alone.limits["shared"] + alone.limits["issue"] / 2
    assert alone.seconds - alone.launch > parts > free.seconds - free.launch
    hidden = predict(replace(block, path_gaps=1e5), device)
    less = alone.limits["issue"] / 2
    assert hidden.seconds == pytest.approx(alone.seconds - less, rel=0.02)
    many = replace(block, blocks=132 * 8, resident=8)
    assert predict(many, device).seconds < 1.1 * predict(replace(many, barriers=0), device).seconds


def test_few_multiprocessors_do_not_get_all_of_the_second_level() -> None:
    device = devices.get("h200")
    all_, few = (predict(replace(STREAM, blocks=n, pipes={}), device).limits["l2"] for n in (1320, 8))
    assert 6 < few / all_ < 132 / 8


def test_a_part_of_a_sector_takes_as_long_as_all_of_it() -> None:
    """Eight of 32 bytes; where four such stores meet, they take as long as one of all."""
    device = devices.get("h200")
    whole = replace(STREAM, l2_reads=0, l2_read_lines=0, l2_stored=2.0**27)
    part = replace(whole, l2_writes=2.0**24, l2_write_lines=2.0**22)
    met = replace(part, l2_met=2.0**22)
    times = [predict(one, device).limits["l2"] for one in (whole, part, met)]
    assert times[1] > 4 * times[0]
    assert times[2] == pytest.approx(times[0])


def test_nine_of_ten_are_within_the_interval() -> None:
    spread = devices.get("h200").kernel_time["spread"]
    pairs = list(measured_kernels().values())
    inside = sum(found / spread <= right <= found * spread for right, found in pairs)
    assert inside >= 0.9 * len(pairs)


def test_ladders_are_in_the_order_of_the_h200() -> None:
    groups: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for name, pair in measured_kernels().items():
        ladder, table, _, language, size, _ = (*name.split("/"), "", "", "")[:6]
        if ladder == "reduction":
            groups[ladder, table, language, size].append(pair)
    full = [pairs for pairs in groups.values() if len(pairs) >= 3]
    assert full
    for pairs in full:
        for one in pairs:
            for other in pairs:
                if one[0] > 1.15 * other[0]:  # a step that is more than noise
                    assert one[1] > other[1]


def test_steps_of_the_notes_on_a_p100() -> None:
    data = json.loads((HERE / "kernel_loads_p100.json").read_text("utf-8"))
    device = devices.get("p100")
    times = {rung: predict(load_of(data[rung]), device).seconds for rung in NOTES}
    rungs = list(NOTES)
    assert sorted(rungs, key=lambda rung: -times[rung]) == rungs
    for before, after in pairwise(rungs):
        notes, here = NOTES[before] / NOTES[after], times[before] / times[after]
        assert here == pytest.approx(notes, rel=0.25), (before, after)
    total = times[rungs[0]] / times[rungs[-1]]
    assert total == pytest.approx(6.70, rel=0.25)


@pytest.mark.parametrize("name", devices.names())
def test_every_gpu_has_a_time(name: str) -> None:
    device = devices.get(name)
    found = predict(replace(STREAM, resident=2), device)
    least = 2**28 / (1e9 * device.bandwidth_gb_s)
    assert least < found.seconds < 40 * least
    assert found.low < found.seconds < found.high
    assert found.limits[found.limiter] == max(found.limits.values())


def test_a_stream_waits_for_dram() -> None:
    found = predict(STREAM, devices.get("a100"))
    assert found.limiter == "dram"
    assert found.words == "DRAM bandwidth"
    assert found.metrics["gpu__time_duration.sum"] == pytest.approx(1e9 * (found.seconds - found.launch))
    assert 50 < found.metrics["dram__throughput.avg.pct_of_peak_sustained_elapsed"] <= 100


@pytest.mark.parametrize(
    "field", ["instructions", "shared_passes", "dram_reads", "lone_reads", "path_cycles"]
)
def test_more_work_never_takes_less(field: str) -> None:
    device = devices.get("h100")
    more = replace(STREAM, **{field: 3 * getattr(STREAM, field) + 1e6})
    assert predict(more, device).seconds >= predict(STREAM, device).seconds


def test_atomics_that_meet_at_one_place_take_turns() -> None:
    one, many = (
        replace(STREAM, atomics=(Atomics(operations=1e6, lines=1e6, places=n, floats=False),))
        for n in (1, 1e5)
    )
    device = devices.get("h100")
    assert predict(one, device).limiter == "atomics"
    assert predict(one, device).seconds > 3 * predict(many, device).seconds


@pytest.mark.parametrize(
    ("change", "gpu", "reason"),
    [
        ({"waits": True}, "h100", "wait for other blocks"),
        ({"pipes": {"tensor": 1.0}}, "p100", "tensor cores, which .* does not have"),
        ({"operations": frozenset({"?"})}, "h100", "no rates for, as of textures"),
        ({"resident": 0}, "h100", "more than a multiprocessor"),
        ({"operations": frozenset({"SHFL"})}, "gtx280", "shuffles, which .* does not have .*3.0 has them"),
        ({"operations": frozenset({"DADD"})}, "8800gtx", "double precision"),
    ],
)
def test_what_is_not_covered_is_refused(change: dict[str, Any], gpu: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        predict(replace(STREAM, **change), devices.get(gpu))
