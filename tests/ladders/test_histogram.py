"""The histogram ladder's reference."""

from __future__ import annotations

import numpy as np

from warpglass.ladders.histogram.problem import count_on_host


def test_the_reference_counts_what_is_inside() -> None:
    x = np.array([-1, 0, 3, 3, 4, 2**31 - 1, -(2**31)], np.int32)
    assert count_on_host(x, 4).tolist() == [1, 0, 0, 2]
    assert count_on_host(np.array([255, 0, 255], np.uint8), 300)[255] == 2
