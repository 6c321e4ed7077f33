"""The page of kernel times says of blind predictions what their files say."""

from __future__ import annotations

from pathlib import Path

from bench.kernel_time.blind import judged

ROOT = Path(__file__).parents[2]


def test_the_page_has_every_prediction_and_the_errors() -> None:
    page = " ".join((ROOT / "docs" / "kernel-time.md").read_text("utf-8").split())
    for line in judged(ROOT / "bench" / "kernel_time" / "blind_h200.json"):
        assert line in page
