"""What a page says of a bench: charts, roofline, tables, steps, explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ... import devices
from ...ladders.view import Section, TextTable
from ...models.roofline import Peaks, Work, peaks_of
from ...records.bench import Record, Row
from ..bench import size_line
from ..bench_chart import bench_figure, chart_of
from ..bench_steps import step_sentences
from ..figures import LIBRARIES
from ..pictures import inline_svg
from ..record_tables import bench_table, groups_of, modelled_table
from ..roofline import roofline_report, verdict
from ..roofline_chart import roofline_figure
from ..tables import Column, DataTable, words

_PRECISIONS = {"float64": "fp64", "float32": "fp32", "float16": "fp16"}
_SECTOR = 32
_MOVED = ("gld_transactions", "gst_transactions", "atomic_transactions")
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


def _text_table(part: TextTable) -> dict[str, Any]:
    numbers = len(part.headings) - part.texts
    columns = tuple(Column(heading, place < numbers) for place, heading in enumerate(part.headings))
    rows = tuple(tuple(words(cell) for cell in row) for row in part.rows)
    return {"table": DataTable("", columns, rows)}


def _roofline(rows: Sequence[Row], name: str, record: Record) -> dict[str, Any] | None:
    """The roofline of the GPU that was counted for with all rungs; None where nothing can stand on it."""
    peaks = _peaks(record)
    works = [work for work in map(_work, _kernels(rows)) if work is not None]
    if peaks is None or not works:
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


def _kernels(rows: Sequence[Row]) -> Iterator[Row]:
    """The kernels of one language: the first that has them all, since both do the same work."""
    launched = [row for row in rows if row.grid is not None and row.language not in LIBRARIES]
    seen: set[str] = set()
    for row in launched:
        if row.rung not in seen:
            seen.add(row.rung)
            yield row


def _peaks(record: Record) -> Peaks | None:
    for gpu in (record.device, record.counted_for):
        try:
            return peaks_of(devices.get(gpu or ""))
        except devices.UnknownDevice:
            continue
    return None


def _work(row: Row) -> Work | None:
    """The ideal operations of a rung, the ideal bytes in DRAM, and the sectors that its warps ask L1 for."""
    precision = _PRECISIONS.get(row.dtype)
    if precision is None or not row.seconds or not row.gflop_per_s or not row.gb_per_s:
        return None
    metrics = row.metrics or {}
    moved = sum(metrics.get(name, 0.0) for name in _MOVED)
    bytes_ = {"dram": row.gb_per_s * 1e9 * row.seconds, **({"l1": _SECTOR * moved} if moved else {})}
    flops = {precision: row.gflop_per_s * 1e9 * row.seconds}
    return Work(row.rung, flops, bytes_, row.seconds, row.label or "")
