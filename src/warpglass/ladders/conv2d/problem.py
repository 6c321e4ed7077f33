"""The problem of the conv2d ladder: every element of a picture becomes a weighted sum of its neighbourhood.

p[i, j] = sum of n[i - r + u, j - r + v] * mask[u, v] over the 5 x 5 weights of a mask; elements beyond the
picture, the ghost cells, count as 0. The mask is not symmetric, so that one applied backwards or turned is
noticed. A picture of size s has s rows and s + 3 * (s // 8) columns: rows and columns are different numbers,
and for odd s neither is a multiple of a tile.

The error bound. 25 products, each rounded once, are added in some order: |computed - true| <= gamma_25 times
the sum of the products' magnitudes (Higham, section 3.1). The reference is computed in float64 in the same
way and may be off by gamma_25 of float64. Integers wrap: their bound is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np

from ..inputs import columns_of
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rounding import gamma
from ..rung import LaunchShape
from .counts import COUNTS, RADIUS, basic_reads

WIDTH = 2 * RADIUS + 1
# Small integers, exact in every element type.
WEIGHTS = np.array([[1, 6, 2, 7, 3], [8, 4, 9, 5, 1], [2, 7, 3, 8, 4], [9, 5, 1, 6, 2], [7, 3, 8, 4, 9]])


def make_case(question: Question) -> Case:
    """Return a picture of `size` rows, the mask, and room for the result."""
    rows, columns, dtype = question.size, columns_of(question.size), question.dtype
    picture, mask = _input(question, (rows, columns)), WEIGHTS.astype(question.dtype)

    @cache
    def reference() -> tuple[Array, Array | float]:
        """The true result and, of floats, the sums of magnitudes."""
        if dtype.kind != "f":
            return convolve(picture, mask), 0.0
        exact, weights = picture.astype(np.float64), mask.astype(np.float64)
        return convolve(exact, weights), convolve(np.abs(exact), weights) * (1 + 2.0**-40)  # its own rounding

    def expected(depth: int) -> Mapping[str, Expected]:
        value, magnitude = reference()
        return {"p": Expected(value, magnitude, gamma(depth, dtype) + gamma(WIDTH**2, np.dtype(np.float64)))}

    return Case(
        question=question,
        arrays={"n": picture, "mask": mask, "p": np.zeros_like(picture)},
        written=("n", "p"),  # the version that works in place spoils the picture
        outputs=("p",),
        scalars={"rows": np.int32(rows), "columns": np.int32(columns)},
        expected=expected,
        ideal_bytes=2 * picture.nbytes + mask.nbytes,
        ideal_flops=max(0, 2 * basic_reads(rows, columns, RADIUS) - picture.size),
    )


def _input(question: Question, shape: tuple[int, int]) -> Array:
    """random: [0, 1) or 0..255. ones: a dropped element shows as its weight. alternating: signs change."""
    rng = np.random.default_rng(question.seed)
    dtype = question.dtype
    if question.data == "ones":
        return np.ones(shape, dtype)
    picture = rng.random(shape).astype(dtype) if dtype.kind == "f" else rng.integers(0, 256, shape, dtype)
    if question.data == "alternating":
        picture[:, 1::2] *= -1
    return picture


def convolve(picture: Array, mask: Array) -> Array:
    """The definition, weight by weight."""
    radius = mask.shape[0] // 2
    padded = np.pad(picture, radius)
    result = np.zeros_like(picture)
    rows, columns = picture.shape
    for (u, v), weight in np.ndenumerate(mask):
        result += padded[u : u + rows, v : v + columns] * weight
    return result


def blocks_over(case: Case, tile: int, side: int) -> LaunchShape:
    """Blocks of side x side threads, one for every tile x tile elements of the result."""
    across, down = (max(1, -(-extent // tile)) for extent in (columns_of(case.size), case.size))
    return LaunchShape((across, down), (side, side))


def one_thread_each(case: Case, block: int) -> LaunchShape:
    """A thread for every element, in square blocks."""
    side = isqrt(block)
    return blocks_over(case, side, side)


def weights_per_element(case: Case, block: int) -> int:
    """Roundings on the way of a product into an element: its own, and an addition for each other weight."""
    return WIDTH**2


def _describe(case: Case) -> str:
    return f"{case.size} x {columns_of(case.size)} x {case.dtype.name}"


def _scipy(scipy: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"p": scipy.ndimage.correlate(arrays["n"], arrays["mask"], mode="constant")}


def _cupyx(cupy: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    ndimage = import_module("cupyx.scipy.ndimage")
    return {"p": ndimage.correlate(arrays["n"], arrays["mask"], mode="constant")}


def _torch(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    n, mask = arrays["n"][None, None], arrays["mask"][None, None]
    return {"p": torch.nn.functional.conv2d(n, mask, padding=RADIUS)[0, 0]}


PROBLEM = Problem(
    name="conv2d",
    title="2-D convolution: from global memory, and from tiles with a halo",
    tables={
        "conv2d": Table("2-D convolution with 5 x 5 weights", 512, "float32", 256, small=101, on_gpu=2048)
    },
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "ones", "alternating"),
    make=make_case,
    signature=("p", "n", "rows", "columns", "mask"),
    shape=one_thread_each,
    depth=weights_per_element,
    size_means="rows (columns: rows + 3 * (rows // 8))",
    describe=_describe,
    smallest=1,
    largest=32768,  # elements are counted in 32-bit integers
    blocks=(64, 256, 1024),  # squares: 8 x 8, 16 x 16, 32 x 32
    peers=(
        Peer("scipy", "ndimage.correlate", _scipy),
        Peer("cupy", "cupyx ndimage.correlate", _cupyx),
        Peer("torch", "conv2d (cuDNN)", _torch, kinds="f"),
    ),
    view=COUNTS.sections,
)
