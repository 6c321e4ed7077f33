"""How long a bench will take, said before it starts.

Belongs here: the words. Which times they follow from is ladders/measure.py's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

from .figures import LANGUAGES

SHORT = 10.0  # seconds that nobody needs to be warned of


class Forecast(Protocol):
    """What is known beforehand."""

    @property
    def sizes(self) -> Sequence[tuple[int, int]]: ...

    @property
    def rungs(self) -> Sequence[tuple[str, str, float]]: ...

    @property
    def runs(self) -> int: ...

    @property
    def seconds(self) -> float: ...


def print_forecast(forecast: Forecast, console: Console) -> None:
    """Say the expected times, unless the bench is short."""
    if forecast.seconds < SHORT:
        return
    sizes = ", ".join(f"{wanted} instead of {usual} elements" for wanted, usual in forecast.sizes)
    each = ", ".join(
        f"{name} ({LANGUAGES[language]}) {format_duration(seconds)}"
        for name, language, seconds in forecast.rungs
    )
    text = (
        f"{sizes}: {format_duration(forecast.seconds)} in all, judged by the times at the smaller size. "
        f"One run takes: {each}; there are {forecast.runs} of each. --repeat 1, --no-counters and --rung "
        "make it shorter, Ctrl-C ends it."
    )
    console.print(Text(text))


def format_duration(seconds: float) -> str:
    """A time that someone waits for, in whole units: "about 40 s", "about 3 min", "about 2.5 h"."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"
