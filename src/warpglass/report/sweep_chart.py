"""The picture of a sweep: one number over two axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..records.spelling import did_you_mean
from ..records.sweep import SweepRecord
from .pictures import INK, check_ending, new_figure, save_figure
from .sweep import shown

_LARGEST = 24  # cells a side that still have their number written in them


def draw_heat_map(record: SweepRecord, number: str, x: str, y: str, path: Path) -> None:
    """Write a heat map; of several cells at one place, their best (least) number counts.

    Raises ArgumentError for axes and numbers that there are not.
    """
    import numpy as np

    check_ending(path)
    record.check_number(number)
    known = (*record.axes, "model", "name")
    for axis in (x, y):
        if axis not in known:
            raise ArgumentError(f"there is no axis {axis!r}{did_you_mean(axis, list(known))}")
    places: dict[tuple[Any, Any], float] = {}
    for row in record.rows:
        value = row.numbers.get(number)
        if row.status == "done" and isinstance(value, (int, float)):
            place = record.value(row, x), record.value(row, y)
            places[place] = min(value, places.get(place, value))
    columns, lines = (list(dict.fromkeys(place[side] for place in places)) for side in (0, 1))
    grid = np.full((len(lines), len(columns)), np.nan)
    for (column, line), value in places.items():
        grid[lines.index(line), columns.index(column)] = value
    figure, axes = new_figure(2.5 + 0.7 * max(4, len(columns)), 1.8 + 0.5 * max(3, len(lines)))
    image = axes.imshow(grid, aspect="auto", cmap="cividis_r", origin="lower")
    axes.set_xticks(range(len(columns)), [str(value) for value in columns], rotation=45, ha="right")
    axes.set_yticks(range(len(lines)), [str(value) for value in lines])
    axes.set_xlabel(x, fontsize=11, color=INK)
    axes.set_ylabel(y, fontsize=11, color=INK)
    axes.set_title(number, loc="left", fontsize=12, color=INK)
    if max(len(columns), len(lines)) <= _LARGEST:
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2 if places else 0
        for (line, column), value in np.ndenumerate(grid):
            if not np.isnan(value):
                colour = "white" if value > middle else INK
                axes.text(
                    column,
                    line,
                    shown(number, float(value)),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=colour,
                )
    figure.colorbar(image, ax=axes)
    save_figure(figure, path)
