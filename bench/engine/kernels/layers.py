"""Layers of neural networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

TOKENS, WIDTH = 2000, 768
IN, OUT, SIDE = 16, 16, 64
DEPTH = 100
HEADS, LENGTH, HEAD = 4, 256, 32
ROWS, CLASSES = 6000, 100
TOP_ROWS, TOP = 800, 8
QUANTISED, COLUMNS = 1024, 1000
GELUS, QUADS = 1 << 17, 192

Random = np.random.Generator
F = np.float32


def _norm_data(rng: Random) -> Arguments:
    x, gamma, beta = rng.random((TOKENS, WIDTH), F), 0.5 + rng.random(WIDTH, F), 3 + rng.random(WIDTH, F)
    return x, gamma, beta, np.zeros((TOKENS, WIDTH), F), F(1e-5), np.int32(WIDTH)


def _norm(x: Any, gamma: Any, beta: Any, out: Any, eps: Any, n: Any) -> None:
    x = x.astype(np.float64)
    out[:] = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps) * gamma + beta


def _conv_data(rng: Random) -> Arguments:
    x, w, bias = rng.random((IN, SIDE, SIDE), F), rng.random((OUT, IN, 3, 3), F), rng.random(OUT, F)
    # The even channels are mostly off: ReLU leaves zeros of them.
    bias[::2] -= 45
    return x, w, bias, np.zeros((OUT, SIDE, SIDE), F), np.int32(IN), np.int32(SIDE), np.int32(SIDE)


def _conv(x: Any, w: Any, bias: Any, out: Any, *_: Any) -> None:
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    total = np.zeros(out.shape) + bias[:, None, None]
    for ky in range(3):
        for kx in range(3):
            total += np.einsum("oc,cyx->oyx", w[:, :, ky, kx], padded[:, ky : ky + SIDE, kx : kx + SIDE])
    out[:] = np.maximum(total, 0)


def _depthwise_data(rng: Random) -> Arguments:
    x, w = rng.random((DEPTH, SIDE, SIDE), F), rng.random((DEPTH, 25), F)
    return x, w, np.zeros((DEPTH, SIDE, SIDE), F), np.int32(SIDE), np.int32(SIDE)


def _depthwise(x: Any, w: Any, out: Any, *_: Any) -> None:
    padded = np.pad(x, ((0, 0), (2, 2), (2, 2)))
    out.fill(0)
    for ky in range(5):
        for kx in range(5):
            out += w[:, ky * 5 + kx, None, None] * padded[:, ky : ky + SIDE, kx : kx + SIDE]


def _attention_data(rng: Random) -> Arguments:
    q, k = 4 * rng.random((2, HEADS, LENGTH, HEAD), F) - 2
    return (
        q,
        k,
        rng.random((HEADS, LENGTH, HEAD), F),
        np.zeros((HEADS, LENGTH, HEAD), F),
        F(HEAD**-0.5),
        np.int32(LENGTH),
    )


def _attention(q: Any, k: Any, v: Any, out: Any, scale: Any, length: Any) -> None:
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * scale
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    out[:] = weights @ v / weights.sum(axis=2, keepdims=True)


def _entropy_data(rng: Random) -> Arguments:
    logits, labels = 6 * rng.random((ROWS, CLASSES), F), rng.integers(0, CLASSES, ROWS, np.int32)
    return logits, labels, np.zeros(ROWS, F), np.zeros((ROWS, CLASSES), F), np.int32(CLASSES), np.int32(ROWS)


def _entropy(logits: Any, labels: Any, loss: Any, gradient: Any, classes: Any, rows: Any) -> None:
    x = logits.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    total = e.sum(axis=1, keepdims=True)
    every = np.arange(rows)
    loss[:] = np.log(total[:, 0]) + x.max(axis=1) - x[every, labels]
    p = e / total
    p[every, labels] -= 1
    gradient[:] = p / rows


def _top_data(rng: Random) -> Arguments:
    x = np.stack([rng.permutation(1024) for _ in range(TOP_ROWS)]).astype(F) / 1024
    return x, np.zeros((TOP_ROWS, TOP), F), np.zeros((TOP_ROWS, TOP), np.int32), np.int32(TOP)


def _top(x: Any, best: Any, where: Any, k: Any) -> None:
    where[:] = np.argsort(-x, axis=1)[:, :k]
    best[:] = np.take_along_axis(x, where, axis=1)


def _quantise_data(rng: Random) -> Arguments:
    x = rng.standard_normal((QUANTISED, COLUMNS), F)
    return x, np.zeros((QUANTISED, COLUMNS), np.int8), np.zeros(QUANTISED, F), np.int32(COLUMNS)


def _quantise(x: Any, out: Any, scales: Any, n: Any) -> None:
    scales[:] = np.abs(x).max(axis=1) / F(127)
    out[:] = np.clip(np.rint(x / scales[:, None]), -127, 127)


def _gelu_data(rng: Random) -> Arguments:
    x, bias = 4 * rng.random((GELUS, 4), F) - F(1), rng.random((QUADS, 4), F)
    return x, bias, np.zeros((GELUS, 4), F), np.int32(QUADS), np.int32(GELUS)


def _gelu(x: Any, bias: Any, out: Any, quads: Any, n: Any) -> None:
    y = (x + bias[np.arange(n) % quads]).astype(np.float64)
    out[:] = y / 2 * (1 + np.tanh(0.79788456 * (y + 0.044715 * y**3)))


CASES = [
    Case("layernorm", TOKENS, 128, _norm_data, _norm, results=(3,), python=False),
    Case(
        "conv2d_direct",
        (SIDE // 32, OUT * SIDE // 8),
        (32, 8),
        _conv_data,
        _conv,
        results=(3,),
        close=0.002,
        python=False,
    ),
    Case(
        "depthwise_tile",
        (SIDE // 16, DEPTH * SIDE // 16),
        (16, 16),
        _depthwise_data,
        _depthwise,
        results=(2,),
        python=False,
    ),
    Case(
        "attention_online",
        (LENGTH // 64, HEADS),
        (64, 1),
        _attention_data,
        _attention,
        results=(3,),
        python=False,
    ),
    Case(
        "cross_entropy",
        blocks(ROWS, 128),
        128,
        _entropy_data,
        _entropy,
        results=(2, 3),
        close=0.001,
        python=False,
    ),
    Case("topk_rows", TOP_ROWS, 128, _top_data, _top, results=(1, 2), python=False),
    Case(
        "quantise_rows", QUANTISED, 256, _quantise_data, _quantise, results=(1, 2), close=0.001, python=False
    ),
    Case("gelu_bias", blocks(GELUS, 256), 256, _gelu_data, _gelu, results=(2,), close=0.01, python=False),
]
