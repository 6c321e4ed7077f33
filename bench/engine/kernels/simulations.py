"""Options, random numbers, spins, ciphers, searches: much arithmetic on few bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

Random = np.random.Generator
OPTIONS, STEPS = 40, 255
POINTS_GRID, ROUNDS = 64, 32
SITES = 1024
MESSAGE = 1 << 15
QUEENS = 11
PATHS, MOVES = 16384, 32


def _u(value: int) -> Any:
    return np.uint32(value)


def _options(rng: Random) -> Arguments:
    spots, strikes = rng.uniform(60, 110, (2, OPTIONS)).astype(np.float32)
    strikes = np.maximum(strikes, spots * np.float32(0.8)).astype(np.float32)
    years = rng.uniform(0.5, 3, OPTIONS).astype(np.float32)
    return np.zeros(OPTIONS, np.float32), spots, strikes, years, np.float32(0.04), np.float32(0.3)


def _binomial_puts(out: Any, spots: Any, strikes: Any, years: Any, rate: Any, volatility: Any) -> None:
    s, k, dt = (a.astype(np.float64)[:, None] for a in (spots, strikes, years / STEPS))
    move = float(volatility) * np.sqrt(dt)
    up, grow = np.exp(move), np.exp(float(rate) * dt)
    p = (grow - 1 / up) / (up - 1 / up)
    values = np.maximum(k - s * np.exp(move * (2 * np.arange(STEPS + 1) - STEPS)), 0)
    for level in range(STEPS - 1, -1, -1):
        hold = (p * values[:, 1:] + (1 - p) * values[:, :-1]) / grow
        values = np.maximum(hold, k - s * np.exp(move * (2 * np.arange(level + 1) - level)))
    out[:] = values[:, 0]


def _philox(c: list[Any], key: list[Any]) -> list[Any]:
    for _ in range(10):
        a, b = c[0].astype(np.uint64) * np.uint64(0xD2511F53), c[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
        high, low = (
            [(x >> np.uint64(32)).astype(np.uint32) for x in (a, b)],
            [x.astype(np.uint32) for x in (a, b)],
        )
        c = [high[1] ^ c[1] ^ key[0], low[1], high[0] ^ c[3] ^ key[1], low[0]]
        key = [key[0] + _u(0x9E3779B9), key[1] + _u(0xBB67AE85)]
    return c


def _seeded(rng: Random) -> Arguments:
    return np.zeros(1, np.uint32), _u(20240607), np.int32(ROUNDS)


def _philox_pi(hits: Any, seed: Any, rounds: Any) -> None:
    i, zero = np.arange(POINTS_GRID * 256, dtype=np.uint32), np.zeros(POINTS_GRID * 256, np.uint32)
    for k in range(rounds):
        r = _philox([i, zero + _u(k), zero, zero], [zero + seed, zero + _u(0x1234567)])
        x, y, u, v = ((one >> _u(8)) / 2.0**24 for one in r)
        hits[0] += np.count_nonzero(x * x + y * y < 1) + np.count_nonzero(u * u + v * v < 1)


def _spins(rng: Random) -> Arguments:
    spins = np.where(rng.random((SITES, SITES)) < 0.6, 1, -1).astype(np.int8)
    chances = np.minimum(np.exp(-2 * 0.42 * np.array([-4, -2, 0, 2, 4])), 1).astype(np.float32)
    return spins, chances, np.int32(1), _u(0xC0FFEE)


def _ising_colour(spins: Any, chances: Any, colour: Any, seed: Any) -> None:
    y, x = np.mgrid[:SITES, :SITES]
    around = sum(np.roll(spins, by, axis).astype(int) for by in (1, -1) for axis in (0, 1))
    r = np.arange(SITES * SITES, dtype=np.uint32).reshape(SITES, SITES) * _u(0x9E3779B9) ^ seed
    r = (r ^ r >> _u(16)) * _u(0x85EBCA6B)
    r = (r ^ r >> _u(13)) * _u(0xC2B2AE35)
    r ^= r >> _u(16)
    turned = (r >> _u(8)) / 2.0**24 < chances[(spins * around + 4) // 2]
    turned &= (x + y) % 2 == colour
    spins[turned] = -spins[turned]


def _message(rng: Random) -> Arguments:
    text = rng.integers(0, 1 << 32, (MESSAGE * 4, 4), np.uint32)
    key = rng.integers(0, 1 << 32, 8, np.uint32)
    nonces = (_u(one) for one in rng.integers(0, 1 << 32, 3, np.uint32))
    return np.zeros_like(text), text, key, _u(1), *nonces, np.int32(MESSAGE)


def _chacha20(out: Any, text: Any, key: Any, first: Any, *rest: Any) -> None:
    n = rest[3]
    words = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, 0, *rest[:3]]
    start = [np.full(n, one, np.uint32) for one in words]
    start[12] = first + np.arange(n, dtype=np.uint32)
    x = [one.copy() for one in start]

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for p, q, r, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] += x[q]
            x[r] ^= x[p]
            x[r] = x[r] << _u(by) | x[r] >> _u(32 - by)

    for _ in range(10):
        for k in range(4):
            quarter(k, 4 + k, 8 + k, 12 + k)
        for k in range(4):
            quarter(k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4)
    out.reshape(-1, 16)[:] = text.reshape(-1, 16) ^ np.stack(
        [a + b for a, b in zip(x, start, strict=True)], axis=1
    )


def _board(rng: Random) -> Arguments:
    return np.zeros(QUEENS**3, np.int32), np.int32(QUEENS)


def _queens(counts: Any, n: Any) -> None:
    n, every = int(n), (1 << int(n)) - 1

    def ways(row: int, columns: int, left: int, right: int) -> int:
        if row == n:
            return 1
        found, free = 0, every & ~(columns | left | right)
        while free:
            here = free & -free
            free ^= here
            found += ways(row + 1, columns | here, (left | here) << 1, (right | here) >> 1)
        return found

    for i in range(n**3):
        columns = left = right = 0
        for row in range(3):
            here = 1 << i // n**row % n
            if here & (columns | left | right):
                break
            columns, left, right = columns | here, (left | here) << 1, (right | here) >> 1
        else:
            counts[i] = ways(3, columns, left, right)
            continue
        counts[i] = 0


def _market(rng: Random) -> Arguments:
    numbers = [np.float32(one) for one in (100, 0.04, 0.03, 1.5, 0.05, 0.4, -0.6, 1 / MOVES)]
    return np.zeros(PATHS, np.float32), *numbers, np.int32(MOVES), np.int32(PATHS)


def _heston_paths(out: Any, *given: Any) -> None:
    spot, v, rate, pull, mean, wild, linked, dt = (float(one) for one in given[:8])
    i = np.arange(given[9], dtype=np.uint32)
    a = i * _u(2654435761) + _u(1)
    b, c, d = _u(362436069) ^ a, _u(521288629) + i, np.full_like(i, 88675123)
    price, v = np.full(i.size, np.log(spot)), np.full(i.size, v)
    for _ in range(given[8]):
        uniform = []
        for _ in range(2):
            t = a ^ a << _u(11)
            a, b, c, d = b, c, d, d ^ d >> _u(19) ^ t ^ t >> _u(8)
            uniform.append(((d >> _u(8)) + 0.5) / 2.0**24)
        radius, angle = np.sqrt(-2 * np.log(uniform[0])), 2 * np.pi * uniform[1]
        z = radius * np.cos(angle)
        w = linked * z + np.sqrt(1 - linked**2) * radius * np.sin(angle)
        positive = np.maximum(v, 0)
        spread = np.sqrt(positive * dt)
        price += (rate - positive / 2) * dt + spread * w
        v = v + pull * (mean - positive) * dt + wild * spread * z
    out[:] = np.exp(price)


CASES = [
    Case("binomial_puts", OPTIONS, 256, _options, _binomial_puts, python=False),
    Case("philox_pi", POINTS_GRID, 256, _seeded, _philox_pi, changes=(0,), python=False),
    Case(
        "ising_colour", (SITES // 64, SITES // 8), (32, 8), _spins, _ising_colour, changes=(0,), python=False
    ),
    Case("chacha20", blocks(MESSAGE, 128), 128, _message, _chacha20, python=False),
    Case("queens", blocks(QUEENS**3, 64), 64, _board, _queens, python=False),
    Case("heston_paths", blocks(PATHS, 128), 128, _market, _heston_paths, python=False, close=0.002),
]
