"""The problems of the image ladder: a picture of three bytes a pixel, made grey or blurred.

grey: 0.21 red + 0.71 green + 0.07 blue, cut off to a whole number, with the notes' weights (they add up to
0.99, so white becomes 252). The true value is floor(v), v = (21 red + 71 green + 7 blue) / 100. A kernel
computes v in single precision: the weights are rounded, the products, and two sums, so it is off by at most e
= gamma_4 v. Where a whole number lies within e of v the result may be off by one, and nowhere else.

blur: the mean of the pixels at most 5 rows and 5 columns away, as far as there are any, channel by channel,
cut off to a whole number. Whole numbers throughout: results must be equal.

A picture of size s has s columns and 31 rows for every 38 columns, as the notes' picture of 76 x 62 has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rounding import gamma
from ..rung import LaunchShape

REACH = 5  # of the blur: BLUR_SIZE of the notes


def make_case(question: Question) -> Case:
    """Return a picture, and room for the grey or the blurred one."""
    width, height = question.size, rows_of(question.size)
    rgb = _picture(question, width, height)
    grey = question.table == "grey"

    @cache
    def reference() -> Expected:
        return grey_of(rgb) if grey else Expected(blurred(rgb))

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"out": reference()}

    return Case(
        question=question,
        arrays={"rgb": rgb, "out": np.zeros((height, width) if grey else rgb.shape, np.uint8)},
        written=("out", "rgb"),  # the version with the arguments in the wrong order stores to the picture
        outputs=("out",),
        scalars={"width": np.int32(width), "height": np.int32(height)},
        expected=expected,
        ideal_bytes=rgb.nbytes + (rgb.nbytes // 3 if grey else rgb.nbytes),
        # Three products and two sums a pixel; sums that slide along rows and columns, and a division.
        ideal_flops=5 * width * height if grey else 5 * rgb.size,
    )


def rows_of(columns: int) -> int:
    """The height of a picture of this width."""
    return max(1, columns * 31 // 38)


def _picture(question: Question, width: int, height: int) -> Array:
    """random: any bytes. white: the largest. ramp: red grows rightwards, green downwards, blue with both."""
    if question.data == "white":
        return np.full((height, width, 3), 255, np.uint8)
    if question.data == "ramp":
        across, down = np.linspace(0, 255, width), np.linspace(0, 255, height)
        planes = np.broadcast_arrays(across, down[:, None], (across + down[:, None]) / 2)
        return np.stack(planes, axis=-1).astype(np.uint8)
    rng = np.random.default_rng(question.seed)
    return rng.integers(0, 256, (height, width, 3), np.uint8)


def grey_of(rgb: Array) -> Expected:
    """The grey picture, and where single precision may miss it by one."""
    red, green, blue = np.moveaxis(rgb.astype(np.int64), -1, 0)
    hundredfold = 21 * red + 71 * green + 7 * blue
    off = gamma(4, np.dtype(np.float32)) * hundredfold
    lowest, highest = np.floor((hundredfold - off) / 100), np.floor((hundredfold + off) / 100)
    return Expected((hundredfold // 100).astype(np.uint8), (highest - lowest).astype(np.float64))


def blurred(rgb: Array) -> Array:
    """The mean of each pixel's neighbourhood, rows and columns one after the other."""
    sums, counts = rgb.astype(np.int64), np.ones(rgb.shape[:2], np.int64)
    for axis in (0, 1):
        sums, counts = (_add_neighbours(array, axis) for array in (sums, counts))
    return (sums // counts[:, :, None]).astype(np.uint8)


def _add_neighbours(array: Array, axis: int) -> Array:
    total = np.zeros_like(array)
    moved, source = np.moveaxis(total, axis, 0), np.moveaxis(array, axis, 0)
    n = len(source)
    for step in range(-min(REACH, n - 1), min(REACH, n - 1) + 1):
        moved[max(0, -step) : n - max(0, step)] += source[max(0, step) : n + min(0, step)]
    return total


def one_thread_each(case: Case, block: int) -> LaunchShape:
    """A thread for every pixel, in square blocks: 5 x 4 of 16 x 16 for 76 x 62 pixels."""
    side = isqrt(block)
    return LaunchShape((-(-case.size // side), -(-rows_of(case.size) // side)), (side, side))


def _grey(np: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    weights = np.array([0.21, 0.71, 0.07], np.float32)
    return {"out": (arrays["rgb"] @ weights).astype(np.uint8)}


def _describe(case: Case) -> str:
    return f"{case.size} x {rows_of(case.size)} pixels of three bytes"


PROBLEM = Problem(
    name="image",
    title="A colour picture made grey, and blurred",
    tables={
        "grey": Table("Colour to grey", 1216, "uint8", 256, small=76, on_gpu=4864),
        "blur": Table("Blur, 11 x 11 pixels", 304, "uint8", 256, small=76, on_gpu=2432),
    },
    dtypes=("uint8",),
    data=("random", "white", "ramp"),
    make=make_case,
    signature=("out", "rgb", "width", "height"),
    shape=one_thread_each,
    size_means="columns (rows: 31 for every 38 columns)",
    describe=_describe,
    smallest=1,
    largest=16384,  # bytes are counted in 32-bit integers
    blocks=(64, 256, 1024),  # squares: 8 x 8, 16 x 16, 32 x 32
    peers=(
        Peer("numpy", "rgb @ weights", _grey, table="grey"),
        Peer("cupy", "rgb @ weights", _grey, table="grey"),
    ),
)
