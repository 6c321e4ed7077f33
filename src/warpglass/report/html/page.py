"""A whole page: its parts in order, its contents, style and script inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import WarpglassError
from ...ladders.view import Section
from ...records.bench import Record
from ...records.check import Check, ProgramCheck
from ...records.files import AnyRecord
from ...records.judgement import JudgementRecord
from ...records.profile import Profile
from ..bench_chart import Chart
from ..judgement import feedback_text, judgement_summary, judgement_table
from ..occupancy import OccupancyReport
from ..roofline import RooflineReport
from ..tables import DataTable
from .comparison import comparison_part
from .findings import check_part, marks_of, program_part
from .kernel import kernel_part
from .ladder import ladder_part
from .models import occupancy_part, roofline_part

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Named:
    """A record and the file that it is from, which messages name."""

    where: str
    record: AnyRecord


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a page: the template that lays it out, its heading, and what the template is told."""

    template: str
    title: str
    told: Mapping[str, Any]


def report_page(records: Sequence[Named], title: str, sections: Callable[[Record], Sequence[Section]]) -> str:
    """The page of some records, in their order; `sections` gives what a bench's ladder has to say of it.

    Raises WarpglassError that names the file of a record that cannot be shown.
    """
    checks = [one.record for one in records if isinstance(one.record, Check)]
    checks += [
        check for one in records if isinstance(one.record, ProgramCheck) for check in one.record.checks
    ]
    marks = marks_of(checks)
    parts: list[Part] = []
    for number, one in enumerate(records):
        try:
            parts.append(_part(one.record, f"p{number}", marks, sections))
        except WarpglassError as problem:
            raise WarpglassError(f"{one.where}: {problem}") from None
    return _render(title, parts)


def _part(
    record: AnyRecord,
    name: str,
    marks: Mapping[tuple[str, int], Sequence[str]],
    sections: Callable[[Record], Sequence[Section]],
) -> Part:
    if isinstance(record, Record):
        return Part("ladder.html", f"Ladder: {record.ladder}", ladder_part(record, name, sections(record)))
    if isinstance(record, Profile):
        return Part("kernel.html", f"Kernel: {record.kernel}", kernel_part(record, name, marks))
    if isinstance(record, Check):
        return Part("check.html", f"Check: {record.kernel}", check_part(record))
    return Part("check.html", f"Check: {record.program}", program_part(record))


def comparison_page(
    title: str,
    tables: Sequence[DataTable],
    charts: Sequence[Chart],
    remarks: Sequence[str],
    facts: Sequence[tuple[str, str]],
) -> str:
    """The page of two records side by side: what changed as tables, and charts where they are benches."""
    told = comparison_part(tables, charts, remarks, facts)
    return _render(title, [Part("numbers.html", "What changed", told)])


def occupancy_page(report: OccupancyReport) -> str:
    """The page of an occupancy: what limits it, and its curve over block sizes."""
    title = f"Occupancy of {report.kernel}" if report.kernel else "Occupancy"
    return _render(title, [Part("numbers.html", "What fits a multiprocessor", occupancy_part(report))])


def roofline_page(report: RooflineReport) -> str:
    """The page of a roofline: its picture, what binds each kernel, and the numbers."""
    title = f"Roofline of {report.peaks.name}"
    return _render(title, [Part("numbers.html", "What binds each kernel", roofline_part(report))])


def judgement_page(record: JudgementRecord) -> str:
    """The page of a judging: the ranked table, and what each author is told."""
    told = {
        "summary": judgement_summary(record),
        "table": judgement_table(record),
        "feedback": [(row.name, feedback_text(record, row)) for row in record.rows],
    }
    return _render(record.task, [Part("judgement.html", "Submissions", told)])


def _render(title: str, parts: Sequence[Part]) -> str:
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = [
        {"anchor": f"part-{number}", "template": part.template, "title": part.title, "told": part.told}
        for number, part in enumerate(parts)
    ]
    return _environment().get_template("page.html").render(
        title=title, parts=shown, style=style, script=script, digest=digest
    )  # fmt: skip


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Only pictures, style and script that we have made are marked as safe, never a record's text.
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
