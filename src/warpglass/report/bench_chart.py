"""The picture of a bench: times, speedups and rates of every rung, side by side.

Belongs here: the drawing. A row is a rung, a colour a language, or, where two benches are compared, a bench;
a ladder with several tables has one picture below the other. A time that a model gives for a GPU is a mark
beside the bar, hollow, since nobody measured it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records.bench import Record, Row
from .figures import LANGUAGES, format_ratio, format_seconds
from .pictures import COLOURS, FAINT, INK, plain, save_figure, style_axes
from .record_tables import groups_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAR = 20  # times further apart than this are drawn by decades
_WHOSE = {"engine": "time on the engine (this CPU)", "gpu": "time on the GPU", "host": "time on the host"}


@dataclass(frozen=True, slots=True)
class Series:
    """The bars of one colour: a name, a row for each label of the picture that has one, and the colour."""

    name: str
    rows: dict[str, Row]
    colour: str


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the pictures side by side: what it shows of a row, and how the number is written at its bar."""

    heading: str
    value: Callable[[Row], float | None]
    text: Callable[[float], str]
    times: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars for each label, from above, in one colour for each series."""

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]


def charts_of(record: Record) -> list[Chart]:
    """A chart for every table of a bench, a colour for every language."""
    return [chart_of(title, rows) for title, rows in groups_of(record)]


def chart_of(title: str, rows: Sequence[Row]) -> Chart:
    """The chart of one table: a label for each rung, a colour for each language."""
    languages = dict.fromkeys(row.language for row in rows)
    series = tuple(
        Series(
            LANGUAGES.get(one, one),
            {row.rung: row for row in rows if row.language == one},
            colour_of([*LANGUAGES].index(one) if one in LANGUAGES else len(LANGUAGES)),
        )
        for one in languages
    )
    return Chart(title, tuple(dict.fromkeys(row.rung for row in rows)), series)


def colour_of(number: int) -> str:
    """A colour for each number, the same ones over again after the last."""
    return COLOURS[number % len(COLOURS)]


def draw_bench(record: Record, path: Path) -> None:
    """Write the picture of a bench to a file."""
    save_figure(bench_figure(charts_of(record)), path)


def bench_figure(charts: Sequence[Chart]) -> Figure:
    """The picture of some charts, one below the other."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    heights = [1.1 + 0.2 * sum(len(one.rows) for one in chart.series) for chart in charts]
    figure = Figure(figsize=(11, sum(heights) or 1), layout="constrained", facecolor="white")
    parts = figure.subfigures(len(charts), 1, height_ratios=heights, squeeze=False) if charts else []
    for (part,), chart in zip(parts, charts, strict=True):
        panels = _panels(chart)
        all_axes = part.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(all_axes, panels, strict=True):
            _draw_panel(axes, chart, panel)
        part.suptitle(plain(chart.title, 100), x=0.01, ha="left", fontsize=12, color=INK)
        if len(chart.series) > 1:
            part.legend(
                handles=[Patch(color=one.colour, label=plain(one.name)) for one in chart.series],
                loc="outside upper right", ncols=len(chart.series), frameon=False, fontsize=9, labelcolor=INK,
            )  # fmt: skip
    return figure


def _panels(chart: Chart) -> list[_Panel]:
    rows = [row for one in chart.series for row in one.rows.values()]
    labels = {row.label for row in rows} - {"host", None}
    whose = _WHOSE.get(labels.pop() or "", "time") if len(labels) == 1 else "time"
    found = [
        _Panel(whose, lambda row: row.seconds, format_seconds, times=True),
        _Panel("times as fast as the first", lambda row: row.cumulative_speedup, format_ratio),
        _Panel("GB/s", lambda row: row.gb_per_s, format_ratio),
        _Panel("% of the GPU's peak", _peak, lambda value: f"{value:.1f}"),
    ]
    return [panel for panel in found if any(panel.value(row) for row in rows)] or found[:1]


def _peak(row: Row) -> float | None:
    return None if row.share_of_peak is None else 100 * row.share_of_peak


def _draw_panel(axes: Axes, chart: Chart, panel: _Panel) -> None:
    style_axes(axes)
    height = 0.8 / max(1, len(chart.series))
    values: list[float] = []
    for place, label in enumerate(chart.labels):
        bars = [(one, one.rows[label]) for one in chart.series if label in one.rows]
        for number, (one, row) in enumerate(bars):
            value = panel.value(row)
            if not value or value < 0:
                continue
            y = place + (number - (len(bars) - 1) / 2) * height
            axes.barh(y, value, height * 0.92, color=one.colour)
            axes.annotate(
                panel.text(value), (value, y), (3, 0), textcoords="offset points", va="center", fontsize=8,
                color=INK, in_layout=False,
            )  # fmt: skip
            values.append(value)
    if values:
        _scale(axes, values, times=panel.times)
    axes.set_yticks(range(len(chart.labels)), [plain(label, 34) for label in chart.labels], fontsize=9)
    axes.set_ylim(len(chart.labels) - 0.4, -0.6)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title(panel.heading, fontsize=10, color=INK, loc="left")
    axes.grid(axis="x", color=FAINT, alpha=0.4, lw=0.6)
    axes.set_axisbelow(True)


def _scale(axes: Axes, values: Sequence[float], *, times: bool) -> None:
    """From zero, with space for the text behind the longest bar; times far apart by decades."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    least, largest = min(values), max(values)
    if times:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    if times and largest > _FAR * least:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(least / 3, largest * (largest / least) ** 0.4)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.set_xlim(0, largest * (1.35 if times else 1.22))


def _tick(seconds: float) -> str:
    """A round time without the zeros that make it precise."""
    figures, _, unit = format_seconds(seconds).partition(" ")
    return f"{float(figures):g} {unit}" if seconds else "0"
