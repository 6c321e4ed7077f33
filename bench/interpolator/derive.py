"""Derives isa/interpolator.json from measured results, and compares: exit status 0 if it is the same.

    python -m bench.interpolator.derive FOLDER [NAME ...] [--write]

FOLDER is what `measure` wrote; with names only those functions are derived, --write replaces the file.

The method. A result is the leading bits of a fixed-point sum S = C0 + c1 x + c2 square(x), which is cut
(Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005): each result y
says that y <= S < y + ulp. Taken as known are the number of rows, the unit of sums, and the square without
its low columns, which is that of the model (tests/isa/multifunction_unit.py).

1. For each row, least squares over its 2**16 or 2**17 results give c1 and c2 to within a few units.
2. Of the integers around those, one pair leaves an interval for C0, max(y - T) <= C0 < min(y + ulp - T), T
   being the rest of the sum. More than one pair would mean that too little was measured.
3. C0 is c0 * 2**step + bias, the coarsest grid with a point in the interval of every row. One bias is left.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.isa.multifunction_unit import square

from .measure import SIZE, binades, path

STORED = Path(__file__).parents[2] / "src/warpglass/isa/interpolator.json"
Array = np.ndarray[Any, np.dtype[Any]]
Bounds = tuple[Array, Array]  # of each sum: low <= S < high, as doubles, which have all such integers

_CIRCLES = np.float64(np.uint32(0x3E22F983).view(np.float32))  # what radians are multiplied with, 1 / (2 pi)
_TANH_ROWS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)  # log2 of the rows of a binade
_AROUND_C1, _AROUND_C2 = 2, 4  # how far from least squares coefficients are looked for


def _results(folder: Path, name: str, first: int, unit: int, least: int = 1) -> Bounds:
    """Results' magnitudes y and y + ulp, in units of 2**-unit; an ulp counts as so many units at least."""
    y, scale = np.abs(np.load(path(folder, name, first)).view(np.float32)), np.float64(2.0**unit)
    return y * scale, y * scale + np.maximum(np.spacing(y) * scale, least)


def _unknown(bounds: Bounds, where: Any) -> Bounds:
    """Bounds of which some say nothing, since the result is not the sum's."""
    bounds[0][where], bounds[1][where] = -np.inf, np.inf
    return bounds


def _joined(parts: list[Bounds]) -> Bounds:
    low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    return low, high


# ------------------------------------------------------------------------------- what results say of sums
def _plain(name: str, unit: int) -> Callable[[Path], Bounds]:
    """The results are the sums."""
    return lambda folder: _joined([_results(folder, name, first, unit) for first in binades(name)])


def _rsqrt(folder: Path) -> Bounds:
    return _unknown(_plain("rsqrt", 40)(folder), 0)  # exact for powers of four


def _lg2(folder: Path) -> Bounds:
    """Two bits of the sum are cut, then come the exponent and, of negative sums, inversion."""
    below, near, above = binades("lg2")
    one = 2.0**38
    low, high = _results(folder, "lg2", above, 38)
    positive = _unknown(_results(folder, "lg2", near, 38, least=4), 0)  # log2(1) is zero
    negative = _results(folder, "lg2", below, 38, least=4)
    low = np.maximum(np.maximum(low - one, positive[0]), one - negative[1])
    return low, np.minimum(np.minimum(high - one, positive[1]), one - negative[0])


def _sin(folder: Path) -> Bounds:
    """The first quadrant in 2**23 parts; the product with 1 / (2 pi) is cut to 24 bits."""
    low, high = _unknown((np.zeros(SIZE), np.zeros(SIZE)), slice(None))
    for name in ("sin", "cos"):
        for first in binades(name):
            turns = (first + np.arange(SIZE, dtype=np.uint32)).view(np.float32) * _CIRCLES
            ulp = np.ldexp(1.0, np.frexp(turns)[1] - 24)
            place = np.floor(np.floor(turns / ulp) * ulp * 2.0**25).astype(np.int64)
            inside = place < SIZE
            place = place[inside] if name == "sin" else SIZE - 1 - place[inside]
            low[place], high[place] = (part[inside] for part in _results(folder, name, first, 38))
    return low, high


def _tanh(folder: Path) -> Bounds:
    """A binade's distance has 17 bits below those of the row; sums are held below 1."""
    parts: list[Bounds] = []
    for first, rows in zip(binades("tanh"), _TANH_ROWS, strict=True):
        low, high = (part[:: 1 << (6 - rows)] for part in _results(folder, "tanh", first, 39))
        parts.append((low, np.where(low < 2.0**39 - 2.0**15, high, np.inf)))
    return _joined(parts)


