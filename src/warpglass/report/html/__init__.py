"""Records as one page of HTML that needs nothing else: no network, no second file.

Belongs here: putting the parts of a page together. What a page says of a bench is ladder.py's, of a profile
kernel.py's, of a check findings.py's, of two records comparison.py's, of an occupancy or a roofline
models.py's; templates/ lays it out. A record may come from anybody: everything in it is escaped by the
templates, nothing in it becomes a link, and the page's policy lets only our own script run.
"""

from __future__ import annotations

from .page import Named, comparison_page, judgement_page, occupancy_page, report_page, roofline_page

__all__ = ["Named", "comparison_page", "judgement_page", "occupancy_page", "report_page", "roofline_page"]
