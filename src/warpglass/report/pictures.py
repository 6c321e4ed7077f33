"""Pictures in files: the style that all of them share, and their writing.

Belongs here: making a figure and saving it by its ending. Matplotlib is used without pyplot, so that no
window system is asked for and nothing is kept between figures. The colours are those of Okabe and Ito, which
people with any colour vision tell apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, FAINT = "#222222", "#B8B8B8"
ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Raise ArgumentError unless a picture can be written under this name."""
    if path.suffix.lower() not in ENDINGS:
        raise ArgumentError(f"{path}: pictures are written as {', '.join(ENDINGS)}")


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of this size in inches and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)
    axes.tick_params(colors=INK, labelsize=10)
    return figure, axes


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure; raises ArgumentError if the place cannot be written to."""
    import matplotlib

    # Equal input, equal file: no date, and no random identifiers in SVG, whose text stays text.
    settings: Any = {"svg.hashsalt": "warpglass", "svg.fonttype": "none"}
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(settings):
            figure.savefig(path, dpi=160, metadata=metadata.get(path.suffix.lower()))
    except OSError as error:
        raise ArgumentError(f"{path}: cannot write the picture: {error.strerror}") from None
