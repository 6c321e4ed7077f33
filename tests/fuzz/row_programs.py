"""Random CUDA C++ whose threads walk along rows: `attempt(number)` is what watched.py tries.

Loops load and store elements of the own row, one after the other, with gaps, backwards or under a condition,
of arrays that may be one or overlap; rows may be too short for the last thread. Blocks and warps run one by
one, as those whose rows overlap race.
"""

from __future__ import annotations

import random
from unittest import mock

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.codegen import warp_fusion
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

_TYPES = {
    "float": np.float32,
    "int": np.int32,
    "double": np.float64,
    "long long": np.int64,
    "short": np.int16,
    "unsigned char": np.uint8,
}
_BLOCKS = 2


def text_of(number: int) -> tuple[str, str, str, int]:
    """A program, the types of what is loaded and of what is stored, and the length of a row."""
    one = random.Random(number)
    made = one.choice(["float", "int", "float", *_TYPES])
    given = one.choice([made, made, made, *_TYPES])
    width = one.choice([7, 16, 20, 33, 64, 100, 129])
    row = one.choice(["i * W", "i * W", "(i ^ 1) * W", "(n - 1 - i) * W"])
    lines = [f"#define W {width}", f"typedef {given} T;", f"typedef {made} U;"]
    lines += ['extern "C" __global__ void k(const T *a, U *o, U *p, const int *m, int n, int w) {']
    lines += ["int i = blockIdx.x * blockDim.x + threadIdx.x;", "if (i >= n) return;", "U s = (U)i;"]
    for _ in range(one.randrange(1, 4)):
        end = one.choice(["W", "W", "w", "w - 1", "W / 2", "m[i & 3]"])
        start, step = one.choice([("0", 1), ("0", 1), ("1", 1), ("0", 2)])
        unroll = one.choice(["", "#pragma unroll 1\n", "#pragma unroll 2\n"])
        lines.append(f"{unroll}for (int x = {start}; x < {end}; x += {step}) {{")
        along = one.random() < 0.6  # one element is stored in each round, behind those of the rounds before
        stores = ["along"] if along else one.choices(["store", "some"], [3, 1], k=one.randrange(3))
        loads = one.choices(["load", "uniform"] if along else ["load", "read", "uniform"], k=one.randrange(4))
        for what in one.sample([*stores, *loads], len(stores) + len(loads)):
            index = one.choice(["x", "x", "min(x + 5, W - 1)", "max(x - 3, 0)", "W - 1 - x"])
            match what:
                case "load":
                    lines.append(f"s = s * (U)3 + (U)a[i * W + {index}];")
                case "read":
                    lines.append(f"s += {one.choice('op')}[{row} + {index}];")
                case "uniform":
                    lines.append(f"s += (U)a[{index}] + (U)m[x & 7];")
                case "along":
                    lines.append(f"{one.choice('oop')}[{row} + x] = s;")
                case "some":
                    lines.append(f"if ({one.choice(['x & 1', 'i & 1', 'x < w / 2'])}) o[{row} + x] = s;")
                case _:
                    lines.append(f"{one.choice('oop')}[{row} + {index}] = s + (U)x;")
        if one.random() < 0.15:
            lines.append("if (m[(i + x) & 7] == 3) break;")
        lines.append("}")
    return "\n".join([*lines, "p[i * W] += s;", "}"]), given, made, width


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault after the same stores."""
    reference, fast = (_ending(number, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{reference[0]} and {fast[0]}\n{text_of(number)[0]}"
    return "fault" if reference[0] else "agree"


def _ending(number: int, engine: str) -> tuple[str, bytes, bytes]:
    text, given, made, width = text_of(number)
    one = np.random.default_rng(number)
    block = (32, 64, 96, 70)[number % 4]
    n = _BLOCKS * block - int(one.choice([0, 0, 1, 37]))
    missing = int(one.integers(1, 2 * width)) if one.random() < 0.2 else 0
    a = one.integers(0, 100, (_BLOCKS * block + 40) * width).astype(_TYPES[given])
    o, p = (one.integers(0, 100, n * width - gone).astype(_TYPES[made]) for gone in (missing, 0))
    if one.random() < 0.2:
        p = o
    if given == made and one.random() < 0.4:
        shift = int(one.choice([0, 3, width, 40 * width]))
        o = a[shift : shift + len(o)]
    m = one.integers(0, width, 8, np.int32)
    said = ""
    apart = mock.patch.object(warp_fusion, "pays", return_value=False)
    with engine_mode(engine), worker_threads(1), apart:
        prepare.cache_clear()
        kernel = wg.compile(text, "k", language="cuda")
        try:
            for _ in range(2):  # launches that repeat their integers have code of their own
                wg.run(kernel, _BLOCKS, block, (a, o, p, m, np.int32(n), np.int32(width)), device="cpu")
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return said, a.tobytes() + o.tobytes(), p.tobytes()
