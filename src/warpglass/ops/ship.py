"""Compile the operations' kernels and put the PTX into the package: `python -m warpglass.ops.ship`.

Belongs here: which kernels ship, namely those of the calls listed below, for the engine and for GPUs of
compute capability 9.0 and above, without those that ship with a ladder. Machines without a compiler run
these; other calls, as of masks of unusual widths, need one. A test fails when the archive is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..source import load, shipped
from .argsort import ARGSORT
from .blur import BLUR
from .calling import Operation
from .convolve1d import CONVOLVE as CONVOLVE1D
from .convolve2d import CONVOLVE as CONVOLVE2D
from .cumsum import CUMSUM
from .dot import DOT
from .histogram import EQUAL, GIVEN
from .layout import C_TYPES, packed_strides
from .matmul import MATMUL
from .rgb_to_grey import GREY
from .sort import SORT
from .sum import SUM
from .task import Draft, Operand
from .transpose import TRANSPOSE

ARCHIVE = Path(__file__).with_name(shipped.ARCHIVE)
_TARGET = "sm_90"
# The engine; GPUs for which rungs are tuned; those that come after them.
_PLACES = ((None, 0), ((9, 0), 132), ((10, 0), 148))
_TYPES = tuple(np.dtype(name) for name in C_TYPES)
_BYTE, _DOUBLE = np.dtype(np.uint8), np.dtype(np.float64)
_SORTED = tuple(np.dtype(name) for name in ("uint8", "int32", "int64", "float16", "float32", "float64"))
_CONVOLVED = tuple(np.dtype(name) for name in ("float32", "float64"))
_LENGTHS = (100, 10**5, 2**24)  # each may have parameters of its own
_SORTED_LENGTHS = (100, 1000, 4000, 6000, 10**5, 10**6, 2**24)
_MATRICES = ((50, 70), (2000, 3000))
_MASKS = (3, 5, 7, 9)
_MOST_DIMENSIONS = 4  # of arrays that are packed

Call = tuple[Operation, tuple[Operand, ...], tuple[Any, ...]]


def _calls() -> Iterator[Call]:
    """The calls whose kernels ship: an operation, what its operands look like, its parameters."""
    for dtype in _TYPES:
        yield from _calls_of(dtype)
    for dtype in _SORTED:
        for operation in (SORT, ARGSORT):
            yield from ((operation, (_vector(n, dtype),), (0,)) for n in _SORTED_LENGTHS)
            yield from ((operation, (Operand("x", shape, dtype),), (1,)) for shape in _MATRICES)
    for dtype, width in product(_CONVOLVED, _MASKS):
        image, square = Operand("x", _MATRICES[1], dtype), Operand("mask", (width, width), dtype)
        yield CONVOLVE1D, (_vector(10**5, dtype), _vector(width, dtype, "mask")), (-1, "same")
        yield CONVOLVE2D, (image, square), ("same",)
        yield CONVOLVE2D, (image, Operand("mask", (100, 100), dtype)), ("same",)
    yield GREY, (Operand("rgb", (*_MATRICES[1], 3), _BYTE),), ()
    for reach, channels in product((1, 2, 5), (1, 3)):
        yield BLUR, (Operand("image", (*_MATRICES[1], channels), _BYTE),), (reach,)


def _calls_of(dtype: np.dtype[Any]) -> Iterator[Call]:
    """Those that all element types have."""
    for n in _LENGTHS:
        x = _vector(n, dtype)
        yield SUM, (x,), (None, None, False)
        yield CUMSUM, (x,), (None, None)
        yield DOT, (x, _vector(n, dtype, "y")), ()
        yield EQUAL, (x,), (10, None)
        yield from ((EQUAL, (x,), (bins, (0.0, float(bins)))) for bins in (10, 256, 4096))
        yield GIVEN, (x, _vector(20, _DOUBLE, "bins")), ()
    for shape in _MATRICES:
        x = Operand("x", shape, dtype)
        yield TRANSPOSE, (x,), (None,)
        yield MATMUL, (x, Operand("b", shape[::-1], dtype)), ()
        for axis in (0, 1):
            yield SUM, (x,), (axis, None, False)
            yield CUMSUM, (x,), (axis, None)
    for dimensions in range(1, _MOST_DIMENSIONS + 1):
        yield TRANSPOSE, (_apart(dimensions, dtype),), (tuple(range(dimensions)),)
    yield SUM, (_apart(2, dtype),), (None, None, False)
    # Operands of two types are converted to one that has both.
    for other in _TYPES:
        yield DOT, (_vector(100, dtype), _vector(100, other, "y")), ()


def _vector(n: int, dtype: np.dtype[Any], name: str = "x") -> Operand:
    return Operand(name, (n,), dtype)


def _apart(dimensions: int, dtype: np.dtype[Any]) -> Operand:
    """An array none of whose axes lie end to end, nor its elements."""
    strides = tuple(2 * step for step in packed_strides((6,) * dimensions, dtype.itemsize))
    return Operand("x", (5,) * dimensions, dtype, strides)


def kernels(calls: Iterable[Call]) -> Iterator[tuple[Path, str, str | None]]:
    """File, name and target of each kernel that some calls launch; calls that are refused launch none."""
    found: dict[tuple[Path, str, str | None], None] = {}
    for (operation, operands, parameters), place in product(calls, _PLACES):
        draft = Draft(*place)
        try:
            operation.make(draft, *operands, *parameters)
        except ArgumentError:  # sums of booleans' products, for example
            continue
        found.update(dict.fromkeys((step.file, step.kernel, step.target) for step in draft.task().steps))
    yield from found


def obtain() -> None:
    """Compile every kernel that ships, or find it where it is."""
    for file, kernel, target in kernels(_calls()):
        load(file, kernel, target=target or _TARGET).compile(())


def own(entries: dict[str, bytes]) -> dict[str, bytes]:
    """The entries that no ladder's archive has."""
    theirs = frozenset[str]().union(*(shipped.keys(one) for one in shipped.archives() if one != ARCHIVE))
    return {key: entry for key, entry in entries.items() if key not in theirs}


def main() -> None:
    """Write the archive."""
    with shipped.record(fresh=True) as entries:
        obtain()
    found = own(entries)
    shipped.write(ARCHIVE, found)
    sys.stdout.write(f"{ARCHIVE}: {len(found)} kernels, {ARCHIVE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
