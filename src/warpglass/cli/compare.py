"""The command `compare`: what changed from one saved profile or bench to others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from .export import (
    CsvOption,
    HtmlOption,
    LatexOption,
    MarkdownOption,
    check_page,
    draw,
    print_tables,
    table_format,
    write_made,
)
from .metrics import chosen_definitions, metric_definitions
from .options import JsonOption, PlotOption
from .status import FAILED

if TYPE_CHECKING:
    from ..records.bench import Record
    from ..records.files import AnyRecord
    from ..records.profile import Profile
    from ..report.bench_chart import Chart
    from ..report.metrics import Definition
    from ..report.tables import DataTable


def compare(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="A saved profile or bench.")],
    after: Annotated[
        list[Path], typer.Argument(metavar="B.json ...", help="One or more to compare with it.")
    ],
    threshold: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Exit with status 1 if a number got worse by more, as in 5%."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metrics", metavar="NAMES", help="Only these; several times, or with commas."),
    ] = None,
    json_output: JsonOption = False,
    plot: PlotOption = None,
    html: HtmlOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
) -> None:
    """Say what changed from one saved profile to another, and by how much; what got worse comes first.

    Benches, of machines or versions, are compared rung by rung. Of more than two files each is compared with
    the first, and profiles are ranked by their modelled times.
    """
    from ..report.compare import parse_share

    form = table_format(csv=csv, markdown=markdown, latex=latex)
    if html is not None:
        check_page(html)
    limit = parse_share(threshold) if threshold is not None else None
    first, others = _records(before), [_records(path) for path in after]
    every = [_compared(first, other, limit, metric) for other in others]
    names = [path.name for path in (before, *after)]
    found = every[0] if len(every) == 1 else _together(every, names, _ranking(names, [first, *others]))
    _write(found, plot, html, f"{', '.join(names[:-1])} and {names[-1]}")
    if json_output:
        typer.echo(found.json())
    elif form is not None:
        print_tables(found.tables, form)
    else:
        found.print()
    if found.past_limit:
        raise typer.Exit(FAILED)


def _records(path: Path) -> tuple[AnyRecord, ...]:
    from ..records.files import open_records

    return open_records(path)


def _compared(
    before: Sequence[AnyRecord], after: Sequence[AnyRecord], limit: float | None, metric: list[str] | None
) -> _Compared:
    """Compare two files of profiles, or two of benches; raises ArgumentError for any others."""
    from ..records.bench import Record
    from ..records.files import kinds_of
    from ..records.profile import Profile

    sides = (before, after)
    profiles = [[one for one in side if isinstance(one, Profile)] for side in sides]
    benches = [[one for one in side if isinstance(one, Record)] for side in sides]
    if all(map(len, benches)) and not any(map(len, profiles)):
        return _of_benches(benches[0], benches[1], limit)
    if [len(side) for side in profiles] == [len(side) for side in sides]:
        chosen = chosen_definitions(metric) or metric_definitions()
        return _of_profiles(profiles[0], profiles[1], chosen, limit)
    raise ArgumentError(
        f"compare takes two profiles or two benches, not {kinds_of(before)} with {kinds_of(after)}"
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """What can be shown of a comparison."""

    past_limit: bool
    json: Callable[[], str]
    print: Callable[[], None]
    tables: Sequence[DataTable]
    charts: Sequence[Chart]
    remarks: Sequence[str]
    facts: Sequence[tuple[str, str]]


def _ranking(names: Sequence[str], files: Sequence[Sequence[AnyRecord]]) -> list[str]:
    """Files of one profile each by their modelled times; nothing where there is none, or GPUs differ."""
    from ..records.profile import Profile
    from ..report.kernel_time import ranking

    alone = [one[0] for one in files if len(one) == 1 and isinstance(one[0], Profile)]
    if len(alone) != len(files):
        return []
    return ranking([(name, one.modelled) for name, one in zip(names, alone, strict=True)])


def _together(found: Sequence[_Compared], names: Sequence[str], ranked: Sequence[str]) -> _Compared:
    """Comparisons of a first file with each of several others."""
    from ..report.console import stdout_console

    def print_all() -> None:
        console = stdout_console()
        for name, one in zip(names[1:], found, strict=True):
            console.rule(f"{names[0]} and {name}")
            one.print()
        for line in ranked:
            console.print(line, markup=False, highlight=False)

    def as_json() -> str:
        every = [
            {"first": names[0], "second": name, **json.loads(one.json())}
            for name, one in zip(names[1:], found, strict=True)
        ]
        return json.dumps({"comparisons": every, "ranking": list(ranked)}, indent=1)

    return _Compared(
        any(one.past_limit for one in found),
        as_json,
        print_all,
        [table for one in found for table in one.tables],
        [chart for one in found for chart in one.charts],
        [*(text for one in found for text in one.remarks), *ranked],
        [fact for one in found for fact in one.facts],
    )


def _of_profiles(
    before: Sequence[Profile], after: Sequence[Profile], chosen: Sequence[Definition], limit: float | None
) -> _Compared:
    from ..report.compare import changes_tables, compare_profiles, comparison_json, print_comparison
    from ..report.console import stdout_console

    found = compare_profiles(before, after, chosen, limit)
    return _Compared(
        found.past_limit,
        lambda: comparison_json(found),
        lambda: print_comparison(found, stdout_console()),
        changes_tables(found),
        (),
        [*(text for pair in found.pairs for text in pair.differences), *found.unpaired],
        (),
    )


def _of_benches(before: Sequence[Record], after: Sequence[Record], limit: float | None) -> _Compared:
    from ..report.compare_bench import (
        benches_json,
        compare_benches,
        comparison_charts,
        comparison_table,
        print_benches,
    )
    from ..report.console import stdout_console

    second = {one.ladder: one for one in after}
    if len(before) == len(after) == 1:
        pairs = [(before[0], after[0])]
    else:
        pairs = [(one, second[one.ladder]) for one in before if one.ladder in second]
    found = [compare_benches(a, b, limit) for a, b in pairs]
    if not found:
        raise ArgumentError("the two files have no ladder in common")

    def print_all() -> None:
        for one in found:
            print_benches(one, stdout_console())

    return _Compared(
        any(one.past_limit for one in found),
        lambda: benches_json(found),
        print_all,
        [comparison_table(one) for one in found],
        [chart for one in found for chart in comparison_charts(one)],
        [text for one in found for text in one.remarks],
        [fact for one in found for fact in one.facts],
    )


def _write(found: _Compared, plot: Path | None, html: Path | None, title: str) -> None:
    """Write the picture and the page that were asked for."""
    if plot is not None:
        from ..report.bench_chart import bench_figure
        from ..report.pictures import check_ending, save_figure

        check_ending(plot)
        if not found.charts:
            raise ArgumentError("--plot draws benches; profiles have no picture")
        draw(lambda: save_figure(bench_figure(found.charts), plot), plot)
    if html is not None:
        from ..report.html import comparison_page

        told = found.tables, found.charts, found.remarks, found.facts
        write_made(html, lambda: comparison_page(title, *told))
