"""Random CUDA C++ whose threads have parts of arrays of their own: `attempt(number)` is for watched.py.

They load from these or store into them. Thread i goes from `first[i]` to `last[i]`, which are read again in
each round or not. Parts lie in the order of the threads or not, one behind the other, with gaps, or overlap;
arrays may be one, also with the one that says where parts end; some parts reach beyond their array. Where
nothing is stored, threads side by side may share a part. Warps run one by one, as those whose parts overlap
race.
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
_STATEMENTS = ["fill", "number", "copy", "scale", "sum", "own", "load"]
_LOADING = ["pick", "picks", "product", "product", "load"]  # of rows that nothing is stored into
_SHARED = ["pick", "product", "block", "block"]  # of those that threads share
_BLOCKS = 2
_HEAD = (
    'extern "C" __global__ void k(const T *a, U *o, U *p, const int *first, const int *last, const int *x, '
    "const T *g, int n, int w) {"
)


def text_of(number: int) -> tuple[str, str, str]:
    """A program, and the types of what is loaded and of what is stored."""
    one = random.Random(number)
    made = one.choice(["float", "int", "int", *_TYPES])
    given = one.choice([made, made, *_TYPES])
    lines = [f"typedef {given} T;", f"typedef {made} U;", _HEAD]
    lines += ["int i = blockIdx.x * blockDim.x + threadIdx.x;", "if (i >= n) return;"]
    sharing = one.choice([1, 1, 1, 1, 2, 3, 4, 6])  # threads
    lines += [f"U s = (U)i, c = a[i]; int m = i / {sharing}, r = i % {sharing};"]
    lines += ["int b = first[m], e = last[m];"]
    for _ in range(one.randrange(1, 4)):
        start, end = one.choice([("b", "e"), ("first[m]", "last[m]"), ("b", "last[m]"), ("0", "e - b")])
        index = "b + k" if start == "0" else "k"
        if one.random() < 0.1:
            index = f"i * 40 + {index} % 40"
        unroll = one.choice(["", "", "#pragma unroll 1\n", "#pragma unroll 2\n"])
        step = one.choice(["++k", "++k", "++k", "k += 2", "k += 3"])
        lines.append(f"{unroll}for (int k = {start}; k < {end}; {step}) {{")
        kinds = _STATEMENTS + ["pick", "picks"] * one.choice([0, 0, 1, 9])
        if one.random() < 0.4:
            kinds = _LOADING
        if sharing > 1:
            kinds = _SHARED
        for _ in range(one.choice([1, 1, 2, 3])):
            at = f"{index}{one.choice(['', '', '', ' + 1', ' - 1'])}"
            target = one.choice("oop")
            lines.append(_statement(one, one.choice(kinds), target, index, at))
        if one.random() < 0.1:
            lines.append("if (s == (U)7) break;")
        lines.append("}")
    return "\n".join([*lines, "o[i] += s;", "}"]), given, made


def _statement(one: random.Random, kind: str, target: str, index: str, at: str) -> str:
    """What a round does once, at its index or beside it."""
    match kind:
        case "fill":
            return f"{target}[{at}] = c;"
        case "number":
            return f"{target}[{at}] = (U)(k * 3 + w);"
        case "copy":
            return f"{target}[{index}] = (U)a[{at}];"
        case "scale":
            return f"{target}[{at}] = {target}[{at}] * c + (U)a[{index}];"
        case "sum":
            return f"s = s * (U)3 + (U)a[{index}]; {target}[{at}] = s;"
        case "pick":
            return f"s += (U)g[x[{at}]];"
        case "product":
            return f"s = s * (U)3 + (U)a[{index} * 2 - b] * (U)g[x[{at}]];"
        case "block":
            return f"s = s * (U)3 + (U)a[{index} * 2 - b + r] * (U)g[x[{at}] + {one.randrange(3)}];"
        case "picks":
            more = one.choice(["", " + 1", " - 1"])
            how = one.choice(["s += (U)(one * two);", "s = s > (U)one ? s + (U)two : (U)one;"])
            return f"{{ int c = x[{index}]; T one = a[c], two = g[c{more}]; {how} }}"
        case "own":
            return f"{one.choice('op')}[{at}] += {target}[{index}];"
        case _:
            return f"s += (U)a[{at}] + {target}[{index}];"


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault after the same stores."""
    reference, fast = (_ending(number, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{reference[0]} and {fast[0]}\n{text_of(number)[0]}"
    return "fault" if reference[0] else "agree"


def _ending(number: int, engine: str) -> tuple[str, bytes, bytes]:
    text, given, made = text_of(number)
    one = np.random.default_rng(number)
    block = (32, 64, 96, 70)[number % 4]
    n = _BLOCKS * block - int(one.choice([0, 0, 1, 37]))
    lengths = one.integers(0, int(one.choice([3, 9, 40, 70])), n)
    if one.random() < 0.2:
        lengths[:] = 17
    gaps = one.integers(0, 3, n) * int(one.choice([0, 0, 1, 8])) - int(one.random() < 0.15)
    first = (np.cumsum(lengths + gaps) - lengths + 2).astype(np.int32)
    last = (first + lengths).astype(np.int32)
    size = int(max(last.max(), n)) + 3
    if one.random() < 0.2:
        order = one.permutation(n) if one.random() < 0.5 else np.arange(n)[::-1]
        first, last = first[order].copy(), last[order].copy()
    missing = int(one.integers(1, min(90, size))) if one.random() < 0.2 else 0
    a = one.integers(0, 100, size + 400).astype(_TYPES[given])
    if a.dtype.kind == "f" and one.random() < 0.4:
        a[one.random(len(a)) < 0.02] = -np.nan
        a[one.random(len(a)) < 0.02] = np.inf
    o, p = (one.integers(0, 100, size - gone).astype(_TYPES[made]) for gone in (missing, 0))
    if one.random() < 0.2:
        p = o
    if given == made and one.random() < 0.3:
        shift = int(one.choice([0, 1, 17, 300]))
        o = a[shift : shift + len(o)]
    if made == "int" and one.random() < 0.15:
        p = np.concatenate([p, last])
        last = p[size:]
    low = int(one.choice([0, 0, -20]))
    x = one.integers(low, 60, size + 3).astype(np.int32)
    g = one.integers(0, 100, 90).astype(_TYPES[given])
    if one.random() < 0.2:
        x[one.integers(len(x))] = one.choice([-21, 69, 70, 500, size])
    said = ""
    alone = mock.patch.object(warp_fusion, "pays", return_value=False)
    with engine_mode(engine), worker_threads(1), alone:
        prepare.cache_clear()
        kernel = wg.compile(text, "k", language="cuda")
        try:
            args = a, o, p, first, last, x, g[20:], np.int32(n), np.int32(3)
            for _ in range(2):  # launches that repeat their integers have code of their own
                wg.run(kernel, _BLOCKS, block, args, device="cpu")
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return said, a.tobytes() + o.tobytes(), p.tobytes() + last.tobytes()
