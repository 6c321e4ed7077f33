"""The problem of the vector ladder: z = x + y, element by element.

Rounding to nearest makes every sum of two numbers the one right answer, so results must be equal to NumPy's;
integers wrap. No addition can be spared, and every element is read or written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..inputs import uniform
from ..problem import Array, Case, Expected, Peer, Problem, Question, Table


def make_case(question: Question) -> Case:
    """Return two arrays of `size` elements and room for their sum."""
    x, y = _inputs(question)

    @cache
    def sums() -> Array:
        with np.errstate(all="ignore"):
            return x + y

    def expected(depth: int) -> Mapping[str, Expected]:
        return {"z": Expected(sums())}

    return Case(
        question=question,
        arrays={"x": x, "y": y, "z": np.zeros_like(x)},
        written=("z",),
        outputs=("z",),
        scalars={"n": np.uint32(question.size)},
        expected=expected,
        ideal_bytes=3 * x.nbytes,
        ideal_flops=question.size,
    )


def _inputs(question: Question) -> tuple[Array, Array]:
    rng = np.random.default_rng(question.seed)
    n, dtype = question.size, question.dtype
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        low, high = (0, 255) if question.data == "random" else (limits.min, limits.max)
        x, y = (rng.integers(low, high, n, dtype=dtype, endpoint=True) for _ in range(2))
        return x, y
    x, y = (uniform(rng, n, dtype) for _ in range(2))
    if question.data == "extreme":
        special = np.array(
            [np.inf, -np.inf, np.nan, 0.0, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype
        )
        x[::3], y[::2] = (rng.choice(special, part.size) for part in (x[::3], y[::2]))
    return x, y


def _add(library: object, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"z": arrays["x"] + arrays["y"]}


PEERS = (Peer("cupy", "x + y", _add), Peer("torch", "x + y", _add))

PROBLEM = Problem(
    name="vector",
    title="Sum of two arrays, from one thread to a loop over the grid",
    tables={
        "one block": Table("Vector addition in one block", 100, "float32", 1024, small=100, capacity=1),
        # The notes' example of launch arithmetic.
        "few": Table("Vector addition of a few elements", 100, "float32", 32, small=100),
        "vector": Table("Vector addition", 2**24, "float32", 256, small=5 * 2**16),
    },
    dtypes=("float32", "float64", "int32", "int64"),
    data=("random", "extreme"),
    make=make_case,
    peers=PEERS,
    signature=("x", "y", "z", "n"),
)
