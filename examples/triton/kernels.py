"""Triton's kernels without a GPU: compiled ahead of time, run and checked by warpglass.

`pip install triton` is all that it needs; no torch.
"""

from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import warpglass as wg

TARGET = GPUTarget("cuda", 80, 32)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(out, x, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + i, values / tl.sum(values, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=0.0)
    centred = tl.where(i < n, values - tl.sum(values, axis=0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    result = centred * scale * tl.load(weight + i, mask=i < n) + tl.load(bias + i, mask=i < n)
    tl.store(out + row * n + i, result, mask=i < n)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        depth = start + inner
        left = tl.load(
            a + rows[:, None] * k + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0
        )
        right = tl.load(
            b + depth[:, None] * n + columns[None, :],
            mask=(depth[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    i, j, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
    most = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        at = start + j
        keys = tl.load(k + at[None, :] * D + d[:, None], mask=at[None, :] < n, other=0.0)
        scores = tl.where(at[None, :] < n, tl.dot(queries, keys) * scale, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        shrink, part = tl.exp(most - higher), tl.exp(scores - higher[:, None])
        values = tl.load(v + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        weight = weight * shrink + tl.sum(part, 1)
        total = tl.dot(part.to(values.dtype), values, total * shrink[:, None])
        most = higher
    result = (total / weight[:, None]).to(out.dtype.element_ty)
    tl.store(out + i[:, None] * D + d[None, :], result, mask=i[:, None] < n)


def compiled(function: Any, signature: str, **constants: int) -> wg.Kernel:
    """A kernel for `signature`, such as "x:*fp32 n:i32"; constants are its constexpr parameters."""
    types = dict(word.split(":") for word in signature.split()) | dict.fromkeys(constants, "constexpr")
    source = ASTSource(function, signature=types, constexprs=constants)
    return wg.load(triton.compile(source, target=TARGET))


def report(name: str, kernel: wg.Kernel, grid: Any, args: tuple[Any, ...], out: Any, right: Any) -> None:
    """Check a launch, and print what was found and how far its result is off."""
    errors = [one for one in wg.check(kernel, grid, None, args).findings if one.severity == "error"]
    difference = np.abs(out.astype("f8") - right).max()
    print(f"{name}: {len(errors)} errors found, largest difference {difference:.1g}")


def main() -> None:
    rng = np.random.default_rng(1)
    x, y, out = rng.random(3000, "f4"), rng.random(3000, "f4"), np.zeros(3000, "f4")
    kernel = compiled(add, "x:*fp32 y:*fp32 out:*fp32 n:i32", BLOCK=1024)
    report("add", kernel, 3, (x, y, out, 3000), out, x + y)

    x, out = rng.standard_normal((4, 1000)).astype("f4"), np.zeros((4, 1000), "f4")
    powers = np.exp(x.astype("f8"))
    kernel = compiled(softmax, "out:*fp32 x:*fp32 n:i32", BLOCK=1024)
    report("softmax", kernel, 4, (out, x, 1000), out, powers / powers.sum(1, keepdims=True))

    weight, bias = rng.random(1000, "f4"), rng.random(1000, "f4")
    kernel = compiled(layer_norm, "x:*fp32 weight:*fp32 bias:*fp32 out:*fp32 n:i32 eps:fp32", BLOCK=1024)
    centred = x - x.mean(1, keepdims=True, dtype="f8")
    right = centred / np.sqrt(x.var(1, keepdims=True, dtype="f8") + 1e-5) * weight + bias
    report("layer_norm", kernel, 4, (x, weight, bias, out, 1000, 1e-5), out, right)

    for kind, code in (("fp16", "f2"), ("fp32", "f4")):
        a, b = rng.random((100, 80)).astype(code), rng.random((80, 130)).astype(code)
        c = np.zeros((100, 130), code)
        types = f"a:*{kind} b:*{kind} c:*{kind} m:i32 n:i32 k:i32"
        kernel = compiled(matmul, types, BM=32, BN=64, BK=32)
        report(f"matmul {kind}", kernel, (4, 3), (a, b, c, 100, 130, 80), c, a.astype("f8") @ b.astype("f8"))

    q, k, v = (rng.standard_normal((100, 64)).astype("f2") for _ in range(3))
    out = np.zeros_like(q)
    kernel = compiled(attention, "q:*fp16 k:*fp16 v:*fp16 out:*fp16 n:i32 scale:fp32", D=64, BM=64, BN=32)
    scores = np.exp(q.astype("f8") @ k.astype("f8").T / 8)
    right = scores @ v.astype("f8") / scores.sum(1, keepdims=True)
    report("attention", kernel, 2, (q, k, v, out, 100, 0.125), out, right)


if __name__ == "__main__":
    main()
