"""The vector ladder: launch arithmetic, the limits of a launch, and the notes' stride."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders import find_ladder
from warpglass.ladders.rung import Rung
from warpglass.ladders.vector.counts import blocks_for, idle_threads

from .judging import PLACES, judge, open_place

LADDER = find_ladder("vector")


def test_a_hundred_elements_take_four_blocks_and_leave_twenty_eight_threads_idle() -> None:
    assert (blocks_for(100, 32), idle_threads(100, 32)) == (4, 28)
    assert (blocks_for(96, 32), idle_threads(96, 32)) == (3, 0)


@pytest.mark.parametrize(
    ("rung", "grid", "block", "words"),
    [
        (LADDER.rung("one_block"), 1, 1025, "1025"),
        (LADDER.rung("one_thread_a_block"), 2**31, 1, "2147483648"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.parametrize("device", PLACES)
def test_limits_of_block_and_grid_are_named(
    device: str, rung: Rung, grid: int, block: int, words: str
) -> None:
    kernel = wg.load(rung.kernels[0].file, f"{rung.name}<float>")
    x, y, z = (np.zeros(4, np.float32) for _ in range(3))
    with pytest.raises(wg.LaunchError, match=words) as refused:
        wg.run(kernel, grid, block, (x, y, z, np.uint32(4)), device=device)
    assert refused.value.synchronous
    assert not refused.value.sticky
    assert refused.value.cuda_name.startswith("cudaErrorInvalid")
    wg.run(kernel, 1, 4, (x, y, z, np.uint32(4)), device=device)  # the device is as good as before


def test_the_notes_stride_is_right_where_grid_and_block_are_alike() -> None:
    backend = open_place("cpu")
    block = 32  # a stride of 1024, where 16 blocks of 32 make 512 threads
    assert judge(LADDER, "grid_stride_as_written", backend, size=512, block=block).verified
    verdict = judge(LADDER, "grid_stride_as_written", backend, size=1024, block=block)
    assert (verdict.verified, verdict.wrong) == (False, 512)
