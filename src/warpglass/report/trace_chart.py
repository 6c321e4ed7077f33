"""The picture of a trace: elements of one array from left to right, steps of the block from top to bottom.

A ring is a load, a filled square a store. A line leads from what a thread loaded to where it then stored: the
tree of a reduction, the pairs of a sort, the halo of a tile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..records.traces import Trace, TraceStep
from .figures import format_launch
from .pictures import COLOURS, FAINT, INK, new_figure, plain, save_figure
from .trace_steps import origins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LANES = 32
_MOST_VALUES = 32  # elements up to which squares have their values beside them
_MOST_STEPS = 120


def draw_trace(trace: Trace, array: str, path: Path) -> None:
    """Write the picture of one array; raises ArgumentError if no step touches it, or too many do."""
    steps = [step for step in trace.steps if step.array == array and step.kind != "barrier"]
    if not steps:
        known = ", ".join(dict.fromkeys(step.array for step in trace.steps if step.array))
        raise ArgumentError(f"no access of block {trace.number} to {array!r}; there is {known or 'none'}")
    if len(steps) > _MOST_STEPS:
        raise ArgumentError(f"{len(steps)} steps access {array}: a picture shows at most {_MOST_STEPS}")
    elements = [touch.element for step in steps for touch in step.touches]
    low, high = min(elements), max(elements)
    width = min(14.0, max(6.0, 0.22 * (high - low + 1)))
    figure, axes = new_figure(width, max(3.0, 0.34 * len(steps) + 1.6))
    for row, step in enumerate(steps):
        _draw_step(axes, steps, row, step, values=high - low < _MOST_VALUES)
    launch = format_launch(trace.kernel, trace.grid, trace.block, trace.shared)
    axes.set_title(
        f"{plain(launch)}, block {trace.number}: {plain(array)}", loc="left", fontsize=12, color=INK
    )
    axes.set_xlabel(f"element of {plain(array)}   (ring: load, square: store; a colour a warp)", fontsize=10)
    axes.set_yticks(
        range(len(steps)), [f"{step.kind} line {step.line}, phase {step.phase}" for step in steps], fontsize=8
    )
    axes.set_ylim(len(steps) - 0.4, -0.8)
    axes.set_xlim(low - 0.8, high + 0.8)
    axes.grid(axis="x", color=FAINT, alpha=0.3, lw=0.5)
    for place in range(1, len(steps)):
        if steps[place].phase != steps[place - 1].phase:
            axes.axhline(place - 0.5, color=INK, lw=0.6, ls=(0, (4, 3)))
    save_figure(figure, path)


def _draw_step(axes: Axes, steps: list[TraceStep], row: int, step: TraceStep, *, values: bool) -> None:
    stores = step.kind != "load"
    if stores:
        for touch, loads in origins(step, steps[:row]):
            for place, load in loads:
                colour = COLOURS[touch.thread // _LANES % len(COLOURS)]
                axes.plot([load.element, touch.element], [place, row], color=colour, lw=0.8, alpha=0.6)
    for warp in sorted({touch.thread // _LANES for touch in step.touches}):
        own = [touch for touch in step.touches if touch.thread // _LANES == warp]
        colour = COLOURS[warp % len(COLOURS)]
        axes.plot(
            [touch.element for touch in own],
            [row] * len(own),
            "s" if stores else "o",
            color=colour,
            mfc=colour if stores else "white",
            ms=5,
            ls="",
        )
    if stores and values:
        for touch in step.touches:
            if touch.value is not None:
                text = f"{touch.value:.3g}" if isinstance(touch.value, float) else str(touch.value)
                axes.annotate(
                    text, (touch.element, row), (0, -9), textcoords="offset points", ha="center", fontsize=6
                )
