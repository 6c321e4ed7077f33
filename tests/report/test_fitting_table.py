"""Tables where there is no room for them: every number is still there, whole."""

from __future__ import annotations

import pytest

from warpglass.report.console import text_console, text_of
from warpglass.report.fitting_table import FittingTable


def made() -> FittingTable:
    table = FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("id", justify="right")
    table.add_column("kernel", overflow="fold")
    table.add_column("bank\nconflicts", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_row("1", "interleaved<double>", "1,234,567", "exact")
    table.add_row()
    table.add_row("2", "unroll8<double>", "-", "exact")
    return table


@pytest.mark.parametrize("width", range(10, 61, 5))
def test_numbers_are_whole_at_every_width(width: int):
    console = text_console(width)
    console.print(made())
    shown = text_of(console)
    assert "1,234,567" in shown
    assert "…" not in shown


def test_rows_become_blocks_without_room():
    console = text_console(24)
    console.print(made())
    assert text_of(console).splitlines() == [
        *("id 1", "  kernel", "interleaved<double>", "  bank conflicts", "1,234,567  exact"),
        *("id 2", "  kernel unroll8<double>", "exact"),
    ]


def test_a_column_that_takes_the_rest_is_cut():
    table = FittingTable(box=None, padding=(0, 1, 0, 0), width=40)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_row("13", "for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];")
    console = text_console(40)
    console.print(table)
    assert text_of(console).splitlines()[1].startswith("  13 for (int k")


def test_names_are_headings_of_their_own():
    table = FittingTable("Global memory", "", box=None)
    table.columns[0].min_width = 38
    table.columns[1].justify = "right"
    table.add_row("gld_transactions", "131,072")
    console = text_console(30)
    console.print(table)
    assert text_of(console).splitlines() == ["Global memory", "gld_transactions", "  131,072"]
