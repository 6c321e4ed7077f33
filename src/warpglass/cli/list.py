"""The command `list`: the ladders and their rungs."""

from __future__ import annotations


def list_ladders() -> None:
    """List the ladders and their rungs."""
    from ..ladders import find_ladder, ladder_names
    from ..ladders.trial import Options
    from ..report.console import stdout_console
    from ..report.listing import print_ladder

    for name in ladder_names():
        ladder = find_ladder(name)
        print_ladder(ladder.name, ladder.title, ladder.rungs(Options(as_written=True)), stdout_console())
