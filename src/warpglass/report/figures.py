"""Numbers as people read them: times with a unit, sums, sizes; and the names of languages and libraries.

Belongs here: functions from one number, or one launch, to one short string, without colours. No tables.
"""

from __future__ import annotations

from collections.abc import Sequence

LANGUAGES = {
    "cuda": "C++",
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "cupy": "CuPy",
    "torch": "PyTorch",
}
LIBRARIES = tuple(LANGUAGES)[2:]


def format_seconds(seconds: float | None) -> str:
    """Return four digits and a unit, "-" if there is no time."""
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        scaled = seconds * factor
        if scaled >= 0.9995:
            digits = max(0, 3 - len(str(int(scaled))) + 1)
            return f"{scaled:.{digits}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def format_ratio(ratio: float | None) -> str:
    """Return a speedup or a rate with two decimals, fewer when it is large."""
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"


def format_sum(value: float | None) -> str:
    """Return an integer whole and a float with six decimals, or in exponent form where those say nothing."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.6f}" if value == 0 or 1e-3 <= abs(value) < 1e12 else f"{value:.9g}"


def format_bytes(count: int) -> str:
    """Return bytes in decimal units: 134.2 MB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def format_launch(kernel: str, grid: Sequence[int], block: Sequence[int], shared: int) -> str:
    """Return a launch as in CUDA, kernel<<<grid, block, shared>>>, without what is left out there."""
    parts = [_format_extents(grid), _format_extents(block), *([str(shared)] if shared else [])]
    return f"{kernel}<<<{', '.join(parts)}>>>"


def _format_extents(extents: Sequence[int]) -> str:
    used = max([1, *(k + 1 for k, extent in enumerate(extents) if extent != 1)])
    return "x".join(map(str, extents[:used]))
