"""What notebooks show of results: the page of a record in a frame of its own.

Belongs here: putting a page into a cell's output. A frame keeps the page's style and script apart from the
notebook's, and looks the same in Jupyter, VS Code, Colab and marimo; where frames are not shown, the record's
line of text is.
"""

from __future__ import annotations

from dataclasses import fields
from html import escape
from typing import Any

from ..ladders.measure import Bench
from ..records.bench import Record
from ..records.check import Check, ProgramCheck
from ..records.profile import Profile

_HEIGHTS: dict[type[Any], int] = {Profile: 640, Record: 640, Check: 420, ProgramCheck: 420}


def framed(page: str, height: int) -> str:
    """A page as an element of another; a reader may change its height, in pixels at first."""
    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:6px;resize:vertical"
    return f'<iframe title="warpglass" style="{style}" srcdoc="{escape(page)}"></iframe>'


def html_of(result: Any) -> str:
    """A result in HTML: the page of a record in a frame, anything else as a table of its fields."""
    if isinstance(result, Bench | Record | Profile | Check | ProgramCheck):
        return _page_of(result)
    facts = {field.name: getattr(result, field.name) for field in fields(result)}
    head = "".join(f"<th>{escape(name)}</th>" for name in facts)
    row = "".join(f"<td>{escape(str(value))}</td>" for value in facts.values())
    return f"<table><tr>{head}</tr><tr>{row}</tr></table>"


def _page_of(record: Bench | Record | Profile | Check | ProgramCheck) -> str:
    from ..report.html import Named, report_page

    shown = record.record if isinstance(record, Bench) else record
    sections = record.sections if isinstance(record, Bench) else ()
    text = report_page([Named("the result", shown)], _title(shown), lambda _: sections)
    return framed(text, _HEIGHTS[type(shown)])


def _title(record: Record | Profile | Check | ProgramCheck) -> str:
    match record:
        case Record():
            return f"Bench: {record.ladder}"
        case Profile():
            return f"Profile: {record.kernel}"
        case Check():
            return f"Check: {record.kernel}"
        case ProgramCheck():
            return f"Check: {record.program}"
