"""Bytes of texts: matching many patterns at once, encodings, checksums, distances by bits."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

Random = np.random.Generator
SPAN, TAIL, CHUNK, ALPHABET = 256, 16, 512, 32
TEXT = (1 << 19) - 100
BYTES = 3 * (1 << 20) - 1
LETTERS = 1 << 20
CHUNKS = 4096
TEXTS, LONGEST, PATTERN = 16384, 64, 56


def _patterns(rng: Random) -> Arguments:
    """A tree of words, the table of its moves, and a text in which words stand."""
    words = [
        rng.choice(6, int(rng.integers(3, 12)), p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]) + 1 for _ in range(300)
    ]
    rows, ends = [[-1] * ALPHABET], [-1]
    for number, word in enumerate(words):
        at = 0
        for letter in word:
            if rows[at][letter] < 0:
                rows[at][letter] = len(rows)
                rows.append([-1] * ALPHABET)
                ends.append(-1)
            at = rows[at][letter]
        ends[at] = number
    text = rng.choice(6, TEXT, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]).astype(np.uint8) + np.uint8(97)
    text[rng.random(TEXT) < 0.1] = 127  # in no word
    table = np.array(rows, np.int16)
    return np.zeros(TEXT, np.int32), text, table, np.array(ends, np.int16), np.int32(TEXT)


def _match_patterns(found: Any, text: Any, table: Any, ends: Any, n: Any) -> None:
    found[:] = -1
    longer = np.concatenate([text, np.zeros(SPAN + TAIL, np.uint8)])
    going, state = np.arange(n), np.zeros(n, np.int64)
    k = 0
    while going.size:
        state = table[state, longer[going + k] & (ALPHABET - 1)]
        on = (state >= 0) & (going % SPAN + k < SPAN + TAIL)
        going, state = going[on], state[on]
        ended = ends[state] >= 0
        found[going[ended]] = ends[state[ended]]
        k += 1


def _bytes(rng: Random) -> Arguments:
    return np.zeros((blocks(BYTES, 3), 4), np.uint8), rng.integers(0, 256, BYTES, np.uint8), np.int32(BYTES)


def _base64_encode(out: Any, data: Any, n: Any) -> None:
    out.reshape(-1)[:] = np.frombuffer(base64.b64encode(data.tobytes()), np.uint8)


def _utf8(rng: Random) -> Arguments:
    kinds = rng.choice(4, LETTERS, p=[0.75, 0.13, 0.1, 0.02])
    low, high = np.array([0x20, 0x80, 0x800, 0x10000]), np.array([0x7F, 0x800, 0xD800, 0x20000])
    points = rng.integers(low[kinds], high[kinds]).astype("<u4")
    text = np.frombuffer(points.tobytes().decode("utf-32-le").encode(), np.uint8)[:LETTERS].copy()
    wrong = rng.random(LETTERS) < 0.002
    text[wrong] = rng.integers(0x80, 0x100, int(wrong.sum()), np.uint8)
    return np.zeros(LETTERS, np.int32), np.zeros(blocks(LETTERS, 256), np.uint32), text, np.int32(LETTERS)


def _utf8_decode(points: Any, faults: Any, text: Any, n: Any) -> None:
    longer = np.concatenate([text, np.zeros(3, np.uint8)]).astype(np.int32)
    points[:] = np.where(text < 0x80, text, np.where(text < 0xC0, -1, -2))
    for more, first, end, low, high in (
        (1, 0xC0, 0xE0, 0x80, 0x800),
        (2, 0xE0, 0xF0, 0x800, 0x10000),
        (3, 0xF0, 0xF8, 0x10000, 0x110000),
    ):
        i = np.flatnonzero((text >= first) & (text < end))
        i = i[i + more < n]
        value, good = longer[i] & (0x3F >> more), np.ones(i.size, bool)
        for k in range(1, more + 1):
            good &= (longer[i + k] & 0xC0) == 0x80
            value = value << 6 | longer[i + k] & 0x3F
        good &= (value >= low) & (value < high) & ((value < 0xD800) | (value >= 0xE000))
        points[i[good]] = value[good]
    faults[:] = np.add.reduceat(points == -2, np.arange(0, n, 256), dtype=np.uint32)


def _chunks(rng: Random) -> Arguments:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> np.uint32(1) ^ np.uint32(0xEDB88320), table >> np.uint32(1))
    data = rng.integers(0, 256, (CHUNKS, CHUNK), np.uint8)
    return np.zeros(CHUNKS, np.uint32), data, table.astype(np.uint32), np.int32(CHUNKS)


def _crc32_chunks(out: Any, data: Any, table: Any, n: Any) -> None:
    out[:] = [zlib.crc32(one.tobytes()) for one in data]


def _texts(rng: Random) -> Arguments:
    pattern = rng.integers(0, 20, PATTERN)
    masks = np.zeros(ALPHABET, np.uint64)
    for k, letter in enumerate(pattern):
        masks[letter] |= np.uint64(1 << k)
    texts = rng.integers(0, 20, (LONGEST, TEXTS), np.uint8)
    texts[:PATTERN] = np.where(rng.random((PATTERN, TEXTS)) < 0.5, pattern[:, None], texts[:PATTERN])
    lengths = rng.integers(20, LONGEST + 1, TEXTS, np.int32)
    return np.zeros(TEXTS, np.int32), masks, texts, lengths, np.int32(PATTERN), np.int32(TEXTS)


def _edit_bits(out: Any, masks: Any, texts: Any, lengths: Any, pattern: Any, n: Any) -> None:
    row = np.repeat(np.arange(pattern + 1, dtype=np.int32)[:, None], n, axis=1)
    out[lengths == 0] = pattern
    for k in range(LONGEST):
        word = masks[texts[k]]
        new = np.empty_like(row)
        new[0] = k + 1
        for j in range(1, pattern + 1):
            unlike = (word >> np.uint64(j - 1) & np.uint64(1)) == 0
            new[j] = np.minimum(row[j - 1] + unlike, np.minimum(row[j], new[j - 1]) + 1)
        row = new
        done = lengths == k + 1
        out[done] = row[pattern, done]


CASES = [
    Case("match_patterns", blocks(TEXT, SPAN), SPAN, _patterns, _match_patterns, python=False),
    Case("base64_encode", blocks(blocks(BYTES, 3), 256), 256, _bytes, _base64_encode, python=False),
    Case("utf8_decode", blocks(LETTERS, 256), 256, _utf8, _utf8_decode, results=(0, 1), python=False),
    Case("crc32_chunks", blocks(CHUNKS, 128), 128, _chunks, _crc32_chunks, python=False),
    Case("edit_bits", blocks(TEXTS, 256), 256, _texts, _edit_bits, python=False),
]
