"""Few lanes at work at a time, at addresses of their own: graphs, hash tables, walks, early exits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

N = 1 << 18
DEGREE = 8
LEVEL = 3
TABLE = 1 << 19
WIDTH = 16
SIDE, LIMIT = 384, 96
TEXT = 1 << 20
POINTS = 256
STEPS = 24

Random = np.random.Generator


def _graph(rng: Random, dead: float = 0.0) -> tuple[Any, Any]:
    """A graph as rows of neighbours: most vertices have few, some many, a share of them none."""
    degrees = np.minimum(rng.geometric(1 / DEGREE, N), 200)
    degrees[rng.random(N) < dead] = 0
    starts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return starts, rng.integers(0, N, starts[-1], np.int32)


def _edges(starts: Any, neighbours: Any, chosen: Any) -> tuple[Any, Any]:
    """The edges of some vertices: from, to."""
    source = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    kept = chosen[source]
    return source[kept], neighbours[kept]


# ------------------------------------------------------------------------------------ graphs
def _frontier(rng: Random) -> Arguments:
    starts, neighbours = _graph(rng)
    levels = rng.choice(np.array([-1, 1, 2, LEVEL], np.int32), N, p=[0.55, 0.2, 0.2, 0.05])
    return levels, np.zeros(1, np.int32), starts, neighbours, np.int32(LEVEL), np.int32(N)


def _bfs_step(levels: Any, found: Any, starts: Any, neighbours: Any, level: Any, n: Any) -> None:
    _, to = _edges(starts, neighbours, levels == level)
    to = to[levels[to] < 0]
    levels[to] = level + 1
    found[0] = to.size > 0


def _changed(rng: Random) -> Arguments:
    starts, neighbours = _graph(rng)
    changed = (rng.random(N) < 0.05).astype(np.int32)
    return np.arange(N, dtype=np.int32), changed, starts, neighbours, np.int32(N)


def _spread_labels(labels: Any, changed: Any, starts: Any, neighbours: Any, n: Any) -> None:
    source, to = _edges(starts, neighbours, changed != 0)
    np.minimum.at(labels, to, source)


def _ends(rng: Random) -> Arguments:
    return np.zeros(N, np.int32), *_graph(rng, dead=0.08), np.int32(STEPS), np.int32(N)


def _random_walk(out: Any, starts: Any, neighbours: Any, steps: Any, n: Any) -> None:
    out[:] = np.arange(n)
    state = np.arange(n, dtype=np.uint32) * np.uint32(747796405) + np.uint32(1)
    degrees = np.diff(starts)
    for _ in range(steps):
        going = np.flatnonzero(degrees[out])
        state[going] = state[going] * np.uint32(1664525) + np.uint32(1013904223)
        at = out[going]
        out[going] = neighbours[starts[at] + (state[going] >> np.uint32(8)) % degrees[at].astype(np.uint32)]


def _forest(rng: Random) -> Arguments:
    vertices = np.arange(N, dtype=np.int32)
    parents = np.maximum(vertices - rng.geometric(1 / 4096, N), 0).astype(np.int32)
    roots = rng.random(N) < 0.1
    return np.zeros(N, np.int32), np.where(roots, vertices, parents).astype(np.int32), np.int32(N)


def _find_roots(out: Any, parents: Any, n: Any) -> None:
    out[:] = parents
    while (out != parents[out]).any():
        out[:] = parents[out]


# ------------------------------------------------------------------------------------ tables and searches
def _hash(keys: Any) -> Any:
    return keys * np.uint32(2654435761) >> np.uint32(7) & np.uint32(TABLE - 1)


def _fill(table: Any, keys: Any) -> None:
    left, at = keys, _hash(keys)
    while left.size:
        free = table[at] == 0
        table[at[free]] = left[free]
        going = table[at] != left
        left, at = left[going], at[going] + np.uint32(1) & np.uint32(TABLE - 1)


def _unlike(rng: Random) -> Any:
    return rng.permutation(np.arange(1, 4 * N, dtype=np.uint32))[:N]


def _empty(rng: Random) -> Arguments:
    return np.zeros(TABLE, np.uint32), _unlike(rng), np.uint32(TABLE - 1), np.int32(N)


def _hash_insert(table: Any, keys: Any, mask: Any, n: Any) -> None:
    _fill(table, keys)


def _filled(rng: Random) -> Arguments:
    table, keys = np.zeros(TABLE, np.uint32), _unlike(rng)
    _fill(table, keys)
    asked = np.where(rng.random(N) < 0.7, rng.permutation(keys), np.uint32(4 * N) + keys)
    return np.zeros(N, np.int32), table, asked.astype(np.uint32), np.uint32(TABLE - 1), np.int32(N)


def _hash_probe(out: Any, table: Any, keys: Any, mask: Any, n: Any) -> None:
    at, going, steps = _hash(keys), np.arange(n), 0
    while going.size:
        seen = table[at]
        out[going[seen == keys[going]]] = steps
        out[going[seen == 0]] = -1
        on = (seen != 0) & (seen != keys[going])
        going, at, steps = going[on], at[on] + np.uint32(1) & mask, steps + 1


def _ordered(rng: Random) -> Arguments:
    numbers = np.sort(rng.integers(0, 1 << 30, N, np.int32))
    return (
        np.zeros(N, np.int32),
        numbers,
        rng.integers(0, 1 << 30, N, np.int32),
        np.int32(N - 77),
        np.int32(N),
    )


def _binary_search(out: Any, numbers: Any, keys: Any, size: Any, n: Any) -> None:
    out[:] = np.searchsorted(numbers[:size], keys)


def _text(rng: Random) -> Arguments:
    text = rng.choice(np.frombuffer(b"ab", np.uint8), TEXT + 64, p=[0.8, 0.2])
    return np.zeros(TEXT, np.int32), text, text[:32].copy(), np.int32(32), np.int32(TEXT)


def _match_text(out: Any, text: Any, word: Any, length: Any, n: Any) -> None:
    out[:] = 0
    going = np.arange(n)
    for k in range(length):
        going = going[text[going + k] == word[k]]
        out[going] += 1


def _numbers(rng: Random) -> Arguments:
    return (
        np.zeros(N, np.int32),
        np.zeros(1, np.int32),
        rng.random(N, np.float32),
        np.float32(0.9),
        np.int32(N),
    )


def _compact(numbers: Any, count: Any, x: Any, threshold: Any, n: Any) -> None:
    over = np.flatnonzero(x > threshold)
    numbers[: over.size], count[0] = over, over.size


def _points(rng: Random) -> Arguments:
    return (
        np.zeros(N // 4, np.float32),
        rng.random(N // 4, np.float32),
        rng.random(POINTS, np.float32),
        np.int32(POINTS),
        np.int32(N // 4),
    )


def _nearest(out: Any, x: Any, points: Any, count: Any, n: Any) -> None:
    for first in range(0, n, 4096):
        part = slice(first, first + 4096)
        far = (points[None, :] - x[part, None]) ** 2
        out[part] = np.partition(far, 4, axis=1)[:, :4].sum(axis=1)


# ------------------------------------------------------------------------------------ others
def _rows(rng: Random) -> Arguments:
    columns = rng.integers(0, N, (WIDTH, N), np.int32)
    columns[np.arange(WIDTH)[:, None] >= rng.integers(4, WIDTH + 1, N)] = -1
    x, values = rng.random(N, np.float32), rng.random((WIDTH, N), np.float32)
    return np.zeros(N, np.float32), columns, values, x, np.int32(WIDTH), np.int32(N)


def _ell_spmv(y: Any, columns: Any, values: Any, x: Any, width: Any, rows: Any) -> None:
    y[:] = np.where(columns >= 0, values * x[columns], 0).sum(axis=0)


def _picture(rng: Random) -> Arguments:
    return np.zeros((SIDE, SIDE), np.int32), np.int32(SIDE), np.int32(LIMIT)


def _ray_march(out: Any, side: Any, limit: Any) -> None:
    line = (np.arange(side) + 0.5) / side - 0.5
    way = np.stack([*np.broadcast_arrays(line[None, :], line[:, None]), np.full((side, side), 0.75)])
    at, going = np.zeros_like(way), np.ones((side, side), bool)
    out[:] = 0
    for _ in range(limit):
        going &= at[2] < 24
        distance = np.sqrt(((at - 4 * np.floor(at / 4) - 2) ** 2).sum(axis=0)) - 1
        going &= distance >= 0.001
        at += np.where(going, distance, 0) * way
        out += going


def _pairs(rng: Random) -> Arguments:
    a, b = rng.integers(1, 1 << 30, (2, N), np.int32)
    return np.zeros(N, np.int32), a, b, np.int32(N)


def _divisors(out: Any, a: Any, b: Any, n: Any) -> None:
    np.gcd(a, b, out=out)


GRID = blocks(N, 256)
CASES = [
    Case("bfs_step", GRID, 256, _frontier, _bfs_step, results=(0, 1), changes=(0,), python=False),
    Case("spread_labels", GRID, 256, _changed, _spread_labels, changes=(0,), python=False),
    Case("random_walk", GRID, 256, _ends, _random_walk, python=False),
    Case("find_roots", GRID, 256, _forest, _find_roots, python=False),
    Case("hash_insert", GRID, 256, _empty, _hash_insert, changes=(0,), python=False, summed=True),
    Case("hash_probe", GRID, 256, _filled, _hash_probe, python=False),
    Case("binary_search", GRID, 256, _ordered, _binary_search, python=False),
    Case("match_text", blocks(TEXT, 256), 256, _text, _match_text, python=False),
    Case("compact", GRID, 256, _numbers, _compact, changes=(0, 1), python=False, summed=True),
    Case("nearest", blocks(N // 4, 256), 256, _points, _nearest, python=False),
    Case("ell_spmv", GRID, 256, _rows, _ell_spmv, python=False),
    Case("ray_march", (SIDE // 16, SIDE // 16), (16, 16), _picture, _ray_march, python=False, close=0.001),
    Case("divisors", GRID, 256, _pairs, _divisors, python=False),
]
