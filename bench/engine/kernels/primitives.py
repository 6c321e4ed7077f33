"""The parts that other programs are made of: scans, compaction, sorting by digits, transforms, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

Random = np.random.Generator
N = 1 << 19
ODD = N - 99
TRANSFORMS = 1024
ROWS, COLUMNS = 4000, 600
KEYS = 1 << 17


def _numbers(rng: Random) -> Arguments:
    return np.zeros(2 * N, np.int32), np.zeros(2 * N // 512, np.int32), rng.integers(0, 1000, 2 * N, np.int32)


def _blelloch_scan(out: Any, totals: Any, x: Any) -> None:
    rows = x.reshape(-1, 512)
    totals[:] = rows.sum(axis=1)
    out.reshape(-1, 512)[:] = np.cumsum(rows, axis=1) - rows


def _segments(rng: Random) -> Arguments:
    flags = (rng.random(ODD) < 1 / 40).astype(np.uint8)
    return np.zeros(ODD, np.float32), rng.random(ODD, np.float32), flags, np.int32(ODD)


def _segmented_scan(out: Any, x: Any, flags: Any, n: Any) -> None:
    starts = flags.astype(bool)
    starts[::256] = True
    sums = np.cumsum(x, dtype=np.float64)
    before = sums - x
    out[:] = sums - before[starts][np.cumsum(starts) - 1]


LOW, HIGH = np.float32(0.2), np.float32(0.55)


def _kept(rng: Random) -> Arguments:
    x = rng.random(ODD, np.float32)
    inside = np.zeros(blocks(ODD, 256) * 256, bool)
    inside[:ODD] = (x >= LOW) & (x < HIGH)
    counts = inside.reshape(-1, 256).sum(axis=1)
    offsets = (np.cumsum(counts) - counts).astype(np.int32)
    kept = int(counts.sum())
    return np.zeros(kept, np.float32), np.zeros(kept, np.int32), x, offsets, LOW, HIGH, np.int32(ODD)


def _compact_blocks(values: Any, places: Any, x: Any, *_: Any) -> None:
    places[:] = np.flatnonzero((x >= LOW) & (x < HIGH))
    values[:] = x[places]


def _waves(rng: Random) -> Arguments:
    roots = np.exp(-2j * np.pi * np.arange(256) / 256).astype(np.complex64)
    x = rng.standard_normal((TRANSFORMS, 256, 2), np.float32)
    return np.zeros_like(x), x, roots.view(np.float32).reshape(256, 2)


def _fft_256(out: Any, x: Any, roots: Any) -> None:
    made = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1], axis=1)
    out[..., 0], out[..., 1] = made.real, made.imag


def _rows(rng: Random) -> Arguments:
    matrix = np.round(rng.standard_normal((ROWS, COLUMNS)) * 64).astype(np.float32)  # with ties
    return np.zeros(ROWS, np.float32), np.zeros(ROWS, np.int32), matrix


def _argmax_rows(greatest: Any, where: Any, matrix: Any) -> None:
    greatest[:], where[:] = matrix.max(axis=1), matrix.argmax(axis=1)


def _keys(rng: Random) -> Arguments:
    keys = rng.integers(0, 1 << 32, KEYS, np.uint32)
    values, counts = np.arange(KEYS, dtype=np.uint32), np.zeros((16, KEYS // 256), np.uint32)
    return keys, values, counts, np.int32(8)


def _radix_digit(keys: Any, values: Any, counts: Any, shift: Any) -> None:
    rows, others = keys.reshape(-1, 256), values.reshape(-1, 256)
    digits = rows >> np.uint32(shift) & np.uint32(15)
    for digit in range(16):
        counts[digit] = (digits == digit).sum(axis=1)
    order = np.argsort(digits, axis=1, kind="stable")
    rows[:], others[:] = np.take_along_axis(rows, order, 1), np.take_along_axis(others, order, 1)


CASES = [
    Case("blelloch_scan", 2 * N // 512, 256, _numbers, _blelloch_scan, results=(0, 1), python=False),
    Case("segmented_scan", blocks(ODD, 256), 256, _segments, _segmented_scan, python=False),
    Case("compact_blocks", blocks(ODD, 256), 256, _kept, _compact_blocks, results=(0, 1), python=False),
    Case("fft_256", TRANSFORMS, 64, _waves, _fft_256, python=False, close=0.002),
    Case("argmax_rows", ROWS, 128, _rows, _argmax_rows, results=(0, 1), python=False),
    Case(
        "radix_digit", KEYS // 256, 256, _keys, _radix_digit, results=(0, 1, 2), changes=(0, 1), python=False
    ),
]
