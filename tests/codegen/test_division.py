"""Division of integers, which goes through double precision, against Python's integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

import warpglass as wg
from warpglass.codegen.lanes import division

_LANES = 4096
_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .{type} one)
{{
  .reg .{type} %x<4>;
  .reg .b32 %r<4>;
  .reg .b64 %p<4>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r2, %r0, 128, %r1;
  ld.param.u64 %p0, [a];
  ld.param.u64 %p1, [b];
  ld.param.u64 %p2, [out];
  mad.wide.u32 %p0, %r2, {size}, %p0;
  mad.wide.u32 %p1, %r2, {size}, %p1;
  mad.wide.u32 %p2, %r2, {size}, %p2;
  ld.global.{type} %x0, [%p0];
  {divisor}
  {operation}.{type} %x2, %x0, %x1;
  st.global.{type} [%p2], %x2;
  ret;
}}
"""


def _numbers(chance: random.Random, bits: int, signed: bool) -> tuple[list[int], list[int]]:
    """Operands of all lengths, powers of two and their neighbours, and products and theirs."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def one() -> int:
        length = chance.randrange(1, bits + 1)
        number = chance.choice((chance.getrandbits(length), (1 << length) + chance.randrange(-2, 3)))
        number = chance.choice((number, -number)) if signed else number
        return min(max(number, low), high)

    pairs: list[tuple[int, int]] = []
    while len(pairs) < _LANES:
        a, b = one(), one() or 1
        if chance.random() < 0.5:  # the quotient is an integer, or almost
            a = min(max(b * (abs(a) // abs(b)) + chance.randrange(-1, 2), low), high)
        if (a, b) != (low, -1):
            pairs.append((a, b))
    return [a for a, _ in pairs], [b for _, b in pairs]


def _towards_zero(operation: str, a: int, b: int) -> int:
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operation == "div" else a - quotient * b


@pytest.mark.parametrize("way", ["lanes", "one", "constant", "without instructions"])
@pytest.mark.parametrize("operation", ["div", "rem"])
@pytest.mark.parametrize("type_", ["u32", "s32", "u64", "s64"])
def test_quotients_and_remainders(
    type_: str, operation: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "without instructions":
        monkeypatch.setattr(division, "converts_wide", lambda: False)
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")
    chance, bits, signed = random.Random(f"{type_} {operation} {way}"), int(type_[1:]), type_[0] == "s"
    a, b = _numbers(chance, bits, signed)
    if way in ("one", "constant"):
        b = [chance.choice((b[0], 1000003, 3))] * _LANES
    divisor = {"one": "ld.param.{t} %x1, [one];", "constant": f"mov.{{t}} %x1, {b[0]};"}
    text = _HEAD.format(
        type=type_,
        size=bits // 8,
        operation=operation,
        divisor=divisor.get(way, "ld.global.{t} %x1, [%p1];").format(t=type_),
    )
    number = np.dtype(("int" if signed else "uint") + str(bits))
    out = np.zeros(_LANES, number)
    kernel = wg.compile(text, "k", language="ptx")
    wg.run(
        kernel,
        _LANES // 128,
        128,
        [np.array(a, number), np.array(b, number), out, number.type(b[0])],
        device="cpu",
    )
    expected = np.array([_towards_zero(operation, x, y) for x, y in zip(a, b, strict=True)], number)
    wrong = np.flatnonzero(out != expected)
    assert not len(wrong), [(a[k], b[k], out[k], expected[k]) for k in wrong[:5]]


@pytest.mark.parametrize("type_", ["u64", "s64"])
@pytest.mark.parametrize("operation", ["div", "rem"])
def test_numerators_of_known_bounds(type_: str, operation: str) -> None:
    """Small as signed numbers, and greater than all others as unsigned ones."""
    text = _HEAD.format(
        type=type_,
        size=8,
        operation=operation,
        divisor=f"""ld.global.{type_} %x1, [%p1];
  shr.s64 %x3, %x0, 56;""",
    ).replace("%x2, %x0", "%x2, %x3")
    chance = random.Random(type_ + operation)
    number = np.int64 if type_ == "s64" else np.uint64
    a = [chance.randrange(-128, 128) for _ in range(_LANES)]
    b = [chance.randrange(1, 1 << chance.randrange(1, 63)) for _ in range(_LANES)]
    out, given = np.zeros(_LANES, number), np.array(a, np.int64).view(number)
    shifted = given << number(56)
    kernel = wg.compile(text, "k", language="ptx")
    wg.run(kernel, _LANES // 128, 128, [shifted, np.array(b, number), out, number(0)], device="cpu")
    expected = [_towards_zero(operation, x, y) for x, y in zip(given.tolist(), b, strict=True)]
    assert out.tolist() == expected


def test_divisors_that_some_lanes_may_not_share() -> None:
    """A guarded divisor, one for all lanes only where a border does not limit it, is a vector."""
    source = """extern "C" __global__ void k(const int* x, int* y, int n) {
      int i = threadIdx.x;
      y[i] = x[i] / (min(i + 1000, n) / 1000) + x[i] % (min(i + 1000, n) / 900);
    }"""
    x, i = np.arange(64, dtype=np.int32) * 977 - 20000, np.arange(64)
    for n in (1000, 1020, 1 << 30):
        y = np.zeros(64, np.int32)
        wg.run(wg.compile(source, "k"), 1, 64, (x, y, np.int32(n)), device="cpu")
        ends = np.minimum(i + 1000, n)
        pairs = zip(x.tolist(), (ends // 1000).tolist(), (ends // 900).tolist(), strict=True)
        assert y.tolist() == [_towards_zero("div", a, b) + _towards_zero("rem", a, c) for a, b, c in pairs]
