"""What a page says of two records: the changes as a table, and a chart where they are benches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..bench_chart import Chart, bench_figure
from ..pictures import inline_svg
from ..tables import DataTable


def comparison_part(
    tables: Sequence[DataTable],
    charts: Sequence[Chart],
    remarks: Sequence[str],
    facts: Sequence[tuple[str, str]],
) -> Mapping[str, Any]:
    """What numbers.html is told: tables of what changed, charts, remarks in words, and facts."""
    label = "The same rungs in both records, times and rates side by side"
    return {
        "facts": facts,
        "remarks": remarks,
        "tables": tables,
        "chart": inline_svg(bench_figure(charts), "compared", label) if charts else "",
        "label": "Both records as a chart",
    }
