"""Random CUDA C++ whose warps run together until one faults: `attempt(number)` is what watched.py tries.

Loops, barriers, tiles in shared memory, atomic operations and arrays that are changed in place, with arrays
that are too short, too few bytes of shared memory, pointers between elements and indices that some threads
have too large. The fault must be that of warps one by one, and what that has stored must be there.
"""

from __future__ import annotations

import random
from math import prod
from unittest import mock

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.codegen import warp_fusion
from warpglass.errors import KernelFault

_TYPES = {"float": np.float32, "int": np.int32, "double": np.float64, "short": np.int16}
# Blocks; the first are whole warps, the others have rows that are no part of one.
_SHAPES = ((128, 1, 1), (64, 2, 1), (256, 1, 1), (16, 16, 1), (192, 1, 1), (8, 4, 4), (100, 1, 1))
_SHAPES += ((18, 10, 1), (20, 7, 1), (40, 3, 1), (33, 4, 1), (10, 6, 3), (33, 2, 2))
_GRID = 3
_COUNTERS = 61  # elements that are changed by atomic operations


class _Writer:
    """Writes one program."""

    def __init__(self, number: int):
        self.random = one = random.Random(number)
        self.kind = one.choice(["float", "float", "int", "int", "double", "short"])
        self.block = one.choice(_SHAPES)
        self.threads = prod(self.block)
        self.in_place = number % 3 > 0  # whether something is loaded that is stored to
        self.decides = number % 3 > 1  # and that decides which way threads go
        self.operation = one.choice(["Add", "Min", "Max", "And", "Or", "Xor"])  # of all atomic operations
        self.lines: list[str] = []

    def program(self) -> str:
        head = [f"typedef {self.kind} T;", f"#define N {self.threads}", f"#define S {_GRID * self.threads}"]
        head += ["struct __align__(2 * sizeof(T)) P { T x, y; };"]
        head += ['extern "C" __global__ void k(const T *a, const T *b, T *o, T *p, const int *m, ']
        head += ["unsigned *c, int n) {", f"__shared__ unsigned h[{_COUNTERS}];"]
        head += [
            "extern __shared__ T s[];",
            "int x = threadIdx.x, y = threadIdx.z * blockDim.y + threadIdx.y;",
        ]
        head += ["int t = y * blockDim.x + x, i = blockIdx.x * N + t;", "T v = (T)i, u = 0;"]
        for _ in range(self.random.randrange(2, 7)):
            self._phase()
        return "\n".join([*head, *self.lines, self._store("o"), "}"])

    def _phase(self) -> None:
        kind = self.random.randrange(8)
        if kind == 0:
            self._tile()
        elif kind == 6:
            self._count()
        elif kind == 7:
            self._guarded(self._change("c"))
        elif kind < 3:
            self._loop()
        else:
            self._access()

    def _tile(self) -> None:
        """Something into shared memory, a barrier, something out of it."""
        reach = self.random.choice(["t", "t", "N - 1 - t", "t * 2", "x * blockDim.y * blockDim.z + y"])
        self._barrier()
        self._guarded(f"s[{reach}] = v + {self._element('ab')};")
        self._barrier()
        place = self.random.choice(["t ^ 1", "N - 1 - t", "x", "y", "0", "(t + 32) % N"])
        self.lines.append(f"u += s[{place}];")

    def _count(self) -> None:
        """Changes of shared memory that begins as zeros, and what comes out, each barrier with luck."""
        counter = f"h[t % {_COUNTERS}]"
        for line in (f"{counter} = 0;", self._change("h"), f"u += (T){counter};"):
            self.lines.append(line)
            if self.random.random() < 0.9:
                self._barrier()

    def _change(self, array: str) -> str:
        """An atomic operation whose result nobody reads, seldom beyond the end."""
        place = self.random.choice(["i * 7", "i", "0", "x", "m[i & 1023]"])
        place = f"({place}) % {_COUNTERS}u"
        if array == "c" and self.random.random() < 0.3:
            place += " + (m[i & 1023] >> 30) * 1000"
        operand = self.random.choice(["1", "i", "~i", "x + 3"])
        return f"atomic{self.operation}(&{array}[{place}], (unsigned)({operand}));"

    def _loop(self) -> None:
        bound = self.random.choice(["4", "9", "(n & 15)", "(m[0] & 7)"])
        barrier = self.random.random() < 0.3
        self.lines.append(f"#pragma unroll 1\nfor (int k = 0; k < {bound}; k++) {{")
        self.lines.append(f"v = v * (T)3 + {self._element('ab', along=True)};")
        for _ in range(self.random.randrange(2)):
            self._access(along=True)
        if barrier:
            self.lines += ["__syncthreads();", "s[t] = v;", "__syncthreads();", "u += s[N - 1 - t];"]
            self.lines += ["__syncthreads();"]
        self.lines.append("}")

    def _barrier(self) -> None:
        self.lines.append("__syncthreads();")

    def _guarded(self, line: str) -> None:
        tests = ["t < N / 2", "t >= 40", "x > 3", "(t & 3) == 1", "m[i & 1023] & 1"]
        tests += ["v > (T)9"] if self.decides or not self.in_place else []
        self.lines.append(f"if ({self.random.choice(tests)}) {line}" if self.random.random() < 0.3 else line)

    def _access(self, *, along: bool = False) -> None:
        load = f"v += {self._element('abp' if self.in_place else 'ab', along=along)};"
        element = self._element("op", along=along)
        change = f"{element} = {element} * (T)2 + v;"
        choices = [load, load, self._store("oop", along=along), *([change] if self.in_place else [])]
        choices += [self._change("c")]
        self._guarded(self.random.choice(choices))

    def _store(self, arrays: str, *, along: bool = False) -> str:
        return f"{self._element(arrays, along=along)} = v + u;"

    def _element(self, arrays: str, *, along: bool = False) -> str:
        """An element of one of some arrays; of those that are stored to only the thread's own."""
        one = self.random
        array = one.choice(arrays)
        places = ["i", "i", "i + S", "i + 2 * S", "i + S * (m[i & 1023] >> 28)"]
        places += ["i + k * S", "i + k * S"] if along else []
        if array in "ab":
            places += ["i + N", "(i ^ 32)", "2 * i", "N - 1 - t", "i + (m[i & 1023] >> 28)"]
            places += (
                ["k", "i + k", "i + k * N", "t + N * k", "k * blockDim.x + x", "i + (m[k] & 7)"]
                if along
                else []
            )
            if one.random() < 0.1:  # two elements, between two of them if the index is too large
                return f"(T)((const P *)({array} + (m[i & 1023] >> 30)))[i].y"
        return f"{array}[{one.choice(places)}]"


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault and all that was stored before it.

    Where arrays are changed in place, only the fault is promised, if that does not depend on them.
    """
    writer = _Writer(number)
    text = writer.program()
    (said, counted, *want), (fast, counted_fast, *found) = (_ending(number, engine) for engine in CPU_ENGINES)
    if said and fast and writer.decides and said != fast:
        return "another fault"
    assert said == fast, f"{said} and {fast}\n{text}"
    for before, here, there in zip(_arguments(number)[2:4], want, found, strict=True):
        stored = here.view(np.uint8) != before.view(np.uint8) if said else True
        differs = (here.view(np.uint8) != there.view(np.uint8)) & stored
        assert (said and writer.in_place) or not differs.any(), f"{int(differs.sum())} bytes, {said}\n{text}"
    if not said:
        assert np.array_equal(counted, counted_fast), f"other counters\n{text}"
        return "agree"
    return "fault" if all(map(np.array_equal, want, found)) else "fault, something else is stored"


def _arguments(number: int) -> list[np.ndarray]:
    one = np.random.default_rng(number)
    writer = _Writer(number)
    dtype, size = _TYPES[writer.kind], 15 * _GRID * writer.threads
    short = one.integers(writer.threads // 3, 9 * writer.threads, 4)
    lengths = [size if one.random() < 0.6 else int(short[k]) for k in range(4)]
    arrays = [one.integers(0, 9, length).astype(dtype) for length in lengths]
    m = one.integers(0, 1 << 28, 1024).astype(np.int32)
    if one.random() < 0.5:
        m[one.integers(0, 1024, int(one.integers(1, 60)))] = (1 << 31) - 1
    return [*arrays, m]


def _ending(number: int, engine: str) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """What was said of a fault, and behind the launch the counters and both arrays that may be stored to."""
    writer = _Writer(number)
    *arrays, m = _arguments(number)
    counters = np.full(_COUNTERS, 1000, np.uint32)
    few = number % 7 == 0  # bytes of shared memory
    shared = 2 * writer.threads * arrays[0].itemsize - (37 * arrays[0].itemsize if few else 0)
    together = mock.patch.object(warp_fusion, "pays", return_value=True)
    with engine_mode(engine), worker_threads(1), together:
        kernel = wg.compile(writer.program(), "k", language="cuda")
        said = ""
        try:
            launched = (*arrays, m, counters, np.int32(number & 15))
            wg.run(kernel, _GRID, writer.block, launched, device="cpu", shared=shared, timeout=20)
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return said, counters, arrays[2].copy(), arrays[3].copy()
