"""Graphs, trees and sorted lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

N = 1 << 17
DEGREE = 8
LEVEL = 4
PAGES, LINKS = 60000, 16
TREES, JOINS = 1 << 17, 150000
CORNERS, OUTGOING = 8000, 20
FAN, LEAVES, QUERIES = 64, 3000, 16000
LEFT, RIGHT = 250000, 180123

Random = np.random.Generator
F = np.float32


def _graph(rng: Random, n: int, mean: int) -> tuple[Any, Any]:
    """Rows of neighbours; most are short, a few very long."""
    degrees = np.minimum(rng.pareto(1.8, n) * mean * 0.8, 2000).astype(np.int64) + 1
    starts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return starts, rng.integers(0, n, starts[-1], np.int32)


def _edges(starts: Any, edges: Any, chosen: Any) -> tuple[Any, Any]:
    """Source and index of the edges of chosen vertices."""
    source = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = np.flatnonzero(chosen[source])
    return source[kept], kept


# ------------------------------------------------------------------------------------ steps over graphs
def _queue_data(rng: Random) -> Arguments:
    starts, edges = _graph(rng, N, DEGREE)
    levels = rng.choice(np.array([-1, 2, 3, LEVEL], np.int32), N, p=[0.5, 0.1, 0.2, 0.2])
    frontier = rng.permutation(np.flatnonzero(levels == LEVEL)).astype(np.int32)
    return (
        starts,
        edges,
        levels,
        frontier,
        np.zeros(N, np.int32),
        np.zeros(1, np.int32),
        np.int32(LEVEL),
        np.int32(len(frontier)),
    )


def _frontier_size() -> int:
    return len(_queue_data(np.random.default_rng(7))[3])


def _bfs_queue(
    starts: Any, edges: Any, levels: Any, frontier: Any, after: Any, size: Any, level: Any, n: Any
) -> None:
    _, kept = _edges(starts, edges, levels == level)
    reached = np.unique(edges[kept])
    reached = reached[levels[reached] == -1]
    levels[reached] = level + 1
    size[0] = len(reached)


def _sssp_data(rng: Random) -> Arguments:
    starts, edges = _graph(rng, N, DEGREE)
    weights = rng.integers(1, 100, len(edges), np.int32)
    distance = np.where(rng.random(N) < 0.6, rng.integers(0, 400, N), 1 << 29).astype(np.int32)
    active = ((rng.random(N) < 0.3) & (distance < 1 << 29)).astype(np.int32)
    return starts, edges, weights, active, distance, distance.copy(), np.zeros(N, np.int32), np.int32(N)


def _sssp(
    starts: Any, edges: Any, weights: Any, active: Any, distance: Any, shorter: Any, changed: Any, n: Any
) -> None:
    source, kept = _edges(starts, edges, active != 0)
    np.minimum.at(shorter, edges[kept], distance[source] + weights[kept])
    changed[shorter < distance] = 1


def _pages(rng: Random) -> Arguments:
    starts, sources = _graph(rng, PAGES, LINKS)
    degrees = np.maximum(np.bincount(sources, minlength=PAGES), 1).astype(np.int32)
    rank = rng.random(PAGES, F)
    return starts, sources, degrees, rank / rank.sum(), np.zeros(PAGES, F), F(0.85), np.int32(PAGES)


def _pagerank(starts: Any, sources: Any, degrees: Any, rank: Any, after: Any, damping: Any, n: Any) -> None:
    given = rank.astype(np.float64) / degrees
    after[:] = (1 - damping) / n + damping * np.add.reduceat(given[sources], starts[:-1])


def _joins(rng: Random) -> Arguments:
    a, b = rng.integers(0, TREES, (2, JOINS), np.int32)
    return np.arange(TREES, dtype=np.int32), a, b, np.zeros(1, np.int32), np.int32(JOINS)


def _union_find(parents: Any, a: Any, b: Any, joined: Any, m: Any) -> None:
    label = np.arange(len(parents))
    while True:  # labels go down along edges until nothing changes
        low = np.minimum(label[a], label[b])
        after = label.copy()
        np.minimum.at(after, a, low)
        np.minimum.at(after, b, low)
        after = after[after]
        if np.array_equal(after, label):
            break
        label = after
    joined[0] = len(label) - len(np.unique(label))


def _triangles_data(rng: Random) -> Arguments:
    """Edges from smaller to greater vertices, some near, some anywhere."""
    source = np.repeat(np.arange(CORNERS), OUTGOING)
    near = source + rng.geometric(1 / 60, len(source))
    to = np.where(rng.random(len(source)) < 0.7, near, rng.integers(0, CORNERS, len(source)))
    low, high = np.minimum(source, to), np.maximum(source, to)
    kept = (low != high) & (high < CORNERS)
    keys = np.unique(low[kept] * CORNERS + high[kept])
    source, edges = (keys // CORNERS).astype(np.int32), (keys % CORNERS).astype(np.int32)
    starts = np.searchsorted(source, np.arange(CORNERS + 1)).astype(np.int32)
    return starts, edges, source, np.zeros(1, np.uint32), np.int32(len(edges))


def _triangle_edges() -> int:
    return int(_triangles_data(np.random.default_rng(7))[4])


def _triangles(starts: Any, edges: Any, source: Any, total: Any, m: Any) -> None:
    keys = source.astype(np.int64) * CORNERS + edges
    degrees = np.diff(starts)[edges]
    first = np.repeat(np.arange(m), degrees)
    second = np.repeat(starts[edges] - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
    wanted = source[first].astype(np.int64) * CORNERS + edges[second]
    at = np.minimum(np.searchsorted(keys, wanted), m - 1)
    total[0] = np.count_nonzero(keys[at] == wanted)


# ------------------------------------------------------------------------------------ sorted
def _tree(rng: Random) -> Arguments:
    """A root, its children and leaves, in this order; places that nobody uses hold the greatest integer."""
    pad = np.iinfo(np.int32).max
    held = np.sort(rng.choice(1 << 24, LEAVES * 50, replace=False)).reshape(LEAVES, 50).astype(np.int32)
    middle = blocks(LEAVES, FAN)
    keys = np.full((1 + middle + LEAVES, FAN), pad, np.int32)
    children, values = np.zeros((2, *keys.shape), np.int32)
    keys[1 + middle :, :50] = held
    values[1 + middle :, :50] = rng.integers(0, 1 << 30, held.shape)
    least = held[:, 0].copy()
    least[0] = 0
    for leaf in range(LEAVES):
        node, place = 1 + leaf // FAN, leaf % FAN
        keys[node, place], children[node, place] = least[leaf], 1 + middle + leaf
    keys[0, :middle] = keys[1 : 1 + middle, 0]
    children[0, :middle] = np.arange(1, 1 + middle)
    there = rng.choice(held.ravel(), QUERIES)
    queries = np.where(rng.random(QUERIES) < 0.7, there, rng.integers(0, 1 << 24, QUERIES)).astype(np.int32)
    return keys, children, values, queries, np.zeros(QUERIES, np.int32), np.int32(3)


def _btree(keys: Any, children: Any, values: Any, queries: Any, answers: Any, height: Any) -> None:
    middle = blocks(LEAVES, FAN)
    held, of = keys[1 + middle :, :50].ravel(), values[1 + middle :, :50].ravel()
    at = np.minimum(np.searchsorted(held, queries), len(held) - 1)
    answers[:] = np.where(held[at] == queries, of[at], -1)


def _lists(rng: Random) -> Arguments:
    a, b = (np.sort(rng.integers(0, 1 << 20, n, np.int32)) for n in (LEFT, RIGHT))
    return a, b, np.zeros(LEFT + RIGHT, np.int32), np.int32(LEFT), np.int32(RIGHT)


def _merge(a: Any, b: Any, out: Any, na: Any, nb: Any) -> None:
    out[:] = np.sort(np.concatenate([a, b]))


CASES = [
    Case(
        "bfs_queue",
        blocks(_frontier_size(), 128),
        128,
        _queue_data,
        _bfs_queue,
        results=(2, 5),
        changes=(2, 5),
        python=False,
    ),
    Case("sssp_relax", blocks(N, 256), 256, _sssp_data, _sssp, results=(5, 6), changes=(5, 6), python=False),
    Case("pagerank_pull", blocks(PAGES, 128), 128, _pages, _pagerank, results=(4,), python=False),
    Case(
        "union_find", blocks(JOINS, 256), 256, _joins, _union_find, results=(3,), changes=(0, 3), python=False
    ),
    Case(
        "triangle_count",
        blocks(_triangle_edges(), 128),
        128,
        _triangles_data,
        _triangles,
        results=(3,),
        changes=(3,),
        python=False,
    ),
    Case("btree_search", QUERIES, FAN, _tree, _btree, results=(4,), python=False),
    Case("merge_lists", blocks(LEFT + RIGHT, 1024), 128, _lists, _merge, results=(2,), python=False),
]
