"""Occupancy: an H100's own limits on 29 kernels, worked examples, old architectures, and what would help."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warpglass import devices
from warpglass.devices.device import capabilities, limits_of
from warpglass.errors import ArgumentError
from warpglass.models.nsight_occupancy import driver_shared, nsight_metrics
from warpglass.models.occupancy import (
    BARRIERS,
    BLOCKS,
    REGISTERS,
    SHARED,
    WARPS,
    Demand,
    at_threads,
    best_block,
    curve,
    occupancy,
)
from warpglass.models.occupancy_gain import gains

TRUTH: list[dict[str, Any]] = json.loads(Path(__file__).with_name("occupancy_h100.json").read_text("utf-8"))


def fits(gpu: str, *args: Any, **kwargs: Any):
    return occupancy(Demand(*args, **kwargs), devices.get(gpu).limits)


# ---------------------------------------------------------------------------------------- hardware
@pytest.mark.parametrize("case", TRUTH, ids=lambda case: case["id"])
def test_limits_and_occupancy_are_an_h100s(case: dict[str, Any]):
    """Nsight Compute 2025.3 on an H100; registers as its driver reports them."""
    h100 = devices.get("h100")
    shown = case["metrics"]
    demand = Demand(
        threads=case["threads"],
        registers=case["driver_registers"],
        static_shared=int(shown["launch__shared_mem_per_block_static"]),
        dynamic_shared=int(shown["launch__shared_mem_per_block_dynamic"]),
        barriers=1,
    )
    ours = nsight_metrics(occupancy(demand, h100.limits), case["blocks"], h100.multiprocessors)
    assert {name: round(value, 2) for name, value in ours.items()} == shown


@pytest.mark.parametrize("capability", capabilities(), ids=lambda one: "{}.{}".format(*one))
def test_the_drivers_choice_of_shared_memory_costs_nothing(capability: tuple[int, int]):
    limits = limits_of(capability)
    rng = random.Random(4)
    for _ in range(300):
        demand = Demand(rng.randint(1, 1024), rng.randint(0, 63), rng.randint(0, 48 * 1024))
        fit = occupancy(demand, limits)
        if fit.blocks and fit.allocated_shared:
            assert driver_shared(fit) // fit.allocated_shared >= fit.blocks


@pytest.mark.parametrize(
    ("capability", "threads", "registers", "static", "dynamic", "kib"),
    [
        ((8, 0), 32, 16, 0, 0, 32),
        ((8, 0), 256, 106, 0, 49152, 100),
        ((8, 6), 256, 16, 0, 0, 8),
        ((8, 7), 128, 16, 0, 0, 16),
        ((8, 9), 256, 36, 0, 0, 16),
        ((9, 0), 1024, 31, 12288, 0, 32),
        ((12, 0), 128, 40, 0, 0, 32),
    ],
)
def test_the_drivers_choice_in_published_reports(
    capability: tuple[int, int], threads: int, registers: int, static: int, dynamic: int, kib: int
):
    """Block, registers, shared memory and "Shared Memory Configuration Size" of one Nsight report each."""
    fit = occupancy(Demand(threads, registers, static, dynamic), limits_of(capability))
    assert driver_shared(fit) == kib * 1024


# ---------------------------------------------------------------------------------------- worked examples
@pytest.mark.parametrize(
    ("threads", "blocks", "by_warps", "by_threads"),
    [(32 * 32, 2, 1, 1), (8 * 8, 32, 1, 1), (64 * 64, 0, 0, 0), (4 * 4, 32, 1 / 2, 1 / 4)],
)
def test_gtx_980(threads: int, blocks: int, by_warps: float, by_threads: float):
    fit = fits("gtx980", threads, 0)
    assert (fit.blocks, fit.share, fit.thread_share) == (blocks, by_warps, by_threads)


def test_all_limiting_factors_are_named():
    fit = fits("h100", 256, 32)
    assert (fit.blocks, fit.limiting) == (8, (REGISTERS, WARPS))
    assert fits("gtx980", 64, 0).limiting == (WARPS, BLOCKS)
    assert fits("h100", 256, 32, 28000).limiting == (REGISTERS, WARPS, SHARED)
    assert fits("h100", 32, 16, barriers=4).limiting == (BARRIERS,)


def test_compute_capability_1_allocates_registers_per_block():
    # 8800 GTX: 10 registers in 256 threads are 2560, in steps of 256; 8192 hold three such blocks.
    blocks = {registers: fits("8800gtx", 256, registers).blocks for registers in (10, 11, 16, 17, 32, 33)}
    assert blocks == {10: 3, 11: 2, 16: 2, 17: 1, 32: 1, 33: 0}
    # An odd number of warps counts as the next even one: 3 warps of 20 registers as 4.
    assert fits("8800gtx", 96, 20).allocated_registers == 4 * 20 * 32
    assert fits("gtx280", 96, 20).allocated_registers == 2560  # steps of 512 from 1.2 on
    # 5200 bytes take 5632 of 16384, in steps of 512.
    assert (fits("gtx280", 64, 8, 5200).allocated_shared, fits("gtx280", 64, 8, 5200).blocks) == (5632, 2)
    assert fits("gtx280", 513, 1).blocks == 0


def test_compute_capability_2_allocates_registers_per_warp():
    # M2070: 20 registers are 640 a warp; 16384 of each half of the registers hold 25 warps.
    assert fits("m2070", 192, 20).allowed[REGISTERS] == 50 // 6
    # 21 registers are 672, in steps of 128 instead of 64: 768.
    assert fits("m2070", 192, 21).allocated_registers == 6 * 768
    assert fits("m2070", 192, 23).allocated_registers == 6 * 768
    assert fits("m2070", 192, 64).blocks == 0
    # Preferring the L1 leaves 16 KiB of shared memory.
    assert fits("m2070", 64, 8, 4096).blocks == 8
    assert fits("m2070", 64, 8, 4096, carveout=0).blocks == 4


def test_p100_refuses_blocks_that_other_pascals_could_not_hold():
    # 255 registers, 8192 a warp: a multiprocessor of two parts holds 8 warps; 5 of four parts count as 8.
    assert fits("p100", 5 * 32, 255).blocks == 1
    assert fits("p100", 7 * 32, 255).blocks == 1
    assert fits("p100", 9 * 32, 255).blocks == 0


def test_carveout():
    # 25 % of 228 KiB is 57, the next configuration 64 KiB: 6 blocks of 10240 + 1024 do not fit, 5 do.
    fit = fits("h100", 64, 16, 10240, carveout=25)
    assert (fit.shared_per_sm, fit.blocks) == (64 * 1024, 5)
    # A preference below what one block takes is overridden by the block, and by no more.
    assert fits("h100", 64, 16, 10240, carveout=0).blocks == 1


def test_more_than_the_default_needs_opting_in():
    assert fits("h100", 64, 16, 0, 100_000).blocks == 2
    assert fits("h100", 64, 16, 0, 100_000, opted_in=False).blocks == 0
    assert fits("h100", 64, 16, 0, 227 * 1024).blocks == 1
    assert fits("h100", 64, 16, 0, 227 * 1024 + 1).blocks == 0


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"threads": 0}, "at least 1 thread, not 0"),
        ({"registers": -1}, "registers cannot be -1"),
        ({"static_shared": -4}, "static shared cannot be -4"),
        ({"carveout": 101}, "0 to 100 percent, not 101"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, int], text: str):
    with pytest.raises(ArgumentError, match=text):
        occupancy(replace(Demand(32, 32), **wrong), limits_of((9, 0)))


# ---------------------------------------------------------------------------------------- block sizes
def test_curve_covers_every_block_size():
    fits_ = curve(Demand(256, 40), limits_of((9, 0)))
    assert [fit.demand.threads for fit in fits_] == list(range(1, 1025))
    assert fits_[255].share == occupancy(Demand(256, 40), limits_of((9, 0))).share


def test_shared_memory_may_grow_with_the_block():
    grown = at_threads(Demand(256, 32, dynamic_shared=2048), 512, shared_per_thread=8)
    assert (grown.threads, grown.dynamic_shared) == (512, 4096)


@pytest.mark.parametrize("capability", [(1, 3), (2, 0), (5, 2), (8, 6), (9, 0)])
def test_best_block_is_the_largest_of_the_best(capability: tuple[int, int]):
    limits = limits_of(capability)
    rng = random.Random(5)
    for _ in range(50):
        demand = Demand(32, rng.randint(0, 63), rng.randint(0, 16000))
        best = best_block(demand, limits, 10)
        sizes = range(32, limits.threads_per_block + 1, 32)
        held = {size: size * occupancy(replace(demand, threads=size), limits).blocks for size in sizes}
        assert held.get(best.threads, 0) == max(held.values())
        assert all(held[size] < max(held.values()) for size in sizes if size > best.threads)
        assert best.grid == 10 * best.blocks_per_sm


# ---------------------------------------------------------------------------------------- what would help
def test_fewer_registers_help():
    first, *_ = gains(fits("h100", 256, 40))
    assert (first.demand.registers, first.share) == (32, 1)


def test_first_and_best_step():
    changes = [(one.demand.registers, one.share) for one in gains(fits("a100", 1024, 65))][:2]
    assert changes == [(64, 0.5), (32, 1)]


def test_dynamic_shared_memory_is_reduced_before_static():
    first, *_ = gains(fits("h100", 256, 32, 30000, 20000))
    assert (first.demand.static_shared, first.demand.dynamic_shared) == (30000, 15568)


def test_two_factors_are_changed_together():
    (both, *_) = gains(fits("rtx3090", 256, 128, 40000))
    assert (both.demand.registers, both.demand.static_shared, both.share) == (40, 16000, 1)


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("capability", capabilities(), ids=lambda one: "{}.{}".format(*one))
def test_every_gain_gains_and_no_smaller_change_does_as_much(capability: tuple[int, int]):
    limits = limits_of(capability)
    rng = random.Random(6)
    for _ in range(100):
        demand = Demand(
            rng.randint(1, limits.threads_per_block),
            rng.randint(1, limits.registers_per_thread),
            rng.randint(0, limits.shared_per_block),
        )
        fit = occupancy(demand, limits)
        for better in gains(fit):
            assert better.share > fit.share
            changed = {
                name
                for name in ("threads", "registers", "static_shared")
                if getattr(better.demand, name) != getattr(demand, name)
            }
            if changed == {"registers"}:
                less = replace(demand, registers=better.demand.registers + 1)
                assert occupancy(less, limits).share < better.share
            if changed == {"static_shared"}:
                less = replace(demand, static_shared=better.demand.static_shared + 1)
                assert occupancy(less, limits).share < better.share


def test_nothing_is_said_where_all_is_well():
    assert gains(fits("h100", 256, 32)) == ()
