"""Random CUDA C++ of blocks that work together: `attempt(number)` is what watched.py tries.

Loops with barriers add up, scan, exchange and transform elements in shared memory, with a stride for each
round that grows, shrinks or counts on; rounds are few or many, and some hand on more than their stride. No
phase races, but loads beside it may leave their array.
"""

from __future__ import annotations

import random

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

_TYPES = {"float": np.float32, "int": np.int32, "double": np.float64, "unsigned": np.uint32}
_BLOCKS = 2
_LOOPS = [
    "for (int d = blockDim.x / 2; d > 0; d >>= 1)",
    "for (int d = 1; d < blockDim.x; d *= 2)",
    "for (unsigned d = N / 2; d > 0; d /= 4)",
    "for (int d = n; d < N; d = 2 * d + 1)",
    "for (int d = 1; d <= n; d += 3)",
    "for (int d = N - 1; d > n; d -= d / 2)",
    "for (int d = m[0]; d < N; d += 7)",
]
# What a round does between barriers: each element of s and q is one thread's to change.
_PHASES = [
    "if (t < d && t + d < N) s[t] += s[t + d];",
    "if (t % (2 * d) == 0 && t + d < N) s[t] = max(s[t], s[t + d]);",
    "{ int i = 2 * d * t; if (i + d < N) s[i] += s[i + d]; }",
    "{ T v = s[t]; if (t >= d) v += s[t - d]; __syncthreads(); s[t] = v; }",
    "{ int o = t ^ (d & (N - 1)); T v = s[o < N ? o : t]; __syncthreads(); s[t] = v + (T)t; }",
    "if (t < N / 2) { int i = t / d * 2 * d + t % d; if (i + d < N) { T a = s[i], b = s[i + d]; "
    "s[i] = a + b; s[i + d] = a - b; } }",
    "q[t] = s[N - 1 - t] + (T)d;",
    "s[t] += q[(t + d) % N];",
    "if (t < d && t + d < N) { s[t] += s[t + d]; q[t] = max(q[t], q[t + d]); }",
]
# What else it does, with what is its own.
_EXTRAS = [
    "x += (T)d;",
    "if (t & d) x = x * (T)3 + s[t];",
    "w = 1 - w; x += (T)w;",
    "last = s[t];",
    "k += d;",
    "for (int j = 0; j < (d & 3); j++) x += s[(t + j) % N];",
    "x += a[(i0 + d * 5) % LENGTH];",
    "x += a[i0 + d];",
    "if (d == 4) { x += (T)1; continue; }",
    "if (k > 40) break;",
    "if (m[t & 7] > 5) x += a[i0];",
]


def text_of(number: int) -> tuple[str, str, int]:
    """A program, the type of its elements, and the number of its threads."""
    one = random.Random(number)
    made = one.choice(list(_TYPES))
    threads = one.choice([32, 64, 96, 128, 256])
    lines = [f"#define N {threads}", f"#define LENGTH {_BLOCKS * threads + 300}", f"typedef {made} T;"]
    lines += ['extern "C" __global__ void k(const T *a, T *o, const int *m, int n) {']
    lines += ["__shared__ T s[N], q[N];", "int t = threadIdx.x, i0 = blockIdx.x * N + t, w = 0, k = 0;"]
    lines += ["T x = 0, last = 0;", "s[t] = a[i0];", "q[t] = (T)t;", "__syncthreads();"]
    for _ in range(one.randrange(1, 4)):
        lines += _loop(one, depth=one.randrange(2))
    lines += ["__syncthreads();", "o[i0] = s[t];", f"o[i0 + {_BLOCKS} * N] = x + last + (T)w + (T)k + q[t];"]
    return "\n".join([*lines, "}"]), made, threads


def _loop(one: random.Random, depth: int) -> list[str]:
    """A loop with barriers, or one in another."""
    unroll = one.choice(["#pragma unroll 1", "#pragma unroll 1", "#pragma unroll 2"])
    if depth:
        return [unroll, "for (int c = 0; c < 3; c++) {", *_loop(one, 0), "x += (T)c;", "}"]
    lines = [unroll, f"{one.choice(_LOOPS)} {{"]
    lines += [*one.choices(_EXTRAS, k=one.randrange(2)), "__syncthreads();"]
    for phase in one.choices(_PHASES, k=one.randrange(1, 3)):
        lines += [phase, "__syncthreads();"]
    lines += one.choices(_EXTRAS, k=one.randrange(3))
    return [*lines, "__syncthreads();", "}"]


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    reference, fast = (_ending(number, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{reference[0]} and {fast[0]}\n{text_of(number)[0]}"
    return "fault" if reference[0] else "agree"


def _ending(number: int, engine: str) -> tuple[str, bytes]:
    text, made, threads = text_of(number)
    one = np.random.default_rng(number)
    length = _BLOCKS * threads + (300 if one.random() < 0.8 else 100)
    a = one.integers(0, 100, length).astype(_TYPES[made])
    o = np.zeros(2 * _BLOCKS * threads, _TYPES[made])
    m, n = one.integers(0, 9, 8, np.int32), np.int32(one.integers(1, 20))
    m[0] = 1
    with engine_mode(engine), tiers.only(tiers.OPTIMISED):
        prepare.cache_clear()
        kernel = wg.compile(text, "k", language="cuda")
        try:
            for _ in range(2):  # launches that repeat their integers have code of their own
                wg.run(kernel, _BLOCKS, threads, (a, o, m, n), device="cpu")
        except KernelFault as error:
            wg.reset("cpu")
            return str(error), b""
    return "", o.tobytes()
