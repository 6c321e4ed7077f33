"""Random CUDA C++ in which lanes part: `attempt(number)` is what watched.py tries.

Loops whose lengths are each lane's own, with stores, atomic operations whose results are used, searches for a
free place, early exits, and now and then an index that is out of bounds. Lanes store where others load, so
what comes out depends on the order in which a warp's lanes act; on one thread both engines have the same.
Real numbers are only read, since warps that run together may see other values of what they race for, but for
sums, which show the order of additions.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.errors import KernelFault

_DATA, _PLACES, _TABLE, _SUMS = 1024, 64, 4096, 16
_ATOMICS = ("atomicAdd", "atomicExch", "atomicMax", "atomicMin", "atomicOr", "atomicXor", "atomicAnd")
HEAD = """
extern "C" __global__ void k(int *data, int *places, int *table, double *reals, int *out, float *sums,
                             double *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = i * 40503 ^ data[i & 1023], b = data[(i * 7) & 1023], c = i & 15, t = 0;
  double f = reals[i & 255];
"""
TAIL = """
  out[i] = a ^ b * 31 ^ c * 1009 ^ t ^ __double2hiint(f) ^ __double2loint(f);
}
"""


class Writer:
    """Writes one program."""

    def __init__(self, number: int):
        self.random = random.Random(number)
        self.strays = 0.3 if number % 5 == 0 else 0.01  # how often a store may be out of bounds
        self.lines: list[str] = []
        self.loops = 0

    def program(self) -> str:
        self._block(2, inside=False)
        return HEAD + "\n".join(self.lines) + TAIL

    def _number(self, depth: int = 2) -> str:
        one = self.random
        if depth == 0 or one.random() < 0.3:
            return one.choice(["a", "b", "c", "t", "i", str(one.randrange(1, 64)), "threadIdx.x"])
        left, right = self._number(depth - 1), self._number(depth - 1)
        kind = one.randrange(8)
        if kind == 0:
            return f"data[({left}) & {_DATA - 1}]"
        if kind == 1:
            return f"(int)((unsigned)({left}) % (unsigned)(({right}) & 63 | 1))"
        return f"({left} {one.choice('+-*^&|')} {right})"

    def _test(self) -> str:
        if self.random.random() < 0.2:
            return f"f > {self.random.uniform(-2, 2):.3f}"
        bits, relation = self.random.choice([1, 3, 7, 15, 31]), self.random.choice(["==", "!=", "<"])
        return f"(({self._number()}) & {bits}) {relation} 1"

    def _block(self, depth: int, *, inside: bool) -> None:
        for _ in range(self.random.randrange(2, 4)):
            self._statement(depth, inside)

    def _statement(self, depth: int, inside: bool) -> None:
        one, name = self.random, self.random.choice("abct")
        kind = one.randrange(13) if depth else one.randrange(6)
        if kind < 2:
            self.lines.append(f"{name} = {self._number()};")
        elif kind == 2:
            self._store()
        elif kind == 3 and one.random() < 0.25:
            array, type_ = one.choice([("sums", "float"), ("wide", "double")])
            self.lines.append(f"atomicAdd(&{array}[({self._number()}) & {_SUMS - 1}], ({type_})f);")
        elif kind == 3:
            self._atomic(name)
        elif kind == 4:
            self.lines.append(f"f = f * {one.uniform(0.5, 1.5):.3f} + reals[({self._number()}) & 255];")
        elif kind == 5:
            end = one.choice(["break", "continue", "return"] if inside else ["return"])
            self.lines.append(f"if ({self._test()} && ({self._test()})) {end};")
        elif kind < 8:
            self._nested(f"if ({self._test()})", depth, inside)
            if one.random() < 0.4:
                self._nested("else", depth, inside)
        elif kind < 12:
            self._loop(depth)
        else:
            self._search()

    def _store(self) -> None:
        reach = (2 if self.random.random() < self.strays else 1) * _DATA - 1
        self.lines.append(f"data[({self._number()}) & {reach}] = {self._number()};")

    def _atomic(self, name: str) -> None:
        one = self.random
        what = f"{one.choice(_ATOMICS)}(&places[({self._number()}) & {_PLACES - 1}], {self._number(1)})"
        self.lines.append(f"{name} = {what};" if one.random() < 0.6 else f"{what};")

    def _nested(self, head: str, depth: int, inside: bool) -> None:
        self.lines.append(f"{head} {{")
        self._block(depth - 1, inside=inside)
        self.lines.append("}")

    def _loop(self, depth: int) -> None:
        self.loops += 1
        k, one = f"k{self.loops}", self.random
        if one.random() < 0.6:
            self.lines.append("#pragma unroll 1")
        bound = f"(({self._number()}) & {one.choice([3, 7, 15])})"
        also = f" && {self._test()}" if one.random() < 0.3 else ""
        self._nested(f"for (int {k} = 0, e = {bound}; {k} < e{also}; {k}++)", depth, inside=True)

    def _search(self) -> None:
        at = f"at{self.loops}"
        self.loops += 1
        self.lines.append(f"int {at} = ({self._number()}) & {_TABLE - 1};")
        # Searches in loops may fill the table: who has looked at so many places gives up.
        self.lines.append(f"for (int left = 300; left && atomicCAS(&table[{at}], 0, i + 1) != 0; left--)")
        self.lines.append(f"  {at} = ({at} + 1) & {_TABLE - 1};")
        self.lines.append(f"t += {at};")


def text_of(number: int) -> str:
    """A program's source."""
    return Writer(number).program()


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    text = text_of(number)
    reference, fast = (ending(number, text, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{short(reference)} and {short(fast)}\n{text}"
    return "fault" if isinstance(reference, str) else "agree"


def ending(number: int, text: str, engine: str) -> list[bytes] | str:
    """The arrays behind a launch, or the fault."""
    rng = np.random.default_rng(number)
    block = (32, 64, 96, 40)[number % 4]
    n = int(rng.integers(1, 3 * block + 1))
    args: list[Any] = [
        rng.integers(0, 1 << 30, _DATA, np.int32),
        rng.integers(-100, 100, _PLACES, np.int32),
        np.zeros(_TABLE, np.int32),
        rng.normal(size=256),
        np.zeros(3 * block, np.int32),
        np.zeros(_SUMS, np.float32),
        np.zeros(_SUMS, np.float64),
    ]
    with engine_mode(engine), worker_threads(1):
        kernel = wg.compile(text, "k", language="cuda")
        try:
            wg.run(kernel, 3, block, [*args, np.int32(n)], device="cpu", timeout=60)
        except KernelFault as error:
            wg.reset("cpu")
            return str(error)
    return [one.tobytes() for one in args]


def short(ending: list[bytes] | str) -> str:
    """An ending in a few words."""
    return ending if isinstance(ending, str) else f"{len(ending)} arrays"
