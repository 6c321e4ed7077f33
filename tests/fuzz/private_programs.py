"""Random CUDA C++ whose lanes part, and none sees what others do: `attempt(number)` is what watched.py tries.

Nested loops over local arrays and over memory that nobody writes, with switches, early ends of loops and now
and then an index that is out of bounds; what comes out is stored at the end. Some change elements of an array
by what commutes, and nobody looks at those, but for some. One lane after the other may run such loops. Every
loop is entered by so many warps that both ways are taken in each launch.
"""

from __future__ import annotations

import random
import zlib
from contextlib import nullcontext
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.errors import KernelFault

_DATA, _BLOCKS = 1024, 8
_CHANGES = ("atomicAdd", "atomicMin", "atomicMax", "atomicOr", "atomicXor", "atomicAnd")
_TYPES = ("int", "unsigned char", "short", "double", "long long", "float")


class Writer:
    """Writes one program."""

    def __init__(self, number: int):
        self.random = random.Random(number)
        self.strays = 0.1 if number % 5 == 0 else 0.0  # how often a load may be out of bounds
        self.lines: list[str] = []
        self.loops = 0
        kinds = self.random.choices(_TYPES, k=self.random.randrange(0, 3))
        self.arrays = [(f"s{k}", kind, self.random.choice([2, 4, 8, 16])) for k, kind in enumerate(kinds)]
        self.shared = self.random.random() < 0.3
        # What changes `sums`: nothing, one operation or two; and whether that is looked at.
        self.changes = self.random.sample(_CHANGES, self.random.choice([0, 0, 1, 1, 1, 2]))
        self.looks = self.random.random() < 0.2

    @property
    def races(self) -> bool:
        """Whether blocks look at what others change, or change it in ways that do not commute."""
        return bool(self.looks and self.changes) or len(self.changes) > 1

    def program(self) -> str:
        head = [
            'extern "C" __global__ void k(const int *data, const unsigned char *bytes, int *out, '
            "int *sums, int n) {",
            "int i = blockIdx.x * blockDim.x + threadIdx.x;",
        ]
        if self.shared:
            head += ["__shared__ int tile[64];", "for (int j = threadIdx.x; j < 64; j += blockDim.x)"]
            head += ["tile[j] = data[j * 3];", "__syncthreads();"]
        head += [
            "if (i >= n) return;",
            "int a = i * 40503 ^ data[i & 1023], b = data[(i * 7) & 1023], c = i & 15;",
        ]
        head += ["int t = 0, fuel = 0;", "double f = b * 0.001;"]
        head += [f"{kind} {name}[{size}];" for name, kind, size in self.arrays]
        head += [f"for (int j = 0; j < {size}; j++) {name}[j] = j * a;" for name, _, size in self.arrays]
        self._loop(2)
        self._block(2, inside=False)
        tail = [f"t += (int){name}[c & {size - 1}];" for name, _, size in self.arrays]
        tail += ["out[i] = a ^ b * 31 ^ c * 1009 ^ t ^ (int)(f * 1024) ^ fuel;", "}"]
        return "\n".join([*head, *self.lines, *tail])

    def _number(self, depth: int = 2) -> str:
        one = self.random
        if depth == 0 or one.random() < 0.3:
            return one.choice(["a", "b", "c", "t", "i", str(one.randrange(1, 64)), "threadIdx.x"])
        left, right = self._number(depth - 1), self._number(depth - 1)
        kind = one.randrange(9)
        if kind == 0:
            return f"data[{self._index(left, right)}]"
        if kind == 1:
            return f"(int)((unsigned)({left}) % (unsigned)(({right}) & 63 | 1))"
        if kind == 2:
            return f"bytes[({left}) & {_DATA - 1}]"
        if kind == 3 and self.arrays:
            name, _, size = one.choice(self.arrays)
            return f"(int){name}[({left}) & {size - 1}]"
        if kind == 4 and self.shared:
            return f"tile[({left}) & 63]"
        if kind == 5 and self.looks:
            return f"sums[({left}) & {_DATA - 1}]"
        return f"({left} {one.choice('+-*^&|')} {right})"

    def _index(self, left: str, right: str) -> str:
        """An index into `data`, or beyond."""
        reach = (64 if self.random.random() < self.strays else 1) * _DATA - 1
        return f"({left}) & {reach}"

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
        kind = one.randrange(14) if depth else one.randrange(7)
        if kind < 2:
            self.lines.append(f"{name} = {self._number()};")
        elif kind < 4 and self.arrays:
            array, _, size = one.choice(self.arrays)
            self.lines.append(f"{array}[({self._number()}) & {size - 1}] = {self._number()};")
        elif kind < 5:
            self.lines.append(f"f = f * {one.uniform(0.5, 1.5):.3f} + ({self._number(1)}) * 0.01;")
        elif kind < 6 and self.changes:
            reach = (64 if one.random() < self.strays else 1) * _DATA - 1
            change = f"{one.choice(self.changes)}(&sums[({self._number(1)}) & {reach}], {self._number(1)});"
            self.lines.append(f"if ({self._test()}) {change}" if one.random() < 0.5 else change)
        elif kind < 7:
            end = one.choice(["break", "continue"] if inside else ["t++"])
            self.lines.append(f"if ({self._test()} && ({self._test()})) {end};")
        elif kind < 9:
            self._nested(f"if ({self._test()})", depth, inside)
            if one.random() < 0.4:
                self._nested("else", depth, inside)
        elif kind < 10:
            self._switch(depth)
        else:
            self._loop(depth)

    def _nested(self, head: str, depth: int, inside: bool) -> None:
        self.lines.append(f"{head} {{")
        self._block(depth - 1, inside=inside)
        self.lines.append("}")

    def _switch(self, depth: int) -> None:
        self.lines.append(f"switch (({self._number()}) & 7) {{")
        for case in range(self.random.randrange(3, 8)):
            self.lines.append(f"case {case}: {{")
            self._block(depth - 1, inside=False)
            self.lines.append("} break;" if self.random.random() < 0.8 else "}")
        self.lines.append("}")

    def _loop(self, depth: int) -> None:
        self.loops += 1
        k, one = f"k{self.loops}", self.random
        if one.random() < 0.6:
            self.lines.append("#pragma unroll 1")
        bound = one.choice([f"(({self._number()}) & {one.choice([3, 7, 15])})", str(one.randrange(2, 9))])
        also = f" && {self._test()}" if one.random() < 0.3 else ""
        head = f"for (int {k} = 0, e = {bound}; {k} < e{also}; {k}++)"
        if one.random() < 0.3:
            head = f"while (fuel++ < {one.randrange(20, 60)} && {self._test()})"
        self._nested(head, depth, inside=True)


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    writer = Writer(number)
    text = writer.program()
    # How far other threads have come when a block faults is seen in what their blocks have changed.
    with worker_threads(1) if writer.races or writer.strays else nullcontext():
        reference, fast = (
            ending(number, text, engine, (32, 64, 96, 40)[number % 4]) for engine in CPU_ENGINES
        )
    assert reference == fast, f"{short(reference)} and {short(fast)}\n{text}"
    return "fault" if isinstance(reference, str) else "agree"


def ending(number: int, text: str, engine: str, block: int, faulted: int = -1) -> bytes | str:
    """The arrays behind a launch, or the fault and what is then in the one of them at `faulted`."""
    rng = np.random.default_rng(number)
    n = _BLOCKS * block - int(rng.integers(0, block))
    args: list[Any] = [
        rng.integers(0, 1 << 30, _DATA, np.int32),
        rng.integers(0, 256, _DATA, np.uint8),
        np.zeros(_BLOCKS * block, np.int32),
        rng.integers(-(1 << 20), 1 << 20, _DATA, np.int32),
    ]
    with engine_mode(engine):
        kernel = wg.compile(text, "k", language="cuda")
        try:
            wg.run(kernel, _BLOCKS, block, [*args, np.int32(n)], device="cpu", timeout=60)
        except KernelFault as error:
            wg.reset("cpu")
            return f"{error}; {zlib.crc32(args[faulted].tobytes()):x}"
    return b"".join(one.tobytes() for one in args[-2:])


def short(ending: bytes | str) -> str:
    return ending if isinstance(ending, str) else f"{len(ending)} bytes"