# Bits of the distance, unit of the sum, and its bounds. Results of ex2 in [1, 2) are twice the sum.
_FUNCTIONS: dict[str, tuple[int, int, Callable[[Path], Bounds]]] = {
    "rcp": (16, 39, _plain("rcp", 39)),
    "rsqrt": (17, 40, _rsqrt),
    "sqrt": (17, 40, _plain("sqrt", 40)),
    "ex2": (17, 38, _plain("ex2", 37)),
    "lg2": (17, 38, _lg2),
    "sin": (17, 38, _sin),
    "tanh": (17, 39, _tanh),
}


# ------------------------------------------------------------------------------------------- coefficients
def _around(value: float, distance: int) -> range:
    return range(round(value) - distance, round(value) + distance + 1)


def _row(name: str, x: Array, squared: Array, low: Array, high: Array) -> tuple[int, int, int, int]:
    """c1, c2, and the interval of C0, of a row."""
    known = np.isfinite(low) & np.isfinite(high)
    terms = np.stack([np.ones(x.size), x, squared], 1)[known]
    middle = (low[known] + high[known]) / 2
    found: list[tuple[int, int, int, int]] = []
    for c2 in _around(np.linalg.lstsq(terms, middle)[0][2], _AROUND_C2):
        for c1 in _around(np.linalg.lstsq(terms[:, :2], middle - c2 * terms[:, 2])[0][1], _AROUND_C1):
            rest = c1 * x + c2 * squared
            least, end = (low - rest).max(), (high - rest).min()
            if least < end:
                found.append((c1, c2, int(least), int(end)))
    if len(found) != 1:
        sys.exit(f"{name}: {len(found)} pairs of coefficients fit a row whose first result is {low[0]:.0f}")
    return found[0]


def _grid(name: str, low: Array, high: Array) -> tuple[int, int, list[int]]:
    """step, bias, and c0 of each row, from the intervals of C0."""
    narrowest = int((high - low).argmin())
    for step in range(30, -1, -1):
        fits: list[tuple[int, int, list[int]]] = []
        for bias in {c & ((1 << step) - 1) for c in range(low[narrowest], high[narrowest])}:
            c0 = -((bias - low) >> step)
            if (((c0 << step) + bias) < high).all():
                fits.append((step, bias, c0.tolist()))
        if len(fits) > 1:
            sys.exit(f"{name}: {len(fits)} biases fit the intervals of C0")
        if fits:
            return fits[0]
    sys.exit(f"{name}: no grid has a point in the interval of every row")


def derive(name: str, folder: Path) -> dict[str, Any]:
    """The table of a function, as interpolator.json has it."""
    bits, unit, bounds = _FUNCTIONS[name]
    x = np.arange(1 << bits)
    squared = square(x, bits)
    rows = [
        _row(name, x, squared, *pair)
        for pair in zip(*(part.reshape(-1, x.size) for part in bounds(folder)), strict=True)
    ]
    c1, c2, low, high = (np.array(column) for column in zip(*rows, strict=True))
    step, bias, c0 = _grid(name, low, high)
    listed = [list(row) for row in zip(c0, c1.tolist(), c2.tolist(), strict=True)]
    return {"bits": bits, "unit": unit, "step": step, "bias": bias, "rows": listed}


# ---------------------------------------------------------------------------------------------------- file
def _text(tables: dict[str, dict[str, Any]]) -> str:
    """The file, four rows a line."""
    parts: list[str] = []
    for name, table in tables.items():
        head = json.dumps({key: value for key, value in table.items() if key != "rows"})[:-1]
        listed = [str(row) for row in table["rows"]]
        lines = [", ".join(listed[at : at + 4]) for at in range(0, len(listed), 4)]
        rows = ",\n    ".join(lines)
        parts.append(f'  "{name}": {head}, "rows": [\n    {rows}\n  ]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Derive, compare, and write where that is asked for."""
    words = [word for word in sys.argv[1:] if word != "--write"]
    unknown = [word for word in words[1:] if word not in _FUNCTIONS]
    if not words or unknown:
        sys.exit(f"unknown functions {unknown}\n{__doc__}" if unknown else __doc__)
    stored = STORED.read_text("utf-8")
    tables = json.loads(stored)
    same = True
    for name in words[1:] or _FUNCTIONS:
        table = derive(name, Path(words[0]))
        equal = table == tables.get(name)
        same &= equal
        tables[name] = table
        head = ", ".join(f"{key} {value}" for key, value in table.items() if key != "rows")
        print(f"{name}: {len(table['rows'])} rows, {head}: {'as stored' if equal else 'differs'}", flush=True)
    if "--write" in sys.argv:
        STORED.write_text(_text(tables), "utf-8")
    sys.exit(not same)


if __name__ == "__main__":
    main()
