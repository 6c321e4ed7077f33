"""The picture of occupancy over block sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .occupancy import OccupancyReport
from .pictures import COLOURS, FAINT, INK, new_figure, plain, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_curve(report: OccupancyReport, path: Path) -> None:
    """Write the picture of a curve to a file."""
    save_figure(curve_figure(report), path)


def curve_figure(report: OccupancyReport) -> Figure:
    """The share of warps and of threads at every block size, and the block asked for."""
    fits = report.curve()
    threads = [fit.demand.threads for fit in fits]
    figure, axes = new_figure(9, 4.6)
    axes.plot(threads, [100 * fit.thread_share for fit in fits], color=FAINT, lw=1, label="threads")
    axes.step(threads, [100 * fit.share for fit in fits], where="mid", color=COLOURS[0], lw=2, label="warps")
    own = report.fit
    if own.demand.threads <= threads[-1]:
        label = f"{own.demand.threads} threads: {100 * own.share:.4g} %"
        axes.plot(own.demand.threads, 100 * own.share, "o", color=COLOURS[1], ms=9, zorder=3, label=label)
    subject = f"Occupancy of {plain(report.kernel)}" if report.kernel else "Occupancy"
    demand = own.demand
    registers = f"{demand.registers} registers per thread" if demand.registers else "registers not given"
    axes.set_title(
        f"{subject} on {report.gpu}\n{registers}, {demand.shared} bytes of shared memory",
        loc="left",
        fontsize=12,
        color=INK,
    )
    axes.set_xlabel("threads per block", fontsize=11, color=INK)
    axes.set_ylabel("share of the multiprocessor, %", fontsize=11, color=INK)
    axes.set_xlim(0, threads[-1] + 8)
    axes.set_ylim(0, 105)
    axes.set_xticks(range(0, threads[-1] + 1, 128))
    axes.grid(axis="y", color=FAINT, alpha=0.4, lw=0.6)
    axes.legend(
        loc="lower right", frameon=True, framealpha=0.9, edgecolor="none", fontsize=10, labelcolor=INK
    )
    return figure
