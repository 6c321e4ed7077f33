"""The problem of the scan ladder: y[i] = x[0] + ... + x[i], the inclusive prefix sums.

The error bound. y[i] is the value of some tree of additions over x[0] to x[i]. If no element passes through
more than k of them, the computed value is sum(x_j (1 + t_j)) with |t_j| <= gamma_k, whatever the tree
(Higham, section 4.2). A rung states its k (`depth`). The reference is the sequential sum in float64 plus
the summed errors of its additions, each of which is a float64 (Knuth): off by at most u |y| + gamma_n^2
sum|x_j| (Ogita, Rump and Oishi, Accurate sum and dot product, proposition 4.5), u and gamma of float64:

    bound[i] = (gamma_k + u + gamma_n^2) sum(|x_j|, j <= i)

Integers wrap, in any order: their bound is 0. Infinities and NaN reach every later sum and no earlier one.
The reference is made in blocks, each from the sum before it: one more rounding, so 2 u in place of u.
An element needs one addition, one load and one store.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..blocks import LENGTH, in_blocks
from ..inputs import any_integers, uniform
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table, in_parts
from ..rounding import gamma, unit_roundoff

FLOAT64 = np.dtype(np.float64)


def make_case(question: Question) -> Case:
    """Return an array of `size` elements and room for its prefix sums."""
    x = make_input(question)

    @cache
    def reference() -> tuple[Array, Array | float]:
        """The true sums and, of floats, those of the magnitudes; 0 where they are infinite or no number."""
        if x.dtype.kind != "f":
            with np.errstate(over="ignore"):
                return np.cumsum(x, dtype=x.dtype), 0.0
        magnitude = exact_sums(np.abs(x)) * (1 + 2.0**-20)  # and their own rounding
        return exact_sums(x), np.where(np.isfinite(magnitude), magnitude, 0.0)

    def expected(depth: int) -> Mapping[str, Expected]:
        value, magnitude = reference()
        own = 2 * unit_roundoff(FLOAT64) + gamma(x.size, FLOAT64) ** 2
        return {"y": Expected(value, magnitude, gamma(depth, x.dtype) + own)}

    return Case(
        question=question,
        arrays={"x": x, "y": np.zeros_like(x)},
        written=("y",),
        outputs=("y",),
        scalars={"n": np.uint32(question.size)},
        expected=expected,
        ideal_bytes=2 * x.nbytes,
        ideal_flops=max(0, question.size - 1),
    )


def make_input(question: Question) -> Array:
    """random: [0, 1), any integer. ones: sums count. cancelling: near 0. special: infinity, later NaN."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    if question.data == "ones":
        return np.ones(n, dtype)
    if dtype.kind != "f":
        return any_integers(rng, n, dtype)
    x = uniform(rng, n, dtype)
    if question.data == "cancelling":
        x[1::2] = -x[: n - n % 2 : 2]
    elif question.data == "special":
        x[n // 3 : n // 3 + 1], x[2 * n // 3 : 2 * n // 3 + 1] = np.inf, np.nan
    return x


def exact_sums(x: Array) -> Array:
    """The prefix sums of floats in float64, with the errors of the additions added in."""
    parts = in_blocks(x.size, lambda block: _sums_of_block(x[block]))
    before = [(0.0, 0.0)]  # each block: the sum of everything before it, and its error
    for own, errors in parts:
        total, off = _joined(before[-1], own[-1:], errors[-1:])
        before.append((float(total[0]), float(off[0])))
    sums = np.empty(x.size)

    def join(block: slice) -> None:
        number = block.start // LENGTH
        total, off = _joined(before[number], *parts[number])
        with np.errstate(all="ignore"):
            sums[block] = np.where(np.isfinite(total), total + off, total)

    in_blocks(x.size, join)
    return sums


def _joined(before: tuple[float, float], own: Array, errors: Array) -> tuple[Array, Array]:
    """The sums of a block that follows others, and their errors."""
    with np.errstate(all="ignore"):
        total, off = _two_sum(before[0], own)
        return total, off + (errors + before[1])


def _sums_of_block(x: Array) -> tuple[Array, Array]:
    """The prefix sums of a block as the sum of two arrays: as they are rounded, and the errors of that."""
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        sums = np.cumsum(x)
        before = np.concatenate(([0.0], sums[:-1]))[: x.size]
        step = sums - before
        return sums, np.cumsum((before - (sums - step)) + (x - step))


def _two_sum(a: float, b: Array) -> tuple[Array, Array]:
    """a + b as it is rounded, and the error of that (Knuth)."""
    sums = a + b
    step = sums - a
    return sums, (a - (sums - step)) + (b - step)


def _cumsum(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"y": library.cumsum(arrays["x"], 0, dtype=arrays["x"].dtype)}


PROBLEM = Problem(
    name="scan",
    title="Prefix sums: in shared memory, by shuffles, over many blocks, in a single pass",
    tables={"scan": Table("Inclusive prefix sums", 2**20, "float32", 256, small=5003, on_gpu=2**22)},
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "ones", "cancelling", "special"),
    make=make_case,
    signature=("x", "y", "n"),
    peers=(
        Peer("cupy", "cumsum", _cumsum, depth=in_parts),
        Peer("torch", "cumsum", _cumsum, depth=in_parts),
    ),
)
