"""The problem of the matmul ladder: C = A B for square matrices, stored row after row.

Four tables: the element types of the course notes; float32 whose factors tensor cores take as TF32, with 10
bits behind the first; bfloat16 factors (as 16-bit words: NumPy has no such type), with float32 sums; and
float64 by tensor cores, which round as fused multiply-adds do.

The error bound. An element of C is a sum of n products. Each product is rounded once, and goes through at
most n - 1 additions, whatever their order (adding to 0 is exact): |computed - true| <= gamma_n (|A| |B|),
element by element (Higham, section 3.5); a fused multiply-add rounds less often. The reference is NumPy's
product in float64, which is off by at most gamma_n of float64 itself:

    bound = (gamma_n(type) + gamma_n(float64)) |A| |B|

Integers wrap modulo 2^32 or 2^64, in any order: their bound is 0.

Tensor cores multiply exactly, and cut the terms of a step and its sum instead of rounding them
(isa/matrix_sums.py): 17 terms of 16-bit factors to 2^-25 of the largest, 9 of TF32, then the sum to 2^-23 of
itself. In units of 2^-24 that is 10.5 and 6.5 of the magnitudes so far, for a step of 16 or 8 along the sum.
Factors that become TF32 lose less than 2^-10 of themselves:

    bound(TF32) = ((1 + 2^-10)^2 (1 + gamma) - 1 + gamma_n(float64)) |A| |B|
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from ..inputs import any_integers, over_binades
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table
from ..rounding import gamma
from ..rung import LaunchShape
from .counts import COUNTS

TF32_CUT = 2.0**-10  # of a factor, where its last 13 bits are left out; half of it where they are rounded


def make_case(question: Question) -> Case:
    """Return two matrices of size x size, and room for their product."""
    a, b = _inputs(question)
    n, dtype = question.size, question.dtype
    narrow = question.table == "bf16"
    stored = tuple(map(bfloat16, (a, b))) if narrow else (a, b)
    a, b = tuple(map(from_bfloat16, stored)) if narrow else stored

    @cache
    def reference() -> tuple[Array, Array | float]:
        """The true product and, of floats, that of the magnitudes."""
        if dtype.kind != "f":
            return wrapped_product(a, b), 0.0
        left, right = a.astype(np.float64), b.astype(np.float64)
        return left @ right, (np.abs(left) @ np.abs(right)) * (1 + 2.0**-40)  # its own rounding

    def expected(depth: int) -> Mapping[str, Expected]:
        value, magnitude = reference()
        cut = TF32_CUT if question.table == "tf32" else 0.0
        relative = (1 + cut) ** 2 * (1 + gamma(depth, dtype)) - 1
        return {"c": Expected(value, magnitude, relative + gamma(n, np.dtype(np.float64)))}

    return Case(
        question=question,
        arrays={"a": stored[0], "b": stored[1], "c": np.zeros_like(a)},
        written=("c",),
        outputs=("c",),
        scalars={"n": np.uint32(n)},
        expected=expected,
        ideal_bytes=sum(one.nbytes for one in (*stored, a)),
        ideal_flops=n * n * max(0, 2 * n - 1),
    )


def _inputs(question: Question) -> tuple[Array, Array]:
    """random: [0, 1) or -9..9. ones: a dropped element shows as a missing 1. cancelling: sums near 0."""
    rng = np.random.default_rng(question.seed)
    shape, dtype = (question.size, question.size), question.dtype
    if question.data == "ones":
        return np.ones(shape, dtype), np.ones(shape, dtype)
    if question.data == "extreme" and dtype.kind != "f":
        a, b = (any_integers(rng, shape, dtype) for _ in range(2))
        return a, b
    if dtype.kind != "f":
        a, b = (rng.integers(-9, 9, shape, dtype=dtype, endpoint=True) for _ in range(2))
    else:
        a, b = (rng.random(shape).astype(dtype) for _ in range(2))
    if question.data == "extreme":
        a, b = (over_binades(rng, one) for one in (a, b))
    if question.data == "cancelling":
        a[:, 1::2], b[1::2] = -a[:, : shape[0] - shape[0] % 2 : 2], b[: shape[0] - shape[0] % 2 : 2]
    return a, b


def bfloat16(x: Array) -> Array:
    """Finite float32 numbers, rounded to the nearest bfloat16, ties to even: its 16 bits."""
    word = x.astype(np.float32).view(np.uint32)
    return ((word + (np.uint32(0x7FFF) + (word >> np.uint32(16) & np.uint32(1)))) >> np.uint32(16)).astype(
        np.uint16
    )


def from_bfloat16(words: Array) -> Array:
    """The float32 numbers of these 16 bits, exactly."""
    return (words.astype(np.uint32) << np.uint32(16)).view(np.float32)


def wrapped_product(a: Array, b: Array) -> Array:
    """The product of integers, wrapped, from products of their 16-bit limbs, which are exact in float64.

    A sum of n products of limbs is below n 2^32, that is 2^47 for the largest n here.
    """
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    places = range(0, 8 * a.dtype.itemsize, 16)
    limbs = [
        [
            (one.view(unsigned) >> unsigned.type(place) & unsigned.type(0xFFFF)).astype(np.float64)
            for place in places
        ]
        for one in (a, b)
    ]
    total = np.zeros(a.shape, np.uint64)
    for i, j in np.ndindex(len(places), len(places)):
        if i + j < len(places):
            total += (limbs[0][i] @ limbs[1][j]).astype(np.uint64) << np.uint64(16 * (i + j))
    return total.astype(unsigned).view(a.dtype)


def square_blocks(case: Case, side: int, outputs: int = 0) -> LaunchShape:
    """Blocks of side x side threads, each for `outputs` x `outputs` elements, side x side unless told."""
    blocks = max(1, -(-case.size // (outputs or side)))
    return LaunchShape((blocks, blocks), (side, side))


def one_thread_each(case: Case, block: int) -> LaunchShape:
    """A thread for every element, in square blocks."""
    return square_blocks(case, isqrt(block))


def all_products(case: Case, block: int) -> int:
    """Roundings on the way of a product into an element: its own, and n - 1 additions."""
    return case.size


def cut_sums(case: Case, block: int = 0) -> int:
    """The same of tensor cores, whose steps cut sums."""
    words, steps = (21, 16) if case.question.table == "bf16" else (13, 8)
    return -(-case.size // steps) * words // 2 + 1


def _product(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"c": arrays["a"] @ arrays["b"]}


def _tf32_product(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = True
    try:
        return _product(torch, case, arrays)
    finally:
        matmul.allow_tf32 = False


def _bf16_product(torch: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    a, b = (arrays[name].view(torch.bfloat16) for name in "ab")
    return {"c": torch.mm(a, b, out_dtype=torch.float32)}


def _describe(case: Case) -> str:
    return f"{case.size} x {case.size}"


PROBLEM = Problem(
    name="matmul",
    title="Matrix multiplication, from one element a thread to tiles in shared memory and in registers",
    tables={
        "matmul": Table("Matrix multiplication", 512, "float32", 256, small=132, on_gpu=2048),
        "tf32": Table(
            "Products of TF32 factors by tensor cores",
            *(256, "float32", 256),
            small=132,
            on_gpu=4096,
            dtypes=("float32",),
        ),
        "bf16": Table(
            "Products of bfloat16 factors by tensor cores, sums in float32",
            *(256, "float32", 256),
            small=132,
            on_gpu=4096,
            dtypes=("float32",),
        ),
        "fp64": Table(
            "Products of float64 by tensor cores",
            *(256, "float64", 256),
            small=132,
            on_gpu=4096,
            dtypes=("float64",),
        ),
    },
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "ones", "cancelling", "extreme"),
    make=make_case,
    signature=("a", "b", "c", "n"),
    shape=one_thread_each,
    depth=all_products,
    size_means="rows and columns of square matrices",
    describe=_describe,
    largest=32768,  # elements are counted in unsigned 32-bit integers
    blocks=(64, 256, 1024),  # squares: 8 x 8, 16 x 16, 32 x 32
    shipped=(136, 257),  # rows that begin at multiples of 16 bytes and not; tiles that are split
    work=lambda n: float(n) ** 3,
    peers=(
        Peer("numpy", "a @ b (BLAS)", _product, "matmul", kinds="f"),
        Peer("cupy", "a @ b (cuBLAS)", _product, "matmul"),
        Peer("torch", "a @ b (cuBLAS)", _product, "matmul", kinds="f"),
        Peer("cupy", "a @ b (cuBLAS)", _product, "fp64"),
        Peer("torch", "a @ b (cuBLAS)", _product, "fp64"),
        Peer("torch", "a @ b, allow_tf32 (cuBLAS)", _tf32_product, "tf32", cut_sums, "f"),
        Peer("torch", "mm of bfloat16 (cuBLAS)", _bf16_product, "bf16", cut_sums, "f"),
    ),
    view=COUNTS.sections,
)
