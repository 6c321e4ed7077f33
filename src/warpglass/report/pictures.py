"""Pictures in files: the style that all of them share, and their writing.

Belongs here: making a figure and saving it by its ending. Matplotlib is used without pyplot, so that no
window system is asked for and nothing is kept between figures. The colours are those of Okabe and Ito, which
people with any colour vision tell apart.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from html import escape
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, FAINT = "#222222", "#B8B8B8"
ENDINGS = (".png", ".svg", ".pdf")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def check_ending(path: Path) -> None:
    """Raise ArgumentError unless a picture can be written under this name."""
    if path.suffix.lower() not in ENDINGS:
        raise ArgumentError(f"{path}: pictures are written as {', '.join(ENDINGS)}")


def plain(text: str, most: int = 60) -> str:
    """A text as a label: no mathematics, no characters that a picture cannot hold, not too long."""
    kept = "".join(character for character in text if character.isprintable()).replace("$", r"\$")
    return kept if len(kept) <= most else f"{kept[: most - 1]}…"


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of this size in inches and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    style_axes(axes)
    return figure, axes


def new_figures(width: float, heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes below each other, of these heights in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, sum(heights)), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(len(heights), 1, height_ratios=list(heights))
    found = [figure.add_subplot(grid[place]) for place in range(len(heights))]
    for axes in found:
        style_axes(axes)
    return figure, found


def style_axes(axes: Axes) -> None:
    """Give axes the style of all pictures."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)
    axes.tick_params(colors=INK, labelsize=10)


def label_decades(axis: Axis) -> None:
    """Mark the decades of a logarithmic axis, in plain text: mathematics takes longer than all the rest."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axis.set_major_formatter(FuncFormatter(lambda value, _: decade(value)))
    axis.set_minor_locator(NullLocator())


def decade(value: float) -> str:
    """A power of ten: 0.01, 1, 1000, 10⁴."""
    power = round(log10(value)) if value > 0 else 0
    return f"{value:g}" if -3 <= power <= 3 else f"10{str(power).translate(_RAISED)}"


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure; raises ArgumentError if the place cannot be written to."""
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _settings():
            figure.savefig(path, dpi=160, metadata=metadata.get(path.suffix.lower()))
    except OSError as error:
        raise ArgumentError(f"{path}: cannot write the picture: {error.strerror}") from None


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """A figure as an SVG element for a page of HTML that has several.

    `name` keeps its identifiers apart from those of the page's other pictures, `label` is read out in its
    place. Colours are the page's variables --chart-0 ... and --paper, with our own where it has none; ink is
    the colour of the text around.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for part in (figure, *figure.subfigs, *figure.axes):  # the page's paper shows through
        part.patch.set_visible(False)
    stream = io.StringIO()
    with _settings():  # print_svg draws once, savefig once more before that
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(?<= )(id|clip-path|xlink:href)="(url\(#|#)?', rf'\1="\2{name}-', text)
    for place, colour in enumerate(COLOURS):
        text = text.replace(colour.lower(), f"var(--chart-{place}, {colour})")
    text = text.replace(INK, "currentColor").replace("#ffffff", "var(--paper, #ffffff)")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" class="chart" ', 1)


def _settings() -> AbstractContextManager[None]:
    """Equal input, equal file: no random identifiers in SVG, whose text stays text."""
    import matplotlib

    settings: Any = {"svg.hashsalt": "warpglass", "svg.fonttype": "none"}
    return matplotlib.rc_context(settings)
