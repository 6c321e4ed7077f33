"""Charts: bars start where they mean something, and axes have plain text, which is drawn quickly."""

from __future__ import annotations

from math import log10

import pytest

from tests.report.test_html import row
from warpglass import devices
from warpglass.models.roofline import Work, peaks_of
from warpglass.report.bench_chart import bench_figure, chart_of
from warpglass.report.pictures import decade
from warpglass.report.roofline import roofline_report
from warpglass.report.roofline_chart import roofline_figure


@pytest.mark.parametrize(("seconds", "scale"), [((2e-5, 3e-5), "linear"), ((2e-5, 3e-2), "log")])
def test_every_bar_is_seen_and_near_times_start_at_zero(seconds: tuple[float, float], scale: str):
    rows = [row("slow", seconds[1]), row("fast", seconds[0], language="python")]
    figure = bench_figure([chart_of("A table", rows)])
    times = figure.axes[0]
    left, right = times.get_xlim()
    assert times.get_xscale() == scale
    assert right > max(seconds)
    if scale == "linear":
        assert left == 0
    else:
        assert log10(min(seconds) / left) > 0.05 * log10(right / left)
    assert [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()] == ["C++", "Python"]


def test_decades_are_plain_text():
    assert [decade(10.0**power) for power in (-4, -2, 0, 3, 5, 12)] == [
        "10⁻⁴", "0.01", "1", "1000", "10⁵", "10¹²",
    ]  # fmt: skip
    works = [Work("k", {"fp32": 1e9}, {"dram": 1e9}), Work("copy", {}, {"dram": 1e9})]
    for axes in roofline_figure(roofline_report(works, peaks_of(devices.get("h100")))).axes:
        for axis in (axes.xaxis, axes.yaxis):
            assert not any("$" in text.get_text() for text in axis.get_ticklabels(which="both"))
