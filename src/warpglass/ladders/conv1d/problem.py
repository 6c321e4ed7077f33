"""The problem of the conv1d ladder: y[i] = sum of x[i - r + j] * mask[j] over the 2 r + 1 weights of a mask.

Elements of x before its start and behind its end, the ghost cells, count as 0. The mask has nine weights (the
notes provide for ten, and masks are odd); it is not symmetric, so that a mask applied backwards is noticed.

The error bound. Nine products, each rounded once, are added in some order: |computed - true| <= gamma_9 times
the sum of the products' magnitudes (Higham, section 3.1). The reference is computed in float64 in the same
way and may be off by gamma_9 of float64. Integers wrap: their bound is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..blocks import in_blocks
from ..inputs import any_integers, over_binades, uniform
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rounding import gamma
from .counts import COUNTS, RADIUS, basic_reads

# Constant memory holds these (constant.cu); small integers are exact in every element type.
WEIGHTS = (1, 6, 2, 7, 3, 8, 4, 9, 5)
WIDTH = 2 * RADIUS + 1


def make_case(question: Question) -> Case:
    """Return an array of `size` elements, the mask, and room for the result."""
    x, mask = _input(question), np.array(WEIGHTS, question.dtype)
    n, dtype = question.size, question.dtype

    @cache
    def reference() -> tuple[Array, Array | float]:
        """The true result and, of floats, the sums of magnitudes."""
        if dtype.kind != "f":
            return convolve(x, mask), 0.0
        exact, weights = x.astype(np.float64), mask.astype(np.float64)
        return convolve(exact, weights), convolve(np.abs(exact), weights) * (1 + 2.0**-40)  # its own rounding

    def expected(depth: int) -> Mapping[str, Expected]:
        value, magnitude = reference()
        return {"y": Expected(value, magnitude, gamma(depth, dtype) + gamma(WIDTH, np.dtype(np.float64)))}

    return Case(
        question=question,
        arrays={"x": x, "mask": mask, "y": np.zeros_like(x)},
        written=("y",),
        outputs=("y",),
        scalars={"n": np.int32(n), "width": np.int32(WIDTH)},
        expected=expected,
        ideal_bytes=2 * x.nbytes + mask.nbytes,
        ideal_flops=max(0, 2 * basic_reads(n, RADIUS) - n),
    )


def _input(question: Question) -> Array:
    """random: [0, 1) or 0..255. ones: a dropped element shows as its weight. alternating: signs change."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    if question.data == "ones":
        return np.ones(n, dtype)
    if question.data == "extreme" and dtype.kind != "f":
        return any_integers(rng, n, dtype)
    x = uniform(rng, n, dtype) if dtype.kind == "f" else rng.integers(0, 256, n, dtype=dtype)
    if question.data == "alternating":
        x[1::2] *= -1
    if question.data == "extreme":
        x = over_binades(rng, x)
    return x


def convolve(x: Array, mask: Array) -> Array:
    """The definition, weight by weight."""
    radius = mask.size // 2
    padded = np.pad(x, radius)
    result = np.zeros_like(x)

    def add(block: slice) -> None:
        for j, weight in enumerate(mask):
            result[block] += padded[block.start + j : block.stop + j] * weight

    in_blocks(x.size, add)
    return result


def weights_per_element(case: Case, block: int) -> int:
    """Roundings on the way of a product into an element: its own, and an addition for each other weight."""
    return WIDTH


def _correlate(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    full = library.correlate(arrays["x"], arrays["mask"], "full")
    return {"y": full[RADIUS : RADIUS + case.size]}


def _torch(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    x, mask = arrays["x"][None, None], arrays["mask"][None, None]
    return {"y": torch.nn.functional.conv1d(x, mask, padding=RADIUS)[0, 0]}


PROBLEM = Problem(
    name="conv1d",
    title="1-D convolution: mask in constant memory, tiles with halo cells, halo cells left to the L2",
    tables={
        "conv1d": Table(
            "1-D convolution with nine weights", 2**20, "float32", 256, small=10_007, on_gpu=2**24
        )
    },
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "ones", "alternating", "extreme"),
    make=make_case,
    signature=("x", "mask", "y", "n", "width"),
    depth=weights_per_element,
    smallest=1,
    largest=2**30,  # positions beyond the last block must not wrap
    peers=(
        Peer("numpy", "np.correlate", _correlate),
        Peer("cupy", "cupy.correlate", _correlate),
        Peer("torch", "conv1d (cuDNN)", _torch, kinds="f"),
    ),
    view=COUNTS.sections,
)
