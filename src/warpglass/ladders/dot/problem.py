"""The problem of the dot ladder: the sum of x[i] * y[i].

The error bound is rounding.sum_bound of the k roundings that a product goes through at most on its way into
the result, its own included, in whatever order. A rung states its k (`depth`): the product, the additions of
one thread, the additions of the block. The host adds the blocks' sums exactly, up to one rounding.

The reference is exact but for that rounding: a product of two float64 is the sum of two float64, its rounded
value and its error, which Dekker's method computes. No product here over- or underflows. Integers wrap modulo
2^32 or 2^64, in any order: their bound is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..blocks import in_blocks
from ..inputs import any_integers, over_binades, uniform
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table, in_parts, launch_once
from ..rounding import exact_part, exact_sum, exact_total, sum_bound
from ..rung import LaunchShape

if TYPE_CHECKING:
    from ..run import HostRun

# The notes' grid for their 33 * 1024 elements; with more elements every thread takes several.
MOST_BLOCKS = 132


def make_case(question: Question) -> Case:
    """Return two arrays of `size` elements, and room for their products and for the sums of the blocks."""
    x, y = _inputs(question)
    known: list[tuple[float, float]] = []  # the true sum, and that of the magnitudes

    def expected(depth: int) -> Mapping[str, Expected]:
        if x.dtype.kind != "f":
            with np.errstate(over="ignore"):
                return {"dot": Expected(np.asarray(exact_sum(x * y), x.dtype))}
        if not known:
            magnitude = sum(in_blocks(x.size, lambda part: _magnitude(x[part], y[part])))
            known.append((exact_dot(x, y), magnitude * (1 + 2.0**-40)))  # its own rounding
        value, magnitude = known[0]
        return {"dot": Expected(np.asarray(value), sum_bound(depth, x.dtype, magnitude))}

    return Case(
        question=question,
        arrays={"x": x, "y": y, "products": np.zeros_like(x), "partial": np.zeros(MOST_BLOCKS, x.dtype)},
        written=("products", "partial"),
        outputs=("products", "partial"),
        scalars={"n": np.uint32(question.size)},
        expected=expected,
        ideal_bytes=2 * x.nbytes,
        ideal_flops=max(0, 2 * question.size - 1),
    )


def _inputs(question: Question) -> tuple[Array, Array]:
    """random: [0, 1) or 0..255. ones: a dropped element shows as a missing 1. cancelling: a sum near 0."""
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    if question.data == "ones":
        return np.ones(n, dtype), np.ones(n, dtype)
    if dtype.kind == "f":
        x, y = (uniform(rng, n, dtype) for _ in range(2))
    elif question.data == "extreme":
        x, y = (any_integers(rng, n, dtype) for _ in range(2))
    else:
        x, y = (rng.integers(0, 256, n, dtype=dtype) for _ in range(2))
    if question.data == "cancelling":
        y[1::2], x[1::2] = -y[: n - n % 2 : 2], x[: n - n % 2 : 2]
    elif question.data == "extreme" and dtype.kind == "f":
        x, y = (over_binades(rng, one) for one in (x, y))
    return x, y


def exact_dot(x: Array, y: Array) -> float:
    """The sum of the products of floats, rounded once."""
    parts = in_blocks(x.size, lambda block: list(map(exact_part, _exact_products(x[block], y[block]))))
    return exact_total([part for block in parts for part in block])


def _magnitude(x: Array, y: Array) -> float:
    return float(np.abs(x.astype(np.float64) * y).sum())


def _exact_products(x: Array, y: Array) -> list[Array]:
    """Numbers whose sum is that of the products, exactly."""
    a, b = x.astype(np.float64), y.astype(np.float64)
    products = a * b
    if x.dtype.itemsize < 8:  # two such factors have no more than 48 bits
        return [products]
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return [products, ((a_high * b_high - products) + a_high * b_low + a_low * b_high) + a_low * b_low]


def _halves(a: Array) -> tuple[Array, Array]:
    """Two numbers of at most 26 bits whose sum is `a` (Veltkamp), so that products of halves are exact."""
    scaled = a * (2.0**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high


def grid_stride(case: Case, block: int) -> LaunchShape:
    """Blocks enough for a thread per element, but no more than MOST_BLOCKS; a cache of a word per thread."""
    blocks = min(MOST_BLOCKS, max(1, -(-case.size // block)))
    return LaunchShape(blocks, block, block * case.dtype.itemsize)


def products_per_thread(case: Case, block: int) -> int:
    """How many products a thread adds up at most."""
    return -(-case.size // (int(grid_stride(case, block).grid3[0]) * block))


def add_partial_sums(run: HostRun) -> None:
    """The host program: every block makes one sum, and these are added on the host."""
    launch_once(run)
    run.keep("dot", run.on_host(exact_sum, run.to_host(run["partial"])[: run.shape.grid3[0]]))


def _dot(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"dot": arrays["x"] @ arrays["y"]}


PROBLEM = Problem(
    name="dot",
    title="Dot product, from products that the host adds to a tree in shared memory",
    # The notes' size and block.
    tables={"dot": Table("Dot product", 33 * 1024, "float32", 256, small=33 * 1024, on_gpu=2**23)},
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "ones", "cancelling", "extreme"),
    make=make_case,
    signature=("x", "y", "partial", "n"),
    shape=grid_stride,
    program=add_partial_sums,
    peers=(
        Peer("cupy", "x @ y (cuBLAS)", _dot, depth=in_parts),
        Peer("torch", "x @ y (cuBLAS)", _dot, depth=in_parts, kinds="f"),
    ),
)
