"""Programs' inner kernels: particles, normalised rows, prices, look-ups, images, clusters, sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

BODIES = 2048
ROWS, ROW = 512, 1000
SIDE = 512
N = 1 << 18
TABLE = 4096
CENTRES, POINTS = 64, 1 << 15
PAIRS, TEXT = 4096, 64
THREADS, COUNT = 1 << 14, 200
BYTE_ROWS, BYTES = 8192, 256

Random = np.random.Generator


# ------------------------------------------------------------------------------------ floats
def _places(rng: Random) -> Arguments:
    return np.zeros(BODIES, np.float32), *rng.random((3, BODIES), np.float32), np.int32(BODIES)


def _bodies(out: Any, *given: Any) -> None:
    away = [one[None, :] - one[:, None] for one in given[:3]]
    r = 1 / np.sqrt(sum(one * one for one in away) + np.float32(1e-2))
    out[:] = (sum(np.abs(one) for one in away) * r**3).sum(axis=1)


def _scores(rng: Random) -> Arguments:
    return np.zeros((ROWS, ROW), np.float32), 8 * rng.random((ROWS, ROW), np.float32), np.int32(ROW)


def _softmax(out: Any, scores: Any, _: Any) -> None:
    np.exp(scores - scores.max(axis=1, keepdims=True), out=out)
    out /= out.sum(axis=1, keepdims=True)


def _picture(rng: Random) -> Arguments:
    return np.zeros((SIDE, SIDE), np.float32), rng.random((SIDE, SIDE), np.float32), np.int32(SIDE)


def _bilateral(out: Any, picture: Any, _: Any) -> None:
    own, total, weights = picture[2:-2, 2:-2], np.float32(0), np.float32(0)
    for j in range(5):
        for i in range(5):
            one = picture[j : SIDE - 4 + j, i : SIDE - 4 + i]
            apart = np.float32(-0.1 * ((i - 2) ** 2 + (j - 2) ** 2))
            weight = np.exp(apart - np.float32(8) * (one - own) ** 2)
            total, weights = total + weight * one, weights + weight
    out[2:-2, 2:-2] = total / weights


def _options(rng: Random) -> Arguments:
    spot, strike, years = (low + span * rng.random(N, np.float32) for low, span in ((20, 9), (2, 9), (1, 9)))
    return np.zeros(N, np.float32), spot, strike, years, np.float32(0.02), np.float32(0.3), np.int32(N)


def _prices(out: Any, spot: Any, strike: Any, years: Any, rate: Any, volatility: Any, _: Any) -> None:
    root = volatility * np.sqrt(years)
    d = (np.log(spot / strike) + (rate + volatility * volatility / 2) * years) / root
    above, below = (1 / (1 + np.exp(-1.5976 * x - 0.0706 * x**3)) for x in (d, d - root))
    out[:] = spot * above - strike * np.exp(-rate * years) * below


def _lookups(rng: Random) -> Arguments:
    table = 1 + rng.random(TABLE + 1, np.float32)
    return np.zeros(N, np.float32), rng.random(N, np.float32), table, np.int32(TABLE - 1), np.int32(N)


def _table_lookup(out: Any, at: Any, table: Any, last: Any, _: Any) -> None:
    place = at * np.float32(last)
    k = place.astype(np.int32)
    part = place - k
    out[:] = table[k] * (1 - part) + table[k + 1] * part


def _clusters(rng: Random) -> Arguments:
    points, centres = rng.random((8, POINTS), np.float32), rng.random((CENTRES, 8), np.float32)
    return np.zeros(POINTS, np.int32), points, centres, np.int32(CENTRES), np.int32(POINTS)


def _assign(out: Any, points: Any, centres: Any, *_: Any) -> None:
    out[:] = ((points[None] - centres[:, :, None]) ** 2).sum(axis=1).argmin(axis=0)


# ------------------------------------------------------------------------------------ integers
def _pixels(most: int) -> Any:
    def make(rng: Random) -> Arguments:
        return np.zeros((SIDE, SIDE), np.uint8), rng.integers(0, most, (SIDE, SIDE), np.uint8), np.int32(SIDE)

    return make


def _sobel(out: Any, pixels: Any, _: Any) -> None:
    p = pixels.astype(np.int32)
    column, row = p[:, 2:] - p[:, :-2], p[2:] - p[:-2]
    across = column[:-2] + 2 * column[1:-1] + column[2:]
    down = row[:, :-2] + 2 * row[:, 1:-1] + row[:, 2:]
    out[1:-1, 1:-1] = np.minimum(np.sqrt((across**2 + down**2).astype(np.float32)), 255)


def _life(out: Any, cells: Any, _: Any) -> None:
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    n = sum(np.roll(cells, shift, (0, 1)) for shift in shifts)
    out[:] = (n == 3) | ((n == 2) & (cells != 0))


def _lengths(rng: Random) -> Arguments:
    return rng.integers(1, 1000, (SIDE, SIDE), np.int32), np.int32(SIDE), np.int32(7)


def _floyd_step(length: Any, _: Any, k: Any) -> None:
    np.minimum(length, length[:, k, None] + length[None, k], out=length)


def _words(rng: Random) -> Arguments:
    return np.zeros(N, np.uint32), rng.integers(0, 1 << 32, N, np.uint32), np.int32(64)


def _turned(a: Any, by: int) -> Any:
    return a >> np.uint32(by) | a << np.uint32(32 - by)


def _mixing(out: Any, words: Any, rounds: Any) -> None:
    a, b, c = words, np.full_like(words, 0x6A09E667), np.full_like(words, 0xBB67AE85)
    for k in range(rounds):
        added = np.uint32(k * 0x9E3779B9 & 0xFFFFFFFF)
        turned = _turned(a, 6) ^ _turned(a, 11) ^ _turned(a, 25)
        a, b, c = c + turned + (a & b ^ ~a & c) + added, a, b
    out[:] = a ^ b ^ c


def _throws(rng: Random) -> Arguments:
    return np.zeros(THREADS, np.uint32), np.int32(COUNT)


def _darts(out: Any, count: Any) -> None:
    state = np.arange(THREADS, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(12345)
    out[:] = 0
    for _ in range(count):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
        x, y = (one.astype(np.int32) & 0x7FFF for one in (state, state >> np.uint32(16)))
        out += x * x + y * y < 1 << 30


def _letters(rng: Random) -> Arguments:
    texts, words = (rng.integers(0, 4, (PAIRS, length), np.uint8) for length in (TEXT, 32))
    return np.zeros(PAIRS, np.int32), texts, words, np.int32(TEXT)


def _align(out: Any, texts: Any, words: Any, n: Any) -> None:
    row, best = np.zeros((33, PAIRS), np.int32), np.zeros(PAIRS, np.int32)
    for k in range(n):
        corner = np.zeros(PAIRS, np.int32)
        for j in range(1, 33):
            one = corner + np.where(texts[:, k] == words[:, j - 1], 2, -1)
            corner = row[j].copy()
            row[j] = np.maximum(np.maximum(one, 0), np.maximum(corner, row[j - 1]) - 1)
            best = np.maximum(best, row[j])
    out[:] = best


def _byte_matrix(rng: Random) -> Arguments:
    rows, vector = (rng.integers(-128, 128, shape, np.int8) for shape in ((BYTE_ROWS, BYTES), BYTES))
    return np.zeros(BYTE_ROWS, np.int32), rows, vector, np.int32(BYTES)


def _byte_rows(out: Any, rows: Any, vector: Any, _: Any) -> None:
    out[:] = rows.astype(np.int32) @ vector.astype(np.int32)


_IMAGE, _TILE = (SIDE // 32, SIDE // 8), (32, 8)

CASES = [
    Case("bodies", BODIES // 256, 256, _places, _bodies, python=False),
    Case("softmax", ROWS, 128, _scores, _softmax, python=False),
    Case("bilateral", _IMAGE, _TILE, _picture, _bilateral, python=False),
    Case("prices", blocks(N, 256), 256, _options, _prices, python=False),
    Case("table_lookup", blocks(N, 256), 256, _lookups, _table_lookup, python=False),
    Case("assign", POINTS // 256, 256, _clusters, _assign, python=False, close=1e-3),
    Case("sobel", _IMAGE, _TILE, _pixels(256), _sobel, python=False),
    Case("life", _IMAGE, _TILE, _pixels(2), _life, python=False),
    Case("floyd_step", _IMAGE, _TILE, _lengths, _floyd_step, changes=(0,), python=False),
    Case("mixing", N // 256, 256, _words, _mixing, python=False),
    Case("darts", THREADS // 256, 256, _throws, _darts, python=False),
    Case("align", PAIRS // 128, 128, _letters, _align, python=False),
    Case("byte_rows", BYTE_ROWS // 256, 256, _byte_matrix, _byte_rows, python=False),
]
