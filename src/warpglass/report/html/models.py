"""What a page says of an occupancy and of a roofline: the picture, sentences, and the numbers as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..occupancy import OccupancyReport, occupancy_tables
from ..occupancy_chart import curve_figure
from ..pictures import inline_svg
from ..roofline import RooflineReport, roofline_tables
from ..roofline_chart import roofline_figure


def occupancy_part(report: OccupancyReport) -> Mapping[str, Any]:
    """What numbers.html is told of an occupancy."""
    return {
        "facts": [("GPU", report.gpu), ("Block", "x".join(map(str, report.block)))],
        "remarks": report.verdict(),
        "tables": occupancy_tables(report, with_curve=True),
        "chart": inline_svg(
            curve_figure(report), "curve", "Share of warps and of threads at every block size"
        ),
        "label": "Occupancy at every block size",
    }


def roofline_part(report: RooflineReport) -> Mapping[str, Any]:
    """What numbers.html is told of a roofline."""
    label = f"Roofline of {report.peaks.name} with every kernel"
    return {
        "facts": list(report.verdicts.items()),
        "remarks": report.remarks,
        "tables": roofline_tables(report),
        "chart": inline_svg(roofline_figure(report), "roofline", label),
        "label": "Roofline",
    }
