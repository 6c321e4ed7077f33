"""Random CUDA C++ that computes with numbers of many types: `attempt(number)` is what watched.py tries.

Threads find places by quotients, remainders, shifts and bits of their numbers, look into small tables, join
and part bytes and halves, divide numbers of all widths by constants and by others, sum products of narrow
elements, and take minima and maxima of floats with NaNs, infinities and subnormal numbers among them. Loops
have few rounds, or stride along rows by the block or the warp. Data hold each type's extremes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.errors import KernelFault

_SHAPES = ((3, 64), (2, 96), (5, 50), (2, 256), ((2, 2), (16, 8)), ((2, 2), (32, 4)), ((2, 2), (24, 5)))
_INTEGERS = {
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "short": np.int16,
    "unsigned short": np.uint16,
    "signed char": np.int8,
    "unsigned char": np.uint8,
}
_FLOATS = {"float": np.float32, "double": np.float64}
_NAMES = {name: "".join(word[0] for word in name.split()) + name[-1] for name in (*_INTEGERS, *_FLOATS)}
_LENGTH = 4096  # elements of an array
_TABLE = (3, 250, 17, 99, 128, 7, 64, 31, 255, 1, 200, 45, 77, 0, 160, 12)


def _array(type_: str) -> str:
    return f"a_{_NAMES[type_]}"


class _Writer:
    def __init__(self, number: int):
        self.random = random.Random(number)
        one = self.random
        self.wide = one.choice(["int", "unsigned", "int", "long long", "unsigned long long"])
        self.narrow = one.choice(["unsigned char", "signed char", "short", "unsigned short"])
        self.real = one.choice([*_FLOATS, "float"])
        self.types = [self.wide, self.narrow, self.real]

    def text(self) -> str:
        """The program."""
        one = self.random
        parameters = ", ".join(f"const {type_} *{_array(type_)}" for type_ in self.types)
        lines = [
            f"typedef {self.wide} T;",
            f"typedef {self.narrow} N;",
            f"typedef {self.real} F;",
            f"__constant__ unsigned char table[16] = {{{', '.join(map(str, _TABLE))}}};",
            f'extern "C" __global__ void k(T *o, F *p, N *q, {parameters}, int n, int w, T d) {{',
            "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;",
            "  int i = y * gridDim.x * blockDim.x + x, lane = threadIdx.x & 31;",
            "  if (i >= n) return;",
            f"  T s = {_array(self.wide)}[i], r = (T)i;",
            f"  F f = {_array(self.real)}[i], g = (F)i;",
            "  unsigned u = i, v = w;",
        ]
        makers: list[Callable[[], str]] = [
            self._sum, self._joined, self._division, self._extreme, self._looked_up, self._bits, self._floats,
        ]  # fmt: skip
        for _ in range(one.randrange(2, 7)):
            lines += self._maybe_looped(one.choice(makers))
        lines += [f"  q[{self._own()}] = (N)(s ^ u);"] if one.random() < 0.5 else ["  q[i] = (N)u;"]
        lines += ["  o[i] = s + r + (T)u + (T)v;", "  p[i] = f + g;", "}"]
        return "\n".join(lines)

    def _maybe_looped(self, make: Callable[[], str]) -> list[str]:
        one = self.random
        if one.random() < 0.5:
            return [f"  {{ int e = {self._small()}; {make()} }}"]
        unroll = one.choice(["", "#pragma unroll 1\n", "#pragma unroll 2\n"])
        head = one.choice(
            [
                f"for (int e = 0; e < {one.choice(['5', '8', '16', 'w & 15', 'i & 7'])}; e++)",
                f"for (int e = threadIdx.x; e < {one.choice(['200', 'w', '3 * w', '128'])}; e += blockDim.x)",
                f"for (int e = lane; e < {one.choice(['100', 'w', '96'])}; e += 32)",
                f"for (int e = {one.choice('wi')} & 63; e > 0; e >>= 1)",
            ]
        )
        return [f"{unroll}  {head} {{", *(f"    {make()}" for _ in range(one.randrange(1, 3))), "  }"]

    def _small(self) -> str:
        """An integer of at most some thousand."""
        one = self.random
        return one.choice(["i & 31", "x & 15", "y", "w", "lane", "(int)(u & 63)", str(one.randrange(40))])

    def _number(self) -> str:
        one = self.random
        by = one.choice([2, 3, 4, 5, 7, 8, 10, 16, 24, 31, 32, 33, 100, 1000])
        return one.choice(
            [
                *(f"i {operation} {by}" for operation in "/%/%"),
                "i / w",
                "i % w",
                f"(i + e) {one.choice('/%')} {by}",
                f"i >> {one.randrange(1, 6)}",
                f"i & {one.choice([1, 3, 7, 15, 31, 63, 12, 6])}",
                f"i ^ {one.choice([1, 2, 8, 16, 31])}",
                "x", "y", "lane", "e", "i", "threadIdx.x / 3", "n - 1 - i", "threadIdx.x % 5",
            ]
        )  # fmt: skip

    def _own(self) -> str:
        """A place of each thread's own: no two threads store to one."""
        return self.random.choice(["i", "n - 1 - i", "i ^ 1", "2 * i", "i / 8 * 8 + 7 - i % 8"])

    def _place(self) -> str:
        """An index that no array is too short for."""
        one = self.random
        times = one.choice(["", "", f" * {one.choice([2, 3, 4, 17, 32, 33])}", " * w"])
        index = f"({self._number()}){times} + {one.choice(['0', 'e', 'e', self._number()])}"
        return f"({index}) & {_LENGTH - 1}" if one.random() < 0.7 else f"min(max({index}, 0), {_LENGTH - 1})"

    def _element(self, type_: str) -> str:
        return f"{_array(type_)}[{self._place()}]"

    def _sum(self) -> str:
        one = self.random
        a, b = self._element(self.narrow), self._element(self.narrow)
        return one.choice(
            [
                f"s += {self._element(self.wide)};",
                f"s += {a};",
                f"s += {a} * {b};",
                f"u += {a} * {b};",
                f"u += abs((int){a} - (int){b});",
                f"u = max(u, (unsigned)({a} + {b} + 1) >> 1);",
                f"s = s * 3 + (T)({a} << {one.randrange(9)});",
            ]
        )

    def _joined(self) -> str:
        """Bytes or halves joined to words, and words taken apart."""
        one, array, at = self.random, _array(self.narrow), f"(({self._number()}) & 511) * 4"
        unsigned = "unsigned char" if self.narrow.endswith("char") else "unsigned short"
        bits = 8 if self.narrow.endswith("char") else 16
        parts = [f"(unsigned)({unsigned}){array}[{at} + {k}] << {k * bits % 32}" for k in range(32 // bits)]
        word = f"((const unsigned *){array})[({self._number()}) & 511]"
        return one.choice(
            [
                f"u ^= {' | '.join(parts)};",
                f"u += {word};",
                f"{{ unsigned t = {word}; s += (t & 255) + (t >> 8 & 255) * 3 + (t >> 24); }}",
                f"{{ unsigned t = {word}; u = (u ^ t) * 16777619u; }}",
                f"u = __byte_perm(u, v, {one.choice(['0x3210', '0x7531', '0x0123', '(unsigned)s'])});",
                f"v = __funnelshift_{one.choice('lr')}(u, v, {one.choice(['8', '16', '5', 'u', 'w'])});",
                f"u = __dp4a((int)u, (int)v, (int){one.choice('uv')});",
                f"u = __v{one.choice(['absdiffu', 'add', 'maxs', 'minu', 'avgu'])}{one.choice('24')}(u, v);",
                f"u += __usad(u, v, {self._element(self.narrow)});",
            ]
        )

    def _division(self) -> str:
        one = self.random
        by = one.choice(
            ["3", "7", "10", "1000", "16", "-5", "d", "w", "(T)(e + 1)", "(T)(u | 1)", "0x123456789LL"]
        )
        unsigned = one.choice(["3u", "10u", "255u", "(v | 1)", "1000003u", "(unsigned)(e + 2)"])
        few = one.choice(["3", "10", "-7", "(e + 1)"])
        factor = one.choice(["0xAAAAAAABu", "v", "12345u"])
        return one.choice(
            [
                f"r += s {one.choice('/%')} (T)({by});",
                f"s = s - s / (T)({by}) * (T)({by}) + 1;",
                f"u = u {one.choice('/%')} {unsigned};",
                f"r ^= (T)({self._element(self.narrow)} {one.choice('/%')} {few});",
                f"v += (unsigned)(((unsigned long long)u * {factor}) >> {one.choice([32, 33, 40])});",
                f"r += __{one.choice(['mulhi', 'mul24'])}((int)u, (int)s);",
                "s = (T)__umul64hi((unsigned long long)s, (unsigned long long)r + u);",
            ]
        )

    def _extreme(self) -> str:
        one, low, high = self.random, *self.random.choice([("fmin", "fmax"), ("fmax", "fmin")])
        x = self._element(self.real)
        return one.choice(
            [
                f"f = {low}(f, {x});",
                f"g = {low}({high}(g, {x}), f);",
                f"f = {x} > g ? {x} : f;",
                f"g = g < {x} ? g : {x};",
                f"if ({x} > f) {{ f = {x}; u = e; }}",
                f"f = {high}({low}({x}, (F)200), (F)-3);",
                f"s = max(s, {self._element(self.wide)});",
                f"s = min(s, {self._element(self.wide)}) + max(r, (T)e);",
            ]
        )

    def _looked_up(self) -> str:
        one = self.random
        digit = one.choice(["u & 15", "(u >> 4) & 7", "s & 3", "e & 15", "(i + e) & 15", "u % 10"])
        return one.choice(
            [
                f"u = u * 5 + table[{digit}];",
                f"s += table[{digit}] + table[{self._element(self.narrow)} & 15];",
                f"f += table[{digit}];",
                f"u ^= {_array(self.wide)}[{digit}];",
                f"f = f * (F)0.5 + {_array(self.real)}[{digit}];",
                f"v += {_array(self.narrow)}[({digit}) * 2 + 1];",
            ]
        )

    def _bits(self) -> str:
        one = self.random
        return one.choice(
            [
                "u ^= u << 13; u ^= u >> 17; u ^= u << 5;",
                "u += __popc(u) + __clz(v);",
                "s += __ffsll((long long)s) + __brev(u);",
                f"s = s << ({self._small()} & 15) | (T)u;",
                f"s = s >> ({self._small()} & 31);",
                f"u = u >> {one.randrange(1, 31)} | u << {one.randrange(1, 31)};",
                f"v = (v & {one.choice(['0xff', '0xffff', '0xf0f0f0f0u'])}) + ({self._number()});",
                f"r = (T)(({one.choice([self.narrow, 'short', 'unsigned char', 'int'])})s) + e;",
            ]
        )

    def _floats(self) -> str:
        one = self.random
        x, y = self._element(self.real), self._element(self.real)
        return one.choice(
            [
                f"f += {x} * {y};",
                f"g = g * (F)0.25 - {x} / (g + (F)2);",
                f"f = sqrt(fabs({x})) + f * (F)0.125;",
                f"s += (T){one.choice(['floor', 'rint', 'ceil', 'trunc', ''])}({x} * (F)0.5);",
                f"g += (F)s * (F)1e-3 + (F){self._element(self.narrow)};",
                f"u += isnan({x}) + ({x} <= {y}) * 2;",
                f"f = {x} < 0 ? -f : f + {y};",
            ]
        )


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    writer = _Writer(number)
    text = writer.text()
    reference, fast = (_ending(number, text, writer, engine) for engine in CPU_ENGINES)
    for one, other in zip(reference, fast, strict=True):
        assert one == other, f"{one[:200]!r} and {other[:200]!r}\n{text}"
    return "fault" if isinstance(reference[0], str) else "agree"


def _ending(number: int, text: str, writer: _Writer, engine: str) -> tuple[bytes | str, ...]:
    rng = np.random.default_rng(number)
    grid, block = _SHAPES[number % len(_SHAPES)]
    threads = int(np.prod(grid) * np.prod(block))
    n = threads - int(rng.choice([0, 0, 7]))
    wide, narrow, real = (_INTEGERS | _FLOATS)[writer.wide], _INTEGERS[writer.narrow], _FLOATS[writer.real]
    given = [_data(rng, wide), _data(rng, narrow), _data(rng, real)]
    made = [np.zeros(threads, wide), np.zeros(threads, real), np.zeros(2 * threads, narrow)]
    width, divisor = np.int32(rng.integers(1, 130)), wide(rng.choice([3, 10, 97, 4096, 12345]))
    args = (*made, *given, np.int32(n), width, divisor)
    with engine_mode(engine):
        kernel = wg.compile(text, "k", language="cuda")
        try:
            for _ in range(2):  # of launches that come again, integers are constants
                wg.run(kernel, grid, block, args, device="cpu", timeout=60)
        except KernelFault as error:
            wg.reset("cpu")
            return (str(error),)
    return tuple(one.tobytes() for one in made)


def _data(rng: np.random.Generator, type_: Any) -> np.ndarray:
    """Small numbers, any bits, and the type's extremes."""
    dtype: Any = np.dtype(type_)
    small = rng.integers(0, 100, _LENGTH).astype(dtype)
    some = rng.integers(0, 256, (_LENGTH, dtype.itemsize), np.uint8).view(dtype).ravel()
    if dtype.kind == "f":
        marked = np.array(
            [0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 3, np.finfo(dtype).max], dtype
        )
    else:
        marked = np.array([0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    share = rng.choice([0, 0.05, 1], 2, p=[0.3, 0.5, 0.2])
    values = np.where(rng.random(_LENGTH) < share[0], some, small)
    return np.where(rng.random(_LENGTH) < share[1] * 0.2, rng.choice(marked, _LENGTH), values).astype(dtype)
