"""Random patterns for matrix products: the ways in which exponents of the terms can lie to each other."""

from __future__ import annotations

import numpy as np

from .matrix_oracle import FLOATS, WIDTHS

# All numbers; exponents close together; mostly zeros and far apart; the smallest and the largest numbers;
# small integers; infinities and NaN among zeros.
MODES = ("wide", "near", "dense", "sparse", "spread", "tiny", "huge", "integers", "special")


def patterns(rng: np.random.Generator, type_: str, count: int, mode: str, sums: bool) -> np.ndarray:
    """Patterns of a floating type, uint64; `sums` for the elements of C, whose exponents are twice as far."""
    f = FLOATS[type_]
    top = (1 << (f.width - 1 - f.fraction)) - 1  # the exponent of infinity
    if mode == "integers":
        field, fraction = _integers(rng, f.bias, f.fraction, count)
    else:
        field = _exponents(rng, type_, top, f.bias, count, mode, 2 if sums else 1)
        fraction = rng.integers(0, 1 << f.fraction, count, dtype=np.uint64)
    zero = np.zeros(count, bool)
    if mode == "sparse":
        zero = rng.random(count) < (0.2 if sums else 0.8)
    if mode == "special":
        zero = rng.random(count) < 0.3
        special = rng.random(count) < 0.03
        field[special] = top
        fraction[special & (rng.random(count) < 0.8)] = 0
    field[zero], fraction[zero] = 0, 0
    sign = rng.integers(0, 2, count, dtype=np.uint64)
    found = (sign << np.uint64(f.width - 1)) | (field.astype(np.uint64) << np.uint64(f.fraction)) | fraction
    if type_ != "tf32":
        return found
    # What lies below the format's bits must not matter.
    return (found << np.uint64(13)) | rng.integers(0, 1 << 13, count, dtype=np.uint64)


def _exponents(
    rng: np.random.Generator, type_: str, top: int, bias: int, count: int, mode: str, scale: int
) -> np.ndarray:
    narrow = type_ in ("f16", "e4m3", "e5m2")
    distance = {"near": 5, "dense": 1, "sparse": 14, "spread": 9, "special": 5}
    if mode in distance:
        found = bias + rng.integers(-distance[mode], distance[mode] + 1, count) * scale
    elif mode == "tiny":
        center = 0 if narrow or scale == 2 else bias - 63
        found = center + rng.integers(-8 if center else 0, 9, count)
    elif mode == "huge":
        center = top - 4 if narrow or scale == 2 else bias + 60
        found = center + rng.integers(0, 5, count)
    else:
        found = rng.integers(0, top, count)
    return np.clip(found, 0, top - 1)


def _integers(
    rng: np.random.Generator, bias: int, fraction: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """1, 2, 3, 4, 6 as exponent and fraction."""
    field = bias + rng.integers(0, 3, count)
    odd = (field > bias) & (rng.random(count) < 0.5)
    return field, np.where(odd, 1 << (fraction - 1), 0).astype(np.uint64)


def pack(found: np.ndarray, type_: str, warps: int) -> np.ndarray:
    """Patterns side by side in registers: (warps, registers, lanes)."""
    width = WIDTHS[type_]
    if width == 64:
        return found.reshape(warps, -1, 32)
    per = 32 // width
    parts = found.reshape(-1, per)
    words = np.zeros(len(parts), np.uint64)
    for k in range(per):
        words |= parts[:, k] << np.uint64(k * width)
    return words.astype(np.uint32).reshape(warps, -1, 32)
