"""How records show themselves at a prompt and in notebooks: a line of text, and a page.

Belongs here: the protocol of IPython alone. The page is report/html's, which records do not know: whoever
makes records (lab/) says once who draws them.
"""

from __future__ import annotations

from collections.abc import Callable

_drawers: list[Callable[[object], str]] = []


def draw_with(drawer: Callable[[object], str]) -> None:
    """Let `drawer` make the HTML of all records from now on."""
    _drawers[:] = [drawer]


class Displayed:
    """A record that notebooks show as a page; without a drawer they show its text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _drawers[0](self) if _drawers else None
