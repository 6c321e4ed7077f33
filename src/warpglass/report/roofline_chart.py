"""The picture of a roofline: roofs of memory and of the pipelines, and any number of kernels on it.

Belongs here: the drawing. A roof of memory and what is measured against it have one colour; a kernel has one
shape, once for every level at which its bytes were counted, large at the level that binds it. A kernel
stands at the rate that it reached, filled if that was measured and half if it is modelled, or, without a
GPU's time, hollow at the rate that it can attain. Kernels without operations have no place there: they are
drawn by the bandwidths that they reach (bandwidth_chart.py), below the roofline or in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, degrees
from pathlib import Path
from typing import TYPE_CHECKING

from ..models.roofline import BOTH, LEVELS, PRECISIONS, Peaks, Placed
from .bandwidth_chart import LEVEL_COLOURS, SHAPES, draw_bandwidths
from .pictures import FAINT, INK, label_decades, new_figure, new_figures, plain, save_figure
from .roofline import NAMES, RooflineReport, short_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEGEND = (
    "shape: kernel; colour: where its bytes were counted; large: what binds;\n"
    "filled: measured; half: modelled; hollow: what it can attain"
)
_FILLS = {"gpu": "full", "modelled": "left"}
_BESIDE, _COLUMN = 3, 24  # more kernels than this: legend beside the picture; another column
_SAME = 1.12  # roofs closer than this share a label


@dataclass(frozen=True, slots=True)
class _Frame:
    """The part of the plane that is drawn: intensities (FLOP/byte) and rates (GFLOP/s)."""

    left: float
    right: float
    bottom: float
    top: float


def draw_roofline(report: RooflineReport, path: Path) -> None:
    """Write the picture to a file."""
    save_figure(roofline_figure(report), path)


def roofline_figure(report: RooflineReport) -> Figure:
    """The picture of a roofline; of bandwidths, where no kernel has operations."""
    placed = [one for one in report.placed if one is not None and one.work.total_flops]
    moving = [one for one in report.placed if one is not None and not one.work.total_flops]
    if moving and not placed:
        figure, axes = new_figure(10, 1.8 + 0.5 * len(moving))
        draw_bandwidths(axes, report.peaks, moving)
        return figure
    if moving:
        figure, (axes, below) = new_figures(10, (6.2, 1.2 + 0.5 * len(moving)))
        draw_bandwidths(below, report.peaks, moving)
    else:
        figure, axes = new_figure(10, 6.2)
    _draw(figure, axes, report, placed)
    return figure


def _draw(figure: Figure, axes: Axes, report: RooflineReport, placed: list[Placed]) -> None:
    precisions = _precisions(report.peaks, placed)
    frame = _frame(report.peaks, precisions, placed)
    axes.set(xscale="log", yscale="log", xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top))
    label_decades(axes.xaxis)
    label_decades(axes.yaxis)
    _draw_roofs(axes, report.peaks, precisions, frame)
    for one, shape in zip(placed, _cycled(SHAPES), strict=False):
        _draw_kernel(axes, one, shape)
    axes.set_title(f"Roofline of {report.peaks.name}", loc="left", fontsize=13, color=INK)
    axes.set_xlabel("arithmetic intensity, FLOP/byte", fontsize=11, color=INK)
    axes.set_ylabel("performance, GFLOP/s", fontsize=11, color=INK)
    axes.grid(which="major", color=FAINT, alpha=0.35, lw=0.6)
    if placed:
        _draw_legend(axes, placed)
    _label_roofs(figure, axes, report.peaks, frame)


def _precisions(peaks: Peaks, placed: list[Placed]) -> list[str]:
    """Return the precisions whose roofs are drawn: those that occur, or FP64 and FP32."""
    used = {name for one in placed for name, count in one.work.flops.items() if count}
    wanted = used or {"fp64", "fp32"}
    return [name for name in PRECISIONS if name in wanted and name in peaks.gflops] or list(peaks.gflops)


def _frame(peaks: Peaks, precisions: list[str], placed: list[Placed]) -> _Frame:
    tops = [peaks.gflops[name] for name in precisions]
    ridges = [top / bandwidth for top in tops for bandwidth in peaks.gb_s.values()]
    points = [point for one in placed for point in _points(one)]
    left = min([edge / 30 for edge in ridges] + [x / 3 for _, x, _ in points])
    right = max([edge * 12 for edge in ridges] + [x * 30 for _, x, _ in points])
    lowest = min([left * bandwidth for bandwidth in peaks.gb_s.values()] + [y / 2 for _, _, y in points])
    return _Frame(left, right, lowest, max(tops) * 2.2)


def _points(placed: Placed) -> Iterator[tuple[str, float, float]]:
    """Yield (level, intensity, rate) for each level at which bytes were counted."""
    rate = placed.work.gflops if placed.work.known_seconds else None
    for level in LEVELS:
        intensity = placed.work.intensity(level)
        if intensity is not None:
            yield level, intensity, placed.gflops if rate is None else rate


def _draw_roofs(axes: Axes, peaks: Peaks, precisions: list[str], frame: _Frame) -> None:
    highest = max(peaks.gflops[name] for name in precisions)
    for levels, _ in _merged(peaks):
        for number, level in enumerate(levels):
            bandwidth = peaks.gb_s[level]
            axes.plot(
                [frame.left, highest / bandwidth],
                [frame.left * bandwidth, highest],
                color=LEVEL_COLOURS[level],
                lw=2,
                ls=(0, (5, 5)) if number else "-",  # one roof on another: both colours show
            )
    widest = max(peaks.gb_s.values(), default=1.0)
    for name in precisions:
        top = peaks.gflops[name]
        axes.plot([top / widest, frame.right], [top, top], color=INK, lw=2, solid_capstyle="round")
        axes.annotate(
            f"{NAMES[name]} {top:,.0f} GFLOP/s".replace(",", " "),
            (frame.right, top),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=10,
            color=INK,
        )


def _label_roofs(figure: Figure, axes: Axes, peaks: Peaks, frame: _Frame) -> None:
    """Settle the layout of the figure, and write each bandwidth along its roof."""
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    (x0, y0), (x1, y1) = axes.transData.transform([(1.0, 1.0), (10.0, 10.0)])
    angle = degrees(atan2(y1 - y0, x1 - x0))
    for levels, bandwidth in _merged(peaks):
        # Where the roof enters the picture: at its left, or at its bottom.
        x = max(frame.left, frame.bottom / bandwidth) * 1.35
        axes.annotate(
            f"{', '.join(NAMES[level] for level in levels)} {_rate(bandwidth)}",
            (x, x * bandwidth),
            xytext=(-3, 3),
            textcoords="offset points",
            color=LEVEL_COLOURS[levels[0]],
            fontsize=10,
            rotation=angle,
            rotation_mode="anchor",
            va="bottom",
            in_layout=False,
        )


def _merged(peaks: Peaks) -> list[tuple[list[str], float]]:
    """Return the levels with their bandwidth, those of nearly the same bandwidth together."""
    groups: list[tuple[list[str], float]] = []
    for level, bandwidth in sorted(peaks.gb_s.items(), key=lambda item: item[1]):
        if groups and bandwidth < groups[-1][1] * _SAME:
            groups[-1][0].append(level)
        else:
            groups.append(([level], bandwidth))
    return groups


def _rate(gb_s: float) -> str:
    return f"{gb_s / 1000:.1f} TB/s" if gb_s >= 1e4 else f"{gb_s:.0f} GB/s"


def _draw_kernel(axes: Axes, placed: Placed, shape: str) -> None:
    whose = placed.work.seconds_label if placed.work.known_seconds else ""
    points = list(_points(placed))
    if len(points) > 1:
        xs = [x for _, x, _ in points]
        axes.plot([min(xs), max(xs)], [points[0][2]] * 2, color=FAINT, lw=1, zorder=2)
    for level, x, y in points:
        binds = level == placed.bound or (placed.bound == BOTH and level in ("l1", "shared"))
        colour = LEVEL_COLOURS[level]
        axes.plot(
            x,
            y,
            shape,
            ms=11 if binds else 7,
            color=colour,
            fillstyle=_FILLS.get(whose, "full"),
            markerfacecolor=colour if whose else "white",
            markerfacecoloralt="white",
            markeredgewidth=1.8,
            zorder=4 if binds else 3,
        )


def _draw_legend(axes: Axes, placed: list[Placed]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            marker=shape,
            ls="",
            ms=8,
            color=INK,
            markerfacecolor="white",
            markeredgewidth=1.6,
            label=f"{plain(one.work.name)}: {short_bound(one)}",
        )
        for one, shape in zip(placed, _cycled(SHAPES), strict=False)
    ]
    many = len(handles) > _BESIDE
    axes.legend(
        handles=handles,
        loc="upper left" if many else "lower right",
        bbox_to_anchor=(1.01, 1.0) if many else None,
        fontsize=9 if many else 10,
        ncols=1 + (len(handles) - 1) // _COLUMN,
        frameon=True,
        framealpha=0.92,
        edgecolor="none",
        title=_LEGEND,
        title_fontsize=8,
        labelcolor=INK,
        alignment="left",
    )


def _cycled(shapes: str) -> Iterator[str]:
    while True:
        yield from shapes
