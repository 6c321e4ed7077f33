"""Random CUDA C++ whose threads choose among neighbours by data: `attempt(number)` is what watched.py tries.

Tests, nested or in a row, give indices and distances one of a few values each; elements there are loaded,
and what they hold is tested again. Now and then an array has no margin, so that the outermost threads may
fall off.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.errors import KernelFault

_SHAPES = ((4, 64), (3, 96), (5, 50), ((3, 2), (16, 8)), ((2, 3), (32, 4)), ((2, 2), (24, 5)))
_TYPES = {"float": np.float32, "double": np.float64, "int": np.int32, "unsigned char": np.uint8}
_MARGIN = 64


class _Writer:
    def __init__(self, number: int):
        self.random = random.Random(number)
        self.type = self.random.choice([*_TYPES])
        self.lines: list[str] = []

    def text(self) -> str:
        for _ in range(self.random.randrange(1, 5)):
            self._choice(self.random.randrange(1, 4), "  ")
            self._look()
        body = "\n".join(self.lines)
        return f"""
typedef {self.type} T;
extern "C" __global__ void k(T *out, const T *x, const int *way, int width, int n, int from) {{
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  int i = row * gridDim.x * blockDim.x + column;
  if (i >= n) return;
  int at = i + from, by = 1, t = way[i];
  T sum = 0;
{body}
  out[i] = sum;
}}
"""

    def _test(self) -> str:
        one = self.random
        bit = f"(t >> {one.randrange(8)} & 1)"
        return one.choice(
            [bit, bit, f"sum > {one.randrange(50)}", f"column < {one.randrange(40)}", "row > 0"]
        )

    def _choice(self, depth: int, indent: str) -> None:
        one = self.random
        if depth == 0 or one.random() < 0.2:
            self._set(indent)
            return
        if one.random() < 0.25:
            values = [one.choice(["1", "-1", "width", "-width", "2", "0"]) for _ in range(2)]
            self.lines.append(f"{indent}by = {self._test()} ? {values[0]} : {values[1]};")
            return
        self.lines.append(f"{indent}if ({self._test()}) {{")
        self._choice(depth - 1, indent + "  ")
        if one.random() < 0.75:
            self.lines.append(f"{indent}}} else {{")
            self._choice(depth - 1, indent + "  ")
        self.lines.append(f"{indent}}}")

    def _set(self, indent: str) -> None:
        one = self.random
        for _ in range(one.randrange(1, 4)):
            self.lines.append(
                indent
                + one.choice(
                    [
                        "at = i + from - 1;",
                        "at = i + from + width;",
                        "at = i + from - width;",
                        f"at = from + {one.randrange(8)};",
                        f"by = {one.randrange(-3, 4)};",
                        "by = -by;",
                        "t ^= i;",
                        "sum += by;",
                    ]
                )
            )

    def _look(self) -> None:
        one = self.random
        index = one.choice(["at", "at + by", "at - by", "at + 2 * by"])
        self.lines.append(f"  sum += x[{index}];")
        if one.random() < 0.3:
            self.lines.append(f"  t += (int)x[{one.choice(['at', 'at + by'])}];")


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    writer = _Writer(number)
    text = writer.text()
    reference, fast = (_ending(number, text, _TYPES[writer.type], engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{reference[:200]!r} and {fast[:200]!r}\n{text}"
    return "fault" if isinstance(reference, str) else "agree"


def _ending(number: int, text: str, dtype: Any, engine: str) -> bytes | str:
    rng = np.random.default_rng(number)
    grid, block = _SHAPES[number % len(_SHAPES)]
    threads = int(np.prod(grid) * np.prod(block))
    n = threads - int(rng.choice([0, 0, 7]))
    margin = _MARGIN if rng.random() < 0.7 else 0
    x = rng.integers(0, 100, threads + 2 * margin).astype(dtype)
    way = rng.integers(0, 1 << 16, threads).astype(np.int32)
    if rng.random() < 0.3:
        way[:] = way[0]  # all lanes choose alike
    out = np.zeros(threads, dtype)
    args = (out, x, way, np.int32(rng.integers(1, 20)), np.int32(n), np.int32(margin))
    with engine_mode(engine):
        kernel = wg.compile(text, "k", language="cuda")
        try:
            for _ in range(2):  # of launches that come again, integers are constants
                wg.run(kernel, grid, block, args, device="cpu", timeout=60)
        except KernelFault as error:
            wg.reset("cpu")
            return str(error)
    return out.tobytes()
