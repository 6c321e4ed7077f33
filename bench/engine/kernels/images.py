"""Pictures: smoothing, edges, sizes, colours, transforms of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

Random = np.random.Generator
GAUSS_ROWS, GAUSS_COLUMNS, RADIUS = 1024, 1024, 8
WIDTH, HEIGHT = 900, 700  # no multiple of a block's
SMALL = 256
OLD, NEW = (300, 210), (450, 330)
SENSOR = 1024
TABLE = """16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62
18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99"""


def _scene(rng: Random, height: int, width: int, noise: float = 8) -> Any:
    """Discs and slopes with noise, in bytes."""
    y, x = np.mgrid[:height, :width]
    light = 60 + 60 * x / width + 40 * np.sin(y / 17)
    for _ in range(40):
        cx, cy, r = rng.integers(0, width), rng.integers(0, height), rng.integers(5, 40)
        light[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += rng.integers(-60, 60)
    return np.clip(light + rng.normal(0, noise, light.shape), 0, 255).astype(np.uint8)


def _around(image: Any, by: int) -> Any:
    return np.pad(image, by, mode="edge")


def _lines(rng: Random) -> Arguments:
    shape = GAUSS_ROWS, GAUSS_COLUMNS
    return np.zeros(shape, np.float32), rng.random(shape, np.float32), np.int32(shape[1]), np.int32(shape[1])


def _gauss_rows(out: Any, image: Any, width: Any, pitch: Any) -> None:
    k = np.arange(-RADIUS, RADIUS + 1)
    weights = np.exp(-(k**2) / 18.0)
    wide = np.pad(image, ((0, 0), (RADIUS, RADIUS))).astype(np.float64)
    out[:] = sum(w * wide[:, i : i + width] for i, w in enumerate(weights / weights.sum()))


def _grey(rng: Random) -> Arguments:
    image = _scene(rng, HEIGHT, WIDTH)
    salt = rng.random(image.shape)
    image[salt < 0.03], image[salt > 0.97] = 0, 255
    return np.zeros_like(image), image, np.int32(WIDTH), np.int32(HEIGHT)


def _median_3x3(out: Any, image: Any, width: Any, height: Any) -> None:
    wide = _around(image, 1)
    nine = [wide[r : r + height, c : c + width] for r in range(3) for c in range(3)]
    out[:] = np.sort(np.stack(nine), axis=0)[4]


def _noisy(rng: Random) -> Arguments:
    image = (_scene(rng, SMALL, SMALL) / np.float32(255) + np.float32(0.01)).astype(np.float32)
    return np.zeros_like(image), image, np.int32(SMALL), np.int32(SMALL), np.float32(50)


def _bilateral(out: Any, image: Any, width: Any, height: Any, sharpness: Any) -> None:
    wide = _around(image, 2).astype(np.float64)
    total, weights = np.zeros(image.shape), np.zeros(image.shape)
    for r in range(5):
        for c in range(5):
            other = wide[r : r + height, c : c + width]
            weight = np.exp(-((r - 2) ** 2 + (c - 2) ** 2) / 4.5 - (other - image) ** 2 * sharpness)
            total += weight * other
            weights += weight
    out[:] = total / weights


def _outlines(rng: Random) -> Arguments:
    image = _scene(rng, HEIGHT, WIDTH, noise=3)
    return np.zeros_like(image), image, np.int32(WIDTH), np.int32(HEIGHT), np.int32(40), np.int32(110)


def _canny_edges(out: Any, image: Any, width: Any, height: Any, low: Any, high: Any) -> None:
    g = _around(image, 2).astype(np.int32)
    across = g[:-2, 2:] + 2 * g[1:-1, 2:] + g[2:, 2:] - g[:-2, :-2] - 2 * g[1:-1, :-2] - g[2:, :-2]
    down = g[2:, :-2] + 2 * g[2:, 1:-1] + g[2:, 2:] - g[:-2, :-2] - 2 * g[:-2, 1:-1] - g[:-2, 2:]
    size = abs(across) + abs(down)
    gx, gy = across[1:-1, 1:-1], down[1:-1, 1:-1]
    flat, steep = 5 * abs(gy) < 2 * abs(gx), 2 * abs(gy) > 5 * abs(gx)
    dx = np.where(steep & ~flat, 0, 1)
    dy = np.where(flat, 0, np.where(steep, 1, np.where((gx ^ gy) < 0, -1, 1)))
    y, x = np.mgrid[1 : height + 1, 1 : width + 1]
    own, ahead, behind = size[y, x], size[y + dy, x + dx], size[y - dy, x - dx]
    kind = np.where(own >= high, 255, np.where(own >= low, 128, 0))
    out[:] = np.where((own >= ahead) & (own > behind), kind, 0)


def _colours(rng: Random) -> Arguments:
    image = np.stack([_scene(rng, OLD[1], OLD[0]) for _ in range(4)], axis=2)
    sizes = [np.int32(one) for one in (*NEW, *OLD)]
    return np.zeros((NEW[1], NEW[0], 4), np.uint8), np.ascontiguousarray(image), *sizes


def _cubic(t: Any) -> Any:
    return (
        ((-0.5 * t + 1) * t - 0.5) * t,
        (1.5 * t - 2.5) * t * t + 1,
        ((-1.5 * t + 2) * t + 0.5) * t,
        (0.5 * t - 0.5) * t * t,
    )


def _resize_bicubic(out: Any, image: Any, width: Any, height: Any, old_width: Any, old_height: Any) -> None:
    u = (np.arange(width) + 0.5) * old_width / width - 0.5
    v = (np.arange(height) + 0.5) * old_height / height - 0.5
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    made = np.zeros(out.shape)
    for j, wy in enumerate(_cubic(v - top)):
        for i, wx in enumerate(_cubic(u - left)):
            row, column = np.clip(top + j - 1, 0, old_height - 1), np.clip(left + i - 1, 0, old_width - 1)
            made += image[row[:, None], column[None]] * (wy[:, None] * wx[None])[:, :, None]
    out[:] = (np.clip(made, 0, 255) + 0.5).astype(np.uint8)


def _sensor(rng: Random) -> Arguments:
    return (
        np.zeros((SENSOR, SENSOR, 4), np.uint8),
        _scene(rng, SENSOR, SENSOR),
        np.int32(SENSOR),
        np.int32(SENSOR),
    )


def _demosaic(out: Any, raw: Any, width: Any, height: Any) -> None:
    g = np.pad(raw, 1, mode="reflect").astype(np.int32)
    own, left, right, up, down = g[1:-1, 1:-1], g[1:-1, :-2], g[1:-1, 2:], g[:-2, 1:-1], g[2:, 1:-1]
    sides, ends, plus = (left + right + 1) // 2, (up + down + 1) // 2, (left + right + up + down + 2) // 4
    cross = (g[:-2, :-2] + g[:-2, 2:] + g[2:, :-2] + g[2:, 2:] + 2) // 4
    for y, x, made in (
        (0, 0, (own, plus, cross)),
        (0, 1, (sides, own, ends)),
        (1, 0, (ends, own, sides)),
        (1, 1, (cross, plus, own)),
    ):
        for k in range(3):
            out[y::2, x::2, k] = made[k][y::2, x::2]
    out[:, :, 3] = 255


def _photo(rng: Random) -> Arguments:
    image = _scene(rng, 768, 1024)
    return np.zeros(image.shape, np.int16), image, np.int32(1024)


def _dct_quantise(out: Any, image: Any, pitch: Any) -> None:
    u, x = np.mgrid[:8, :8]
    c = np.sqrt(np.where(u == 0, 1, 2) / 8) * np.cos((2 * x + 1) * u * np.pi / 16)
    tiles = image.reshape(-1, 8, pitch // 8, 8).transpose(0, 2, 1, 3) - 128.0
    steps = np.array(TABLE.split(), float).reshape(8, 8)
    out[:] = np.rint(c @ tiles @ c.T / steps).transpose(0, 2, 1, 3).reshape(image.shape)


def _grid(width: int, height: int, x: int, y: int) -> tuple[int, int]:
    return blocks(width, x), blocks(height, y)


CASES = [
    Case("gauss_rows", (GAUSS_COLUMNS // 64, GAUSS_ROWS // 8), (16, 8), _lines, _gauss_rows, python=False),
    Case("median_3x3", _grid(WIDTH, HEIGHT, 32, 8), (32, 8), _grey, _median_3x3, python=False),
    Case(
        "bilateral_5x5",
        _grid(SMALL, SMALL, 16, 16),
        (16, 16),
        _noisy,
        _bilateral,
        kernel="bilateral",
        python=False,
    ),
    Case("canny_edges", _grid(WIDTH, HEIGHT, 16, 16), (16, 16), _outlines, _canny_edges, python=False),
    Case(
        "resize_bicubic", _grid(*NEW, 16, 16), (16, 16), _colours, _resize_bicubic, python=False, close=0.001
    ),
    Case("demosaic", _grid(SENSOR, SENSOR, 32, 8), (32, 8), _sensor, _demosaic, python=False),
    Case("dct_quantise", (128, 96), (8, 8), _photo, _dct_quantise, python=False, close=0.001),
]
