"""What notebooks show of results: the page of a record in a frame of its own.

Belongs here: putting a page into a cell's output. A frame keeps the page's style and script apart from the
notebook's, and looks the same in Jupyter, VS Code, Colab and marimo; where frames are not shown, the record's
line of text is.
"""

from __future__ import annotations

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


def page_of(record: object) -> str:
    """The page of one result in a frame."""
    from ..report.html import Named, report_page

    bench = record if isinstance(record, Bench) else None
    shown = bench.record if bench is not None else record
    assert isinstance(shown, Record | Profile | Check | ProgramCheck)
    sections = bench.sections if bench is not None else ()
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
