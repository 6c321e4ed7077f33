"""What a page says of a bench: charts, roofline, tables, steps, explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ... import devices
from ...ladders.view import Section, TextTable
from ...models.roofline import Peaks, peaks_of
from ...models.saved_work import works_of_bench
from ...records.bench import Record, Row
from ...records.course_notes import CourseNotes
from ..bench import size_line
from ..bench_chart import bench_figure, chart_of
from ..bench_steps import step_sentences
from ..notes import how_to_have_ours, notes_of, notes_table, notes_title, ours_of, statements_of
from ..pictures import inline_svg
from ..record_tables import bench_table, groups_of, modelled_table
from ..roofline import roofline_report, verdict
from ..roofline_chart import roofline_figure
from ..tables import Column, DataTable, words

_ENGINE = "Times are wall times of warpglass's engine on a CPU. They say nothing about a GPU's."


def ladder_part(record: Record, name: str, sections: Sequence[Section]) -> dict[str, Any]:
    """What ladder.html is told of a bench; `name` keeps its pictures' identifiers apart from others'."""
    groups = [
        _group(title, rows, f"{name}g{number}", record)
        for number, (title, rows) in enumerate(groups_of(record))
    ]
    engine = any(row.label == "engine" for row in record.rows)
    return {
        "record": record,
        "groups": groups,
        "sections": [_section(section) for section in sections],
        "course": [_course(key, notes, record) for key, notes in notes_of(record.ladder).items()],
        "explanations": list(_explanations(record)),
        "notes": [_ENGINE] if engine else [],
    }


def _group(title: str, rows: Sequence[Row], name: str, record: Record) -> dict[str, Any]:
    chart = bench_figure([chart_of("", rows)])
    return {
        "title": title,
        "size": size_line(rows[0]),
        "chart": inline_svg(
            chart, f"{name}c", f"{title}: time, speedup and rate of each rung, as in the table"
        ),
        "roofline": _roofline(rows, name, record),
        "table": bench_table(title, rows),
        "modelled": modelled_table(title, rows),
        "steps": list(step_sentences(rows)),
        "failures": [f"{row.rung}: {row.failure}" for row in rows if row.failure is not None],
    }


def _explanations(record: Record) -> Iterator[tuple[str, list[str]]]:
    for rung in dict.fromkeys(row.rung for row in record.rows):
        text = record.explanations.get(rung, "")
        if text:
            yield rung, [" ".join(part.split()) for part in text.strip().split("\n\n")]


def _section(section: Section) -> dict[str, Any]:
    parts = [
        _text_table(part) if isinstance(part, TextTable) else {"text": part} for part in section.parts if part
    ]
    return {"title": section.title, "parts": parts}


def _course(key: str, notes: CourseNotes, record: Record) -> dict[str, Any]:
    """What a set of course notes publishes of the ladder, beside what the bench found."""
    return {
        "title": notes_title(key, notes),
        "tables": [
            (notes_table(table, ours := ours_of(record, table)), how_to_have_ours(record, table, ours))
            for table in notes.table
        ],
        "statements": statements_of(notes),
    }


def _text_table(part: TextTable) -> dict[str, Any]:
    numbers = len(part.headings) - part.texts
    columns = tuple(Column(heading, place < numbers) for place, heading in enumerate(part.headings))
    rows = tuple(tuple(words(cell) for cell in row) for row in part.rows)
    return {"table": DataTable("", columns, rows)}


def _roofline(rows: Sequence[Row], name: str, record: Record) -> dict[str, Any] | None:
    """The roofline of the GPU that was counted for with all rungs; None where nothing can stand on it."""
    peaks = _peaks(record)
    if peaks is None:
        return None
    works = [work.on(peaks.key) for work in works_of_bench(replace(record, rows=tuple(rows)))]
    if not works:
        return None
    report = roofline_report(works, peaks)
    placed = [one for one in report.placed if one is not None]
    if not placed:
        return None
    picture = inline_svg(roofline_figure(report), f"{name}r", f"Roofline of {peaks.name} with every rung")
    return {
        "picture": picture,
        "gpu": peaks.name,
        "verdicts": [(one.work.name, " ".join(verdict(one))) for one in placed],
    }


def _peaks(record: Record) -> Peaks | None:
    for gpu in (record.device, record.counted_for):
        try:
            return peaks_of(devices.get(gpu or ""))
        except devices.UnknownDevice:
            continue
    return None
