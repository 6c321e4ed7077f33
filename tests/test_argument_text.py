"""Sizes, launch shapes, kernels and arguments as typed on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpglass.errors import ArgumentError
from warpglass.records.argument_text import (
    ArraySpec,
    ScalarSpec,
    make_arguments,
    parse_argument,
    parse_dimensions,
    parse_size,
    parse_target,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("1_000", 1000),
        ("2^24", 2**24),
        ("2**24", 2**24),
        ("16M", 2**24),
        ("1.5k", 1536),
        ("1G", 2**30),
        ("1e6", 10**6),
        ("2.5e3", 2500),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "-1", "x", "2^", "2^65", "99999^64", "0.3", "1e999", "nan", "inf", "16MB", "1 2"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ArgumentError, match="size"):
        parse_size(text)


def test_dimensions() -> None:
    assert parse_dimensions("512") == (512,)
    assert parse_dimensions("16x16") == (16, 16)
    assert parse_dimensions("8,4,2^3") == (8, 4, 8)
    with pytest.raises(ArgumentError):
        parse_dimensions("1,2,3,4")


@pytest.mark.parametrize(
    ("text", "file", "kernel"),
    [
        ("reduce.cu:sum<512u>", "reduce.cu", "sum<512u>"),
        ("a/b.py:kernel", "a/b.py", "kernel"),
        ("C:\\x\\k.cu:ns::sum<float, 2>", "C:\\x\\k.cu", "ns::sum<float, 2>"),
        ("k.ptx:_Z3sumPd", "k.ptx", "_Z3sumPd"),
    ],
)
def test_targets(text: str, file: str, kernel: str) -> None:
    assert parse_target(text) == (Path(file), kernel)


@pytest.mark.parametrize("text", ["reduce.cu", "reduce.cu:", ":k", "reduce.c:k"])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(ArgumentError, match="FILE:KERNEL"):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("f8[1048576]:rand", ArraySpec("f8", (1048576,), "rand")),
        ("f4[2^10]", ArraySpec("f4", (1024,), "zero")),
        ("i4[512,512]:perm", ArraySpec("i4", (512, 512), "perm")),
        ("u4=1048576", ScalarSpec("u4", 1048576)),
        ("u4=2^20", ScalarSpec("u4", 2**20)),
        ("i4=-3", ScalarSpec("i4", -3)),
        ("u4=0xff", ScalarSpec("u4", 255)),
        ("f8=0.5", ScalarSpec("f8", 0.5)),
    ],
)
def test_arguments(text: str, spec: ArraySpec | ScalarSpec) -> None:
    assert parse_argument(text) == spec


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("f9[3]", "f9"),
        ("f8[3]:ramp", "ramp"),
        ("f8", "f8"),
        ("f8[]", "f8"),
        ("f8[x]", "x"),
        ("u4=many", "many"),
        ("i4=0.5", "0.5"),
    ],
)
def test_what_is_no_argument(text: str, word: str) -> None:
    with pytest.raises(ArgumentError, match=word):
        parse_argument(text)


def test_scalar_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ArgumentError, match="u4"):
        make_arguments([ScalarSpec("u4", -1)])


def test_arrays_are_filled_by_their_place_among_the_arrays() -> None:
    specs = [
        parse_argument(text) for text in ("u4=7", "f8[5]:rand", "i4[5]:perm", "u1[5]:rand", "f4[2,3]:arange")
    ]
    scalar, real, order, small, ramp = make_arguments(specs)
    assert scalar == np.uint32(7)
    assert scalar.dtype == np.uint32
    assert np.array_equal(real, np.random.RandomState(1000).random_sample(5))
    assert np.array_equal(order, np.random.RandomState(1001).permutation(5))
    assert order.dtype == np.int32
    assert np.array_equal(small, np.random.RandomState(1002).randint(0, 256, 5))
    assert ramp.shape == (2, 3)
    assert ramp[1, 2] == 5
