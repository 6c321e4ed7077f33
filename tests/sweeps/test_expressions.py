"""Templates: arithmetic on axes, and nothing else."""

from __future__ import annotations

import pytest

from warpglass import ArgumentError
from warpglass.sweeps.expressions import evaluate, fill, names_in

NAMES = {"n": 1000, "block": 64, "type": "float"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ceil(n / block)", 16),
        ("n // block * 2 + n % block - 1", 2 * 15 + 40 - 1),
        ("2**10 - -1", 1025),
        ("min(n, 7) < block and not type == 'double'", True),
        ("max(1, floor(log2(n)))", 9),
    ],
)
def test_values(text: str, value: object) -> None:
    assert evaluate(text, NAMES) == value


def test_templates_keep_numbers_and_fill_texts() -> None:
    assert fill("{n}", NAMES) == 1000
    assert fill(["f4[{n},{n / 2}]:rand", "sum<{type}, {block}>", 3], NAMES) == [
        "f4[1000,500]:rand",
        "sum<float, 64>",
        3,
    ]
    assert names_in({"grid": "{ceil(n / block)}", "args": ["u4={m}"]}) == {"n", "block", "m"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("blok * 2", "no axis 'blok' (did you mean block?)"),
        ("__import__('os').system('true')", "write numbers, axes"),
        ("n.real", "write numbers, axes"),
        ("[n for n in (1,)]", "write numbers, axes"),
        ("2**2**40", "too large"),
        ("n / (block - 64)", "division by zero"),
        ("n +", "no expression"),
        ("n + type", "with n=1000"),
        ("(" * 500, "no expression"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        evaluate(text, NAMES)
    assert said in str(caught.value)
