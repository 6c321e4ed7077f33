"""The page of kernel times says what measurements and the model say: bench/kernel_time/page.py writes it."""

from __future__ import annotations

import pytest

from bench.kernel_time import figures
from bench.kernel_time.page import PAGE, written


def test_the_page_is_as_it_would_be_written() -> None:
    text = PAGE.read_text("utf-8")
    assert written(text) == text


def test_ranks_and_steps() -> None:
    pairs = [(1.0, 2.0), (2.0, 3.0), (3.0, 2.5), (4.0, 9.0)]
    assert figures.ranks(pairs) == pytest.approx(0.8)
    assert figures.ranks([(1.0, 1.0), (2.0, 1.0), (3.0, 4.0)]) == pytest.approx(0.866, abs=1e-3)
    names = [f"ladder/table/rung{k}/cuda/64/1" for k in range(4)]
    found = dict(zip(names, pairs, strict=True)) | {"ladder/table/rung0/cuda/128/1": (9.0, 1.0)}
    wrong = [(one, other) for one, other, right in figures.steps(found) if not right]
    assert wrong == [(names[1], names[2])]
    assert len(list(figures.steps(found))) == 6
