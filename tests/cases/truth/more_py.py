"""Truth kernels in Python. more_py.json says how each is launched, more_py.ptx.json.gz what it compiles to.

`python tests/cases/truth/more_py.py` writes both anew: the PTX by the compiler that is installed, and into
the JSON the parameters that each argument becomes. So they can be launched where there is no compiler.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel


def py_vector_add(a, b, c) -> None:
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def py_saxpy_stride(x, y, a) -> None:
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, step):
        y[i] = a * x[i] + y[i]


def py_reduce_shared(x, out) -> None:
    s = cuda.shared.array(256, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def py_reduce_neighbored(x, out) -> None:
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.x
    d = 1
    while d < cuda.blockDim.x:
        if t % (2 * d) == 0:
            x[first + t] += x[first + t + d]
        cuda.syncthreads()
        d *= 2
    if t == 0:
        out[cuda.blockIdx.x] = x[first]


def py_dot(a, b, out) -> None:
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    v = np.float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        v += a[i] * b[i]
    s[t] = v
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


def py_matmul(a, b, c) -> None:
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        v = np.float32(0)
        for k in range(a.shape[1]):
            v += a[i, k] * b[k, j]
        c[i, j] = v


def py_matmul_tiled(a, b, c) -> None:
    s = cuda.shared.array((16, 16), np.float32)
    q = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    v = np.float32(0)
    for p in range(a.shape[1] // 16):
        s[ty, tx] = a[y, p * 16 + tx]
        q[ty, tx] = b[p * 16 + ty, x]
        cuda.syncthreads()
        for k in range(16):
            v += s[ty, k] * q[k, tx]
        cuda.syncthreads()
    c[y, x] = v


def py_histogram(a, bins) -> None:
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < 64:
        s[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(s, a[i] & 63, 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(bins, t, s[t])


def py_jacobi(a, b) -> None:
    x, y = cuda.grid(2)
    if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
        b[y, x] = 0.25 * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


def py_transpose(a, b) -> None:
    s = cuda.shared.array((32, 33), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for k in range(0, 32, 8):
        s[ty + k, tx] = a[y + ty + k, x + tx]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        b[x + ty + k, y + tx] = s[tx, ty + k]


def py_transpose_naive(a, b) -> None:
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        b[x, y] = a[y, x]


def py_conv1d(a, mask, b) -> None:
    i = cuda.grid(1)
    if i < a.size:
        v = 0.0
        for k in range(mask.size):
            j = i + k - mask.size // 2
            if 0 <= j < a.size:
                v += a[j] * mask[k]
        b[i] = v


def py_mandelbrot(out) -> None:
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        cx, cy = -2.0 + 3.0 * x / out.shape[1], -1.0 + 2.0 * y / out.shape[0]
        zx, zy, k = 0.0, 0.0, 0
        while k < 50 and zx * zx + zy * zy < 4.0:
            zx, zy = zx * zx - zy * zy + cx, 2 * zx * zy + cy
            k += 1
        out[y, x] = k


def py_collatz(a, steps) -> None:
    i = cuda.grid(1)
    if i < a.size:
        v, c = (a[i] & 1023) + 1, 0
        while v != 1:
            v = 3 * v + 1 if v & 1 else v >> 1
            c += 1
        steps[i] = c


def py_grey(image, out) -> None:
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = 0.21 * image[y, x, 0] + 0.71 * image[y, x, 1] + 0.07 * image[y, x, 2]


def py_local(a, where, out) -> None:
    i = cuda.grid(1)
    if i < a.size:
        v = cuda.local.array(8, np.float32)
        for k in range(8):
            v[k] = a[i] * k
        out[i] = v[where[i]] + v[i & 7]


def py_warp_sum(a, out) -> None:
    i = cuda.grid(1)
    v = a[i]
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        d //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[i // 32] = v


def write() -> None:
    """Compile every case and note the parameters of its arguments."""
    from more_launch import read_cases

    from warpglass import from_numba

    described = Path(__file__).resolve().with_suffix(".json")
    rows = json.loads(described.read_text())
    texts: dict[str, str] = {}
    for row, case in zip(rows, read_cases(described), strict=True):
        compiled = from_numba(globals()[case.kernel]).compile(case.arguments())
        assert compiled.arguments is not None
        row["parameters"] = [argument.fields for argument in compiled.arguments]
        texts[case.id] = compiled.ptx.replace(f"{described.parent}/", "")  # line tables name this file
    lines = ",\n".join(" " + json.dumps(row, separators=(",", ":")) for row in rows)
    described.write_text(f"[\n{lines}\n]\n")
    packed = gzip.compress(json.dumps(texts, indent=0).encode(), mtime=0)
    described.with_name("more_py.ptx.json.gz").write_bytes(packed)


if __name__ == "__main__":
    write()
