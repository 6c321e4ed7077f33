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
from ..report.occupancy import OccupancyReport
from ..report.roofline import RooflineReport

_HEIGHT, _LOW = 640, 420  # pixels
_LOW_PAGES = Check, ProgramCheck


def framed(page: str, height: int) -> str:
    """A page as an element of another; a reader may change its height, in pixels at first."""
    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:6px;resize:vertical"
    return f'<iframe title="warpglass" style="{style}" srcdoc="{escape(page)}"></iframe>'


def html_of(result: Any) -> str:
    """A result in HTML: its page in a frame, or what has none as a table of its fields."""
    page = _page_of(result)
    if page is not None:
        return framed(page, _LOW if isinstance(result, _LOW_PAGES) else _HEIGHT)
    facts = {field.name: getattr(result, field.name) for field in fields(result)}
    head = "".join(f"<th>{escape(name)}</th>" for name in facts)
    row = "".join(f"<td>{escape(str(value))}</td>" for value in facts.values())
    return f"<table><tr>{head}</tr><tr>{row}</tr></table>"


def _page_of(result: Any) -> str | None:
    """The page of a result; None for what has none."""
    from ..report.html import Named, occupancy_page, report_page, roofline_page

    match result:
        case Bench():
            record, title, sections = result.record, f"Bench: {result.record.ladder}", result.sections
        case Record():
            record, title, sections = result, f"Bench: {result.ladder}", ()
        case Profile():
            record, title, sections = result, f"Profile: {result.kernel}", ()
        case Check():
            record, title, sections = result, f"Check: {result.kernel}", ()
        case ProgramCheck():
            record, title, sections = result, f"Check: {result.program}", ()
        case OccupancyReport():
            return occupancy_page(result)
        case RooflineReport():
            return roofline_page(result)
        case _:
            return None
    return report_page([Named("the result", record)], title, lambda _: sections)
