"""Dynamic programming: alignments of sequences, distances of words, knapsacks, hidden states."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

Random = np.random.Generator
TILE, TILES, PROBLEMS = 32, 32, 4
SIDE = TILE * TILES + 1
PAIRS, QUERY, SUBJECT, LETTERS = 64, 128, 192, 24
LCS = 1 << 21
WORDS, WIDTH = 32768, 24
SACKS, ITEMS, CAPACITY = 96, 48, 1024
SEQUENCES, STATES, STEPS, SYMBOLS = 128, 64, 24, 16


def _matrix(rng: Random) -> Arguments:
    score = rng.integers(-400, 400, (PROBLEMS, SIDE, SIDE), np.int32)
    similarity = rng.integers(-4, 12, (PROBLEMS, SIDE, SIDE), np.int32)
    return score, similarity, np.int32(SIDE), np.int32(TILES), np.int32(10)


def _needleman_tile(score: Any, similarity: Any, side: Any, tiles: Any, penalty: Any) -> None:
    p, bx = (a.ravel() for a in np.meshgrid(np.arange(PROBLEMS), np.arange(tiles), indexing="ij"))
    top, left = (tiles - 1 - bx) * TILE, bx * TILE
    for i in range(1, TILE + 1):
        for j in range(1, TILE + 1):
            y, x = top + i, left + j
            match = score[p, y - 1, x - 1] + similarity[p, y, x]
            gap = np.maximum(score[p, y, x - 1], score[p, y - 1, x]) - penalty
            score[p, y, x] = np.maximum(match, gap)


def _proteins(rng: Random) -> Arguments:
    matrix = rng.integers(-4, 3, (LETTERS, LETTERS), np.int32)
    matrix = np.minimum(matrix, matrix.T) + np.diag(rng.integers(6, 10, LETTERS, np.int32))
    queries = rng.integers(0, 20, (PAIRS, QUERY), np.uint8)
    subjects = rng.integers(0, 20, (PAIRS, SUBJECT), np.uint8)
    for one in range(PAIRS):  # a part of the query, somewhere
        at, long = int(rng.integers(0, 90)), int(rng.integers(10, 60))
        piece = queries[one, 20 : 20 + long]
        subjects[one, at : at + long] = np.where(rng.random(long) < 0.8, piece, subjects[one, at : at + long])
    return (
        np.zeros(PAIRS, np.int32),
        queries,
        subjects,
        matrix.astype(np.int32),
        np.int32(SUBJECT),
        np.int32(11),
        np.int32(1),
    )


def _smith_waterman(
    best: Any, queries: Any, subjects: Any, matrix: Any, length: Any, first: Any, more: Any
) -> None:
    best[:] = 0
    h = np.zeros((PAIRS, QUERY + 1, length + 1), np.int64)
    e = np.full_like(h, -10000)
    f = np.full_like(h, -10000)
    for d in range(2, QUERY + length + 1):
        i = np.arange(max(1, d - length), min(QUERY, d - 1) + 1)
        j = d - i
        e[:, i, j] = np.maximum(e[:, i - 1, j] - more, h[:, i - 1, j] - first)
        f[:, i, j] = np.maximum(f[:, i, j - 1] - more, h[:, i, j - 1] - first)
        match = h[:, i - 1, j - 1] + matrix[queries[:, i - 1], subjects[:, j - 1]]
        h[:, i, j] = np.maximum(np.maximum(match, 0), np.maximum(e[:, i, j], f[:, i, j]))
    best[:] = h.max(axis=(1, 2))


def _diagonal(rng: Random) -> Arguments:
    a, b = rng.integers(0, 4, (2, LCS), np.uint8)
    earlier = np.cumsum(rng.integers(0, 2, LCS + 1, np.int32), dtype=np.int32)
    before = earlier + rng.integers(0, 2, LCS + 1, np.int32)
    d = np.int32(LCS + 12345)
    return np.zeros(LCS + 1, np.int32), before, earlier, a, b, d, np.int32(LCS), np.int32(LCS)


def _lcs_diagonal(now: Any, before: Any, earlier: Any, a: Any, b: Any, d: Any, n: Any, m: Any) -> None:
    i = np.arange(max(1, d - m), min(n, d - 1) + 1)
    other = np.maximum(before[i - 1], before[i])
    now[i] = np.where(a[i - 1] == b[d - i - 1], earlier[i - 1] + 1, other)
    if d <= m:
        now[0] = 0
    if d <= n:
        now[d] = 0


def _words(rng: Random) -> Arguments:
    left = rng.integers(97, 103, (WORDS, WIDTH), np.int8)
    right = np.where(rng.random((WORDS, WIDTH)) < 0.6, left, rng.integers(97, 103, (WORDS, WIDTH), np.int8))
    lengths = rng.integers(3, WIDTH + 1, (2, WORDS), np.int32)
    return np.zeros(WORDS, np.int32), left, lengths[0], right.astype(np.int8), lengths[1], np.int32(WORDS)


def _edit_words(out: Any, left: Any, la: Any, right: Any, lb: Any, n: Any) -> None:
    table = np.zeros((WIDTH + 1, WIDTH + 1, n), np.int32)
    table[:, 0] = table[0] = np.arange(WIDTH + 1)[:, None]
    for i in range(1, WIDTH + 1):
        for j in range(1, WIDTH + 1):
            change = table[i - 1, j - 1] + (left[:, i - 1] != right[:, j - 1])
            table[i, j] = np.minimum(change, np.minimum(table[i - 1, j], table[i, j - 1]) + 1)
    out[:] = table[la, lb, np.arange(n)]


def _sacks(rng: Random) -> Arguments:
    weights = rng.integers(5, 120, (SACKS, ITEMS), np.int32)
    values = rng.integers(1, 500, (SACKS, ITEMS), np.int32)
    return np.zeros((SACKS, CAPACITY), np.int32), weights, values, np.int32(ITEMS)


def _knapsack(out: Any, weights: Any, values: Any, items: Any) -> None:
    out[:] = 0
    for row, w, v in zip(out, weights, values, strict=True):
        for k in range(items):
            row[w[k] :] = np.maximum(row[w[k] :], row[: -w[k]] + v[k])


def _observed(rng: Random) -> Arguments:
    first = np.log(rng.dirichlet(np.ones(STATES)) + 1e-6).astype(np.float32)
    moves = np.log(rng.dirichlet(np.full(STATES, 0.3), STATES) + 1e-6).astype(np.float32)
    emits = np.log(rng.dirichlet(np.full(SYMBOLS, 0.3), STATES).T + 1e-6).astype(np.float32)
    return (
        np.zeros((SEQUENCES, STEPS), np.int32),
        np.zeros((SEQUENCES, STEPS, STATES), np.uint8),
        first,
        moves,
        np.ascontiguousarray(emits),
        rng.integers(0, SYMBOLS, (SEQUENCES, STEPS), np.int32),
        np.int32(STEPS),
    )


def _viterbi(paths: Any, back: Any, first: Any, moves: Any, emits: Any, seen: Any, length: Any) -> None:
    chance = first + emits[seen[:, 0]]
    for k in range(1, length):
        every = chance[:, :, None] + moves[None]
        back[:, k] = every.argmax(axis=1)
        chance = every.max(axis=1) + emits[seen[:, k]]
    at = chance.argmax(axis=1)
    for k in range(length - 1, -1, -1):
        paths[:, k] = at
        at = back[np.arange(len(at)), k, at]


CASES = [
    Case(
        "needleman_tile", (TILES, PROBLEMS), (TILE, 1), _matrix, _needleman_tile, changes=(0,), python=False
    ),
    Case("smith_waterman", PAIRS, QUERY, _proteins, _smith_waterman, python=False),
    Case("lcs_diagonal", blocks(LCS + 1, 256), 256, _diagonal, _lcs_diagonal, python=False),
    Case("edit_words", blocks(WORDS, 128), 128, _words, _edit_words, python=False),
    Case("knapsack", SACKS, 256, _sacks, _knapsack, python=False),
    Case("viterbi", SEQUENCES, STATES, _observed, _viterbi, results=(0, 1), python=False),
]
