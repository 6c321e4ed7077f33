"""What one block of a launch did at memory, step by step, on a terminal.

Belongs here: words and layout. A step is an access that the block's warps make between the same barriers; its
threads, elements and values stand in one line each, runs of numbers as ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import prod
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from ..host.source_lines import lines_of
from ..records.traces import Number, Touch, Trace, TraceStep
from .check_source import short as short_path
from .figures import format_launch
from .tables import Column, DataTable, number, words

_MOST = 8  # values or ranges of a line
_ENDS = 3  # of which so many are the last ones, where there are more


def print_steps(trace: Trace, console: Console, array: str = "", most: int = 0) -> None:
    """Print the steps of a block; with `array` those of this one alone, of `most` the first (0: all)."""
    console.print(Text(_title(trace), style="bold"))
    chosen = [step for step in trace.steps if step.kind == "barrier" or array in ("", step.array)]
    shown = chosen[:most] if most else chosen
    width = max([len(_what(step)) for step in shown], default=0)
    threads = max([len(ranges([t.thread for t in step.touches])) for step in shown], default=0)
    for (file, line), steps in groupby(shown, key=lambda step: (step.file, step.line)):
        console.print(Text(f"{_source(file, line)}", style="cyan"), soft_wrap=True)
        for step in steps:
            _print_step(step, width, threads, prod(trace.block), console)
    if len(chosen) > len(shown):
        console.print(Text(f"... and {len(chosen) - len(shown)} steps more (--most 0 shows all)"))
    if trace.lost:
        console.print(
            Text(f"The block did more than a trace holds: {trace.lost} rows of it are left out.", "red")
        )


def _title(trace: Trace) -> str:
    launch = format_launch(trace.kernel, trace.grid, trace.block, trace.shared)
    return f"{launch}, block {trace.number} of {prod(trace.grid)}"


def steps_table(trace: Trace, array: str = "") -> DataTable:
    """All steps of a block, or those at one array and the barriers: runs of numbers as ranges."""
    columns = (
        *(Column("phase", True), Column("access"), Column("array"), Column("place")),
        *(Column("active", True), Column("threads"), Column("elements"), Column("values")),
    )
    rows = tuple(
        (
            *(number(step.phase, str(step.phase)), words(step.kind), words(step.array)),
            words(f"{short_path(step.file)}:{step.line}" if step.file else f"PTX:{step.line}"),
            number(len(step.touches), str(len(step.touches))),
            words(ranges([touch.thread for touch in step.touches])),
            *(words(text) for text in _accessed(step)),
        )
        for step in trace.steps
        if step.kind == "barrier" or array in ("", step.array)
    )
    return DataTable(_title(trace), columns, rows)


def _accessed(step: TraceStep) -> tuple[str, str]:
    """The elements of a step and their values; of a barrier nothing."""
    if step.kind == "barrier":
        return "", ""
    return ranges([touch.element for touch in step.touches]), _values(step).removeprefix("= ")


def _source(file: str, line: int) -> str:
    lines = lines_of(file)
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return f"{short_path(file)}:{line}: {text}" if file else f"line {line} of the PTX"


def _what(step: TraceStep) -> str:
    return f"{step.kind} {step.array}".rstrip()


def _print_step(step: TraceStep, width: int, threads: int, of: int, console: Console) -> None:
    come = ranges([touch.thread for touch in step.touches])
    if step.kind == "barrier":
        text = f"  {'barrier':{width}}  {come:{threads}}  {len(step.touches)} of {of} threads come"
        console.print(Text(text, style="dim"), soft_wrap=True)
        return
    elements = ranges([touch.element for touch in step.touches])
    said = f"  {_what(step):{width}}  {come:{threads}}  [{elements}] {_values(step)}"
    for line in wrap(said, console.width, subsequent_indent=" " * 6, break_on_hyphens=False):
        console.print(Text(line), soft_wrap=True)


def _values(step: TraceStep) -> str:
    texts = [_number(touch.value) for touch in step.touches]
    if len(texts) > 1 and len(set(texts)) == 1:
        shown = f"{texts[0]} (all)"
    elif len(texts) > _MOST:
        shown = " ".join([*texts[: _MOST - _ENDS], "...", *texts[-_ENDS:]])
    else:
        shown = " ".join(texts)
    return f"{'was' if step.kind == 'atomic' else '='} {shown}"


def _number(value: Number | None) -> str:
    return "?" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in their order: 0-31, every second one as 0,2..62, repeats as 5 x32 and (0-15) x16."""
    parts = list(_repeats(_runs(numbers)))
    if len(parts) > _MOST:
        parts = [*parts[: _MOST - _ENDS], "...", *parts[-_ENDS:]]
    return " ".join(parts)


def _repeats(parts: Iterable[str]) -> Iterator[str]:
    """Equal ranges one behind the other as one: (0-15) x16."""
    for part, same in groupby(parts):
        count = sum(1 for _ in same)
        if count > 2 and not part.isdigit():
            yield f"({part}) x{count}"
        else:
            yield from [part] * count


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    place = 0
    while place < len(numbers):
        first = numbers[place]
        step = numbers[place + 1] - first if place + 1 < len(numbers) else 0
        end = place + 1
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        if end - place < 3:
            yield str(first)
            place += 1
            continue
        last = numbers[end - 1]
        yield f"{first} x{end - place}" if not step else _progression(first, step, last)
        place = end


def _progression(first: int, step: int, last: int) -> str:
    return f"{first}-{last}" if step == 1 else f"{first},{first + step}..{last}"


def busiest(trace: Trace) -> str:
    """The array that most steps store to, or load from where nothing is stored; "" without any."""
    counts: dict[tuple[bool, str], int] = {}
    for step in trace.steps:
        if step.kind != "barrier":
            key = step.kind != "load", step.array
            counts[key] = counts.get(key, 0) + 1
    stored = {array: count for (stores, array), count in counts.items() if stores}
    loaded = {array: count for (stores, array), count in counts.items() if not stores}
    both = {array: count for array, count in stored.items() if array in loaded}
    found = both or stored or loaded
    return max(found, key=lambda array: found[array], default="")


def origins(step: TraceStep, before: Sequence[TraceStep]) -> Iterator[tuple[Touch, list[tuple[int, Touch]]]]:
    """For each store of a step, what its thread has loaded of the same array since its last store to it.

    Loads are pairs of their step's place in `before` and the touch.
    """
    wanted = {touch.thread for touch in step.touches}
    loads: dict[int, list[tuple[int, Touch]]] = {}
    for place in range(len(before) - 1, -1, -1):
        one = before[place]
        if one.array != step.array or not wanted:
            continue
        for touch in one.touches:
            if touch.thread not in wanted:
                continue
            if one.kind == "load":
                loads.setdefault(touch.thread, []).append((place, touch))
        if one.kind != "load":
            wanted -= {touch.thread for touch in one.touches}
    for touch in step.touches:
        yield touch, loads.get(touch.thread, [])
