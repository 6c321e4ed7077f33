"""CUDA C++'s integer intrinsics, wide integers, divisions and bit fields, compiled and run.

Oracles are Python's unbounded integers: signed parameters `a b c` and `x y` come as 32- and 64-bit numbers,
`ua ub uc` and `ux uy` are the same bits read as unsigned.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import warpglass as wg
from tests.engines import ENGINES, engine_mode

from .cases import bit, clamp, packed, parts
from .inputs import edges, random_pattern
from .oracles import wrap

N = 512
ALL = 0xFFFFFFFF


@dataclass(frozen=True)
class Lane:
    """The arguments of one thread."""

    a: int
    b: int
    c: int
    x: int
    y: int

    @property
    def ua(self) -> int:
        """`a` read as unsigned."""
        return self.a & ALL

    @property
    def ub(self) -> int:
        """`b` read as unsigned."""
        return self.b & ALL

    @property
    def uc(self) -> int:
        """`c` read as unsigned."""
        return self.c & ALL

    @property
    def ux(self) -> int:
        """`x` read as unsigned."""
        return self.x & (1 << 64) - 1

    @property
    def uy(self) -> int:
        """`y` read as unsigned."""
        return self.y & (1 << 64) - 1


Oracle = Callable[[Lane], int]


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _each(type_: str, count: int, operation: Callable[[int, int], int]) -> Oracle:
    """An operation on the parts of ua and ub."""

    def compute(v: Lane) -> int:
        pairs = zip(parts(v.ua, count, type_), parts(v.ub, count, type_), strict=True)
        return packed([operation(p, q) for p, q in pairs], 32 // count)

    return compute


def _bytes_picked(v: Lane) -> int:
    pool = parts(v.ua, 4, "u") + parts(v.ub, 4, "u")
    return packed([pool[v.uc >> 4 * k & 7] for k in range(4)], 8)


_SCALAR: dict[str, Oracle] = {
    "__brev(ua)": lambda v: int(f"{v.ua:032b}"[::-1], 2),
    "__brevll(ux)": lambda v: int(f"{v.ux:064b}"[::-1], 2),
    "__popc(ua)": lambda v: v.ua.bit_count(),
    "__popcll(ux)": lambda v: v.ux.bit_count(),
    "__clz(a)": lambda v: 32 - v.ua.bit_length(),
    "__clzll(x)": lambda v: 64 - v.ux.bit_length(),
    "__ffs(a)": lambda v: (v.ua & -v.ua).bit_length(),
    "__ffsll(x)": lambda v: (v.ux & -v.ux).bit_length(),
    "__byte_perm(ua, ub, uc)": _bytes_picked,
    "__funnelshift_l(ua, ub, uc)": lambda v: (v.ub << 32 | v.ua) << (v.uc & 31) >> 32,
    "__funnelshift_r(ua, ub, uc)": lambda v: (v.ub << 32 | v.ua) >> (v.uc & 31),
    "__funnelshift_lc(ua, ub, uc)": lambda v: (v.ub << 32 | v.ua) << min(v.uc, 32) >> 32,
    "__funnelshift_rc(ua, ub, uc)": lambda v: (v.ub << 32 | v.ua) >> min(v.uc, 32),
    "__mul24(a, b)": lambda v: wrap("s24", v.a) * wrap("s24", v.b),
    "__umul24(ua, ub)": lambda v: wrap("u24", v.ua) * wrap("u24", v.ub),
    "__mulhi(a, b)": lambda v: v.a * v.b >> 32,
    "__umulhi(ua, ub)": lambda v: v.ua * v.ub >> 32,
    "__mul64hi(x, y)": lambda v: v.x * v.y >> 64,
    "__umul64hi(ux, uy)": lambda v: v.ux * v.uy >> 64,
    "__hadd(a, b)": lambda v: v.a + v.b >> 1,
    "__uhadd(ua, ub)": lambda v: v.ua + v.ub >> 1,
    "__rhadd(a, b)": lambda v: v.a + v.b + 1 >> 1,
    "__urhadd(ua, ub)": lambda v: v.ua + v.ub + 1 >> 1,
    "__sad(a, b, uc)": lambda v: abs(v.a - v.b) + v.uc,
    "__usad(ua, ub, uc)": lambda v: abs(v.ua - v.ub) + v.uc,
    "__dp4a(a, b, c)": lambda v: v.c + sum(map(int.__mul__, parts(v.ua, 4, "s"), parts(v.ub, 4, "s"))),
    "__dp4a(ua, ub, uc)": lambda v: v.c + sum(map(int.__mul__, parts(v.ua, 4, "u"), parts(v.ub, 4, "u"))),
    "__dp2a_lo(a, b, c)": lambda v: v.c + sum(map(int.__mul__, parts(v.ua, 2, "s"), parts(v.ub, 4, "s")[:2])),
    "__dp2a_hi(ua, ub, uc)": lambda v: (
        v.c + sum(map(int.__mul__, parts(v.ua, 2, "u"), parts(v.ub, 4, "u")[2:]))
    ),
    "abs(a)": lambda v: abs(v.a),
    "llabs(x)": lambda v: abs(v.x),
    "min(a, max(b, c))": lambda v: min(v.a, max(v.b, v.c)),
    "umin(ua, umax(ub, uc))": lambda v: min(v.ua, max(v.ub, v.uc)),
    "__viaddmax_s32_relu(a, b, c)": lambda v: max(0, wrap("s32", v.a + v.b), v.c),
    "__vimin3_u32(ua, ub, uc)": lambda v: min(v.ua, v.ub, v.uc),
    "__vimax3_s16x2_relu(ua, ub, uc)": lambda v: packed(
        [max(0, *three) for three in zip(*(parts(x, 2, "s") for x in (v.ua, v.ub, v.uc)), strict=True)], 16
    ),
}

_DIVISION: dict[str, Oracle] = {
    "b == 0 ? 0 : a / (b == -1 ? 3 : b)": lambda v: _quotient(v.a, 3 if v.b == -1 else v.b) if v.b else 0,
    "b == 0 ? 0 : a % (b == -1 ? 3 : b)": lambda v: (
        v.a - (3 if v.b == -1 else v.b) * _quotient(v.a, 3 if v.b == -1 else v.b) if v.b else 0
    ),
    "ua / (ub | 1)": lambda v: v.ua // (v.ub | 1),
    "ua % (ub | 1)": lambda v: v.ua % (v.ub | 1),
    "x / (y == 0 || y == -1 ? 7 : y)": lambda v: _quotient(v.x, 7 if v.y in (0, -1) else v.y),
    "x % 1000003": lambda v: v.x - 1000003 * _quotient(v.x, 1000003),
    "x / -10": lambda v: _quotient(v.x, -10),
    "a / 7": lambda v: _quotient(v.a, 7),
    "ua % 1000": lambda v: v.ua % 1000,
    "ux / (uy | 1)": lambda v: v.ux // (v.uy | 1),
    "ux % (uy | 1)": lambda v: v.ux % (v.uy | 1),
    "ux / 12345": lambda v: v.ux // 12345,
    "(short)a / (short)((b & 0x7f) | 1)": lambda v: _quotient(wrap("s16", v.a), v.b & 0x7F | 1),
    "(unsigned short)a % (unsigned short)(b | 1)": lambda v: (v.a & 0xFFFF) % ((v.b | 1) & 0xFFFF),
    "(signed char)a / (signed char)3": lambda v: _quotient(wrap("s8", v.a), 3),
}

_WIDE: dict[str, Oracle] = {
    "(long long)(((U)ux * uy) >> 64)": lambda v: v.ux * v.uy >> 64,
    "(long long)(((__int128)x * y) >> 70)": lambda v: v.x * v.y >> 70,
    "(long long)((((U)ux << 64 | uy) + ((U)uy << 64 | ux)) >> 64)": lambda v: (
        ((v.ux << 64 | v.uy) + (v.uy << 64 | v.ux)) % (1 << 128) >> 64
    ),
    "(long long)((((U)ux << 64 | uy) - ((U)uy << 64 | ux)) >> 64)": lambda v: (
        ((v.ux << 64 | v.uy) - (v.uy << 64 | v.ux)) >> 64
    ),
    "(long long)(((U)ux << 64 | uy) >> (ua & 127))": lambda v: (v.ux << 64 | v.uy) >> (v.ua & 127),
    "(long long)(((U)uy * ux) << (ub & 63) >> 40)": lambda v: (v.ux * v.uy << (v.ub & 63)) % (1 << 128) >> 40,
    "(long long)((((U)ux << 64 | uy) / ((U)uc << 33 | 5)) >> 3)": lambda v: (
        (v.ux << 64 | v.uy) // (v.uc << 33 | 5) >> 3
    ),
    "(long long)(((U)ux << 64 | uy) % (uy | 1))": lambda v: (v.ux << 64 | v.uy) % (v.uy | 1),
    "((__int128)x * y < (__int128)a * b) ? 1 : 0": lambda v: int(v.x * v.y < v.a * v.b),
}

_FIELDS: dict[str, Oracle] = {
    "(F{ua}.s5 + 2 * F{ua}.u7 + 3 * F{ua}.s20)": lambda v: (
        wrap("s5", v.ua) + 2 * wrap("u7", v.ua >> 5) + 3 * wrap("s20", v.ua >> 12)
    ),
    "put(ua, b, c)": lambda v: v.ua & 0x1F | (v.b & 0x7F) << 5 | (v.c & 0xFFFFF) << 12,
    "(ua >> 3 & 0x1ff) ^ (a << 7 >> 20)": lambda v: v.ua >> 3 & 0x1FF ^ wrap("s32", v.a << 7) >> 20,
    "ua << (ub & 31) | ua >> (-ub & 31)": lambda v: (v.ua << 32 | v.ua) >> (32 - (v.ub & 31)),
    "__byte_perm(ua, 0, 0x0123)": lambda v: int.from_bytes(v.ua.to_bytes(4, "little"), "big"),
    "(signed char)(ua >> 8) + (unsigned char)ub": lambda v: wrap("s8", v.ua >> 8) + (v.ub & 0xFF),
    "(ua & ub) | (ub & uc) | (ua & uc)": lambda v: packed(
        [int(bit(v.ua, k) + bit(v.ub, k) + bit(v.uc, k) >= 2) for k in range(32)], 1
    ),
}

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda p, q: p + q,
    "sub": lambda p, q: p - q,
}


def _simd() -> dict[str, Oracle]:
    """The SIMD intrinsics `__vadd4` and so on."""
    found: dict[str, Oracle] = {}
    for count in (2, 4):
        bits, ones = 32 // count, (1 << 32 // count) - 1
        for name, operation in _OPERATIONS.items():
            found[f"__v{name}{count}(ua, ub)"] = _each("u", count, operation)
            for sign in "us":

                def saturated(
                    p: int,
                    q: int,
                    kind: str = f"{sign}{bits}",
                    operation: Callable[[int, int], int] = operation,
                ) -> int:
                    return clamp(kind, operation(p, q))

                found[f"__v{name}{sign}s{count}(ua, ub)"] = _each(sign, count, saturated)
        for sign in "us":
            found[f"__vmax{sign}{count}(ua, ub)"] = _each(sign, count, max)
            found[f"__vmin{sign}{count}(ua, ub)"] = _each(sign, count, min)
            found[f"__vabsdiff{sign}{count}(ua, ub)"] = _each(sign, count, lambda p, q: abs(p - q))
            found[f"__vcmpgt{sign}{count}(ua, ub)"] = _each(sign, count, lambda p, q, o=ones: o * (p > q))
            found[f"__vsetle{sign}{count}(ua, ub)"] = _each(sign, count, lambda p, q: int(p <= q))
            found[f"__vsad{sign}{count}(ua, ub)"] = lambda v, s=sign, n=count: sum(
                abs(p - q) for p, q in zip(parts(v.ua, n, s), parts(v.ub, n, s), strict=True)
            )
        found[f"__vavgu{count}(ua, ub)"] = _each("u", count, lambda p, q: p + q + 1 >> 1)
        found[f"__vhaddu{count}(ua, ub)"] = _each("u", count, lambda p, q: p + q >> 1)
        found[f"__vcmpeq{count}(ua, ub)"] = _each("u", count, lambda p, q, o=ones: o * (p == q))
        found[f"__vneg{count}(ua)"] = _each("s", count, lambda p, q: -p)
        found[f"__vabs{count}(ua)"] = _each("s", count, lambda p, q: abs(p))
        found[f"__vabsss{count}(ua)"] = _each("s", count, lambda p, q, t=f"s{bits}": clamp(t, abs(p)))
        found[f"__vnegss{count}(ua)"] = _each("s", count, lambda p, q, t=f"s{bits}": clamp(t, -p))
    return found


_GROUPS = {"scalar": _SCALAR, "division": _DIVISION, "wide": _WIDE, "fields": _FIELDS, "simd": _simd()}
_LONG = re.compile(r"\bu?[xy]\b")  # only these results have 64 bits
_PRELUDE = """
typedef unsigned __int128 U;
struct F {
    int s5 : 5; unsigned u7 : 7; int s20 : 20;
    __device__ F(unsigned u) { memcpy(this, &u, 4); }
};
__device__ unsigned put(unsigned u, int b, int c) {
    F f(u); f.u7 = b; f.s20 = c; unsigned r; memcpy(&r, &f, 4); return r;
}
"""


def _source(expressions: list[str]) -> str:
    lines = [f"    out[{k} * {N} + i] = (long long)({one});" for k, one in enumerate(expressions)]
    return "\n".join(
        [
            _PRELUDE,
            'extern "C" __global__ void k(const int* as, const int* bs, const int* cs, const long long* xs,',
            "                             const long long* ys, long long* out) {",
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
            "    int a = as[i], b = bs[i], c = cs[i];",
            "    long long x = xs[i], y = ys[i];",
            "    [[maybe_unused]] unsigned ua = a, ub = b, uc = c;",
            "    [[maybe_unused]] unsigned long long ux = x, uy = y;",
            *lines,
            "}",
        ]
    )


def _columns() -> list[np.ndarray]:
    rng = random.Random(11)
    columns: list[np.ndarray] = []
    for type_, dtype in zip(("s32", "s32", "s32", "s64", "s64"), "iiiqq", strict=True):
        ends = edges(type_)
        values = [rng.choice(ends) if rng.random() < 0.3 else random_pattern(type_, rng) for _ in range(N)]
        columns.append(np.array([wrap(type_, value) for value in values], dtype))
    return columns


_COLUMNS = _columns()
_LANES = [Lane(*values) for values in zip(*(column.tolist() for column in _COLUMNS), strict=True)]


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("group", _GROUPS)
@pytest.mark.parametrize("engine", ENGINES)
def test_expressions_are_what_python_computes(group: str, engine: str):
    oracles = _GROUPS[group]
    k = wg.compile(_source(list(oracles)), "k", language="cuda", options=("--device-int128",))
    out = np.zeros((len(oracles), N), np.int64)
    with engine_mode(engine if engine != "gpu" else "kinds"):
        wg.run(k, N // 128, 128, [*_COLUMNS, out], device="gpu" if engine == "gpu" else "cpu")
    wrong: list[str] = []
    for (text, oracle), row in zip(oracles.items(), out.tolist(), strict=True):
        kind = "s64" if _LONG.search(text) else "u32"
        for lane, have in zip(_LANES, row, strict=True):
            want = oracle(lane)
            if wrap(kind, have) != wrap(kind, want):
                wrong.append(f"{text}: {have:#x}, should be {want:#x}, for {lane}")
                break
    assert not wrong, "\n".join(wrong)
