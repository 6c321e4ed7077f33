"""The picture of kernels without floating-point operations: the bandwidths that they reach, under the roofs.

Belongs here: the drawing. A kernel has a line, a level of memory a colour: its roof is a vertical line, and
the bytes per second that the kernel moves there a mark, filled if its time was measured, half if it is
modelled, hollow at what it can reach at best. The level that binds is large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models.roofline import BOTH, LEVELS, Peaks, Placed
from .pictures import COLOURS, FAINT, INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL_COLOURS = dict(zip(LEVELS, COLOURS, strict=False))
SHAPES = "osD^vP*X<>ph"
_FILLS = {"gpu": "full", "modelled": "left"}
_NAMES = {"dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "shared memory"}


def draw_bandwidths(axes: Axes, peaks: Peaks, placed: list[Placed]) -> None:
    """Draw a line for every kernel, the first one at the top."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:,.6g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    rates = [rate for one in placed for _, rate in _rates(one)]
    highest = max(peaks.gb_s.values())
    axes.set_xlim(min([0.3 * min(peaks.gb_s.values()), *(0.6 * rate for rate in rates)]), 1.6 * highest)
    axes.set_ylim(len(placed) - 0.4, -0.6)
    _draw_roofs(axes, peaks)
    for place, one in enumerate(placed):
        axes.axhline(place, color=FAINT, lw=0.6, zorder=1)
        for level, rate in _rates(one):
            _draw_mark(axes, one, level, rate, place)
    axes.set_yticks(range(len(placed)), [plain(one.work.name, 40) for one in placed])
    axes.set_xlabel(
        "GB/s at each level; filled: measured, half: modelled, hollow: at best; large: what binds",
        fontsize=10,
        color=INK,
    )
    axes.set_title(
        f"Bandwidths on {peaks.name}, without floating-point operations", loc="left", fontsize=13, color=INK
    )


def _draw_roofs(axes: Axes, peaks: Peaks) -> None:
    """A line for each roof, those of one bandwidth in one."""
    by_rate: dict[float, list[str]] = {}
    for level, rate in peaks.gb_s.items():
        near = next((known for known in by_rate if abs(known / rate - 1) < 0.02), rate)
        by_rate.setdefault(near, []).append(level)
    for rate, levels in by_rate.items():
        for number, level in enumerate(levels):
            names = ", ".join(_NAMES[level] for level in levels)
            axes.axvline(
                rate,
                color=LEVEL_COLOURS[level],
                lw=2,
                ls=(0, (5, 5)) if number else "-",  # one roof on another: both colours show
                zorder=2,
                label="" if number else f"{names} {rate:.0f} GB/s",
            )
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=9, frameon=False, labelcolor=INK)


def _rates(one: Placed) -> list[tuple[str, float]]:
    """1e9 bytes per second at each level: reached, or what the longest of all its times leaves."""
    seconds = one.work.known_seconds or one.least_seconds
    return [(level, 1e-9 * moved / seconds) for level in LEVELS if (moved := one.work.bytes.get(level))]


def _draw_mark(axes: Axes, one: Placed, level: str, rate: float, place: int) -> None:
    whose = one.work.seconds_label if one.work.known_seconds else ""
    colour = LEVEL_COLOURS[level]
    binds = level == one.bound or (one.bound == BOTH and level in ("l1", "shared"))
    axes.plot(
        rate,
        place,
        "o",
        ms=11 if binds else 7,
        color=colour,
        fillstyle=_FILLS.get(whose, "full"),
        markerfacecolor=colour if whose else "white",
        markerfacecoloralt="white",
        markeredgewidth=1.8,
        zorder=4 if binds else 3,
        clip_on=False,
    )
