"""Writes the pages of docs/reference that are tables of what the package has.

`python -m tests.reference_pages` writes metrics.md, findings.md, devices.md, ladders.md and commands.md.
Every row comes from where the thing is defined; test_doc_pages.py compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from warpglass import devices
from warpglass.cli import app
from warpglass.cli.examples import EXAMPLES
from warpglass.cli.metrics import counter_definitions, metric_definitions
from warpglass.ladders import find_ladder, ladder_names
from warpglass.ladders.trial import Options
from warpglass.records.kinds import KINDS
from warpglass.report.device import device_table
from warpglass.report.listing import ladder_table, models_table
from warpglass.report.metrics import LABELS, definitions_tables
from warpglass.report.tables import Column, DataTable, markdown_text, words

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
WRITER = "This page is written by `python -m tests.reference_pages`."


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def pages() -> Mapping[str, str]:
    """The text of every page by its name."""
    makers: Sequence[Callable[[], str]] = (_metrics, _findings, _devices, _ladders, _commands)
    return {f"{make.__name__[1:]}.md": make() for make in makers}


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", WRITER, *(part.strip() for part in parts)]) + "\n"


def _section(table: DataTable, title: str = "") -> str:
    """A table below a heading of its own."""
    heading, rows = title or table.title, markdown_text([DataTable("", table.columns, table.rows)])
    return f"## {heading}\n\n{rows}"


def _metrics() -> str:
    tables = definitions_tables([*metric_definitions(), *counter_definitions()])
    labels = "\n".join(f"* *{name}*: {meaning}" for name, meaning in LABELS.items())
    return _page(
        "Metrics and counters",
        "Names of nvprof and of Nsight Compute for what `warpglass profile` counts "
        "([profile](../profile.md)), as `warpglass metrics` prints them. How they agree with hardware: "
        "[counters](counters.md). A profile labels every number:",
        labels,
        *map(_section, tables),
    )


def _findings() -> str:
    columns = tuple(map(Column, ("kind", "severity", "what it is", "what mends it")))
    rows = tuple(
        (words(one.name), words(one.severity), words(one.meaning), words(one.remedy))
        for one in KINDS.values()
    )
    return _page(
        "Findings",
        "What `warpglass check` reports ([check](../check.md)). A finding may know a better hint than its "
        "kind's.",
        markdown_text([DataTable("", columns, rows)]),
    )


def _devices() -> str:
    models = [devices.get(name) for name in devices.names()]
    parts: list[str] = []
    for one in models:
        table = device_table(one)
        parts.append(_section(table, f"{one.key}: {table.title}"))
    return _page(
        "GPUs known by name",
        "What `--model` takes. `warpglass devices NAME` shows limits and peaks as well, and says of "
        "what they are made.",
        markdown_text([DataTable("", models_table(models).columns, models_table(models).rows)]),
        *parts,
    )


def _ladders() -> str:
    tables = [
        ladder_table(one.name, one.title, one.rungs(Options(as_written=True)))
        for one in map(find_ladder, ladder_names())
    ]
    return _page(
        "Ladders and their rungs",
        "What `warpglass bench` races ([ladders](../ladders.md)); `LADDER:RUNG` is a kernel for `run`, "
        "`check`, `profile`, `explain`, `show` and `trace`.",
        *map(_section, tables),
    )


def _commands() -> str:
    return _page(
        "Commands",
        "As `--help` has them. All end with the same [exit statuses](exit-status.md).",
        *(
            _command(one.name or getattr(one.callback, "__name__", ""), one.callback)
            for one in app.registered_commands
        ),
    )


def _command(name: str, function: Any) -> str:
    """A command from its function: Typer's own annotations, whatever its version makes of them."""
    hints = get_type_hints(function, include_extras=True)
    shown: list[str] = []
    places: list[str] = []
    for parameter in signature(function).parameters.values():
        hint = hints[parameter.name]
        info = next(iter(getattr(hint, "__metadata__", ())), None)
        if info is None or info.hidden:  # the command's context, names of before
            continue
        if isinstance(info, ArgumentInfo):
            names = (info.metavar or parameter.name.upper(),)
            places += names
        else:
            names = _options(parameter.name, info, hint.__origin__)
        default = (
            ""
            if parameter.default in (None, True, False, "", Parameter.empty)
            else f" Default: `{parameter.default}`."
        )
        shown.append(f"* {', '.join(f'`{one}`' for one in names)}: {_plain(info.help or '')}{default}")
    usage, examples = " ".join(["warpglass", name, *places, "[OPTIONS]"]), "\n".join(EXAMPLES[name])
    said = " ".join((getdoc(function) or "").split())
    listed = "\n".join(shown)
    return f"## {name}\n\n{_plain(said)}\n\n```text\n{usage}\n```\n\n{listed}\n\n```text\n{examples}\n```"


def _options(name: str, info: OptionInfo, kind: Any) -> tuple[str, ...]:
    """The names of an option, with what it takes behind them."""
    named = (info.default, *(info.param_decls or ()))  # Typer takes the first one for a default
    given = [one for one in named if isinstance(one, str) and one.startswith("-")]
    names = given or [f"--{name.replace('_', '-')}"]
    if kind is bool:
        return tuple(names) if given else (names[0], f"--no-{names[0][2:]}")
    words = {int: "N", float: "NUMBER", Path: "FILE"}
    takes = next((word for one, word in words.items() if kind is one or one in get_args(kind)), "TEXT")
    return tuple(f"{one} {info.metavar or takes}" for one in names)


def _plain(text: str) -> str:
    """A text of the help in Markdown: what is code there already stays so."""
    return "`".join(
        part if place % 2 else re.sub(r"([<>*_\[\]])", r"\\\1", part)
        for place, part in enumerate(text.split("`"))
    )


if __name__ == "__main__":
    main()
