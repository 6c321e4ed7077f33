"""NaNs of double precision made exact late: random programs whose bits are the reference's.

Hosts pass NaNs much as the hardware does. Here every result that is looked at gets a mark that no host makes.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from warpglass.codegen import warp_fusion
from warpglass.isa import rounding

THREADS = 96 - 7  # the last warp is in part
REGISTERS = 10
_TWO = ("add.rn.f64", "sub.rn.f64", "mul.rn.f64", "div.rn.f64", "min.f64", "max.f64", "copysign.f64")
_ONE = ("neg.f64", "abs.f64", "sqrt.rn.f64", "mov.f64", "add.rn.f64", "mul.rn.f64")

HEAD = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{{
  .reg .pred %p<8>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .f64 %f<{REGISTERS + 2}>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, {8 * REGISTERS};
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  and.b32 %r2, %r1, 3;
  setp.eq.u32 %p1, %r2, 1;
  setp.gt.u32 %p2, %r1, 40;
"""


def _program(rng: random.Random) -> str:
    """Loads, steps, a loop whose lanes leave it at different times, steps, stores."""
    lines = [f"  ld.global.f64 %f{k}, [%rd1+{8 * k}];" for k in range(REGISTERS)]
    lines += _steps(rng, 14)
    lines += ["  add.u32 %r3, %r2, 1;", "again:"]
    lines += _steps(rng, rng.choice((3, 12, 30)))
    lines += ["  sub.u32 %r3, %r3, 1;", "  setp.ne.u32 %p3, %r3, 0;"]
    if rng.random() < 0.5:
        lines += [f"  setp.leu.and.f64 %p3, {_register(rng)}, 0d4000000000000000, %p3;"]
    lines += ["  @%p3 bra again;"]
    lines += _steps(rng, 8)
    lines += [f"  st.global.f64 [%rd2+{8 * k}], %f{k};" for k in range(REGISTERS)]
    return HEAD + "\n".join(lines) + "\n  ret;\n}\n"


def _steps(rng: random.Random, count: int) -> list[str]:
    return [_step(rng) for _ in range(count)]


def _step(rng: random.Random) -> str:
    target, a, b, c = (_register(rng) for _ in range(4))
    guard = rng.choice(("", "", "", "", "@%p1 ", "@!%p2 "))
    match rng.randrange(12):
        case 0 | 1 | 2 | 3 | 4:
            text = f"{rng.choice(_TWO[:4])} {target}, {a}, {b};"
        case 5 | 6:
            text = f"fma.rn.f64 {target}, {a}, {b}, {c};"
        case 7:
            text = f"{rng.choice(_TWO[4:])} {target}, {a}, {b};"
        case 8:
            name = rng.choice(_ONE)
            twice = f", {a}" if name.startswith(("add", "mul")) else ""
            text = f"{name} {target}, {a}{twice};"
        case 9:
            text = f"selp.f64 {target}, {a}, {b}, %p{rng.randint(1, 2)};"
        case 10:
            text = f"st.global.f64 [%rd2+{8 * rng.randrange(REGISTERS)}], {a};"
        case _:  # the bits as an integer and back
            return f"  mov.b64 %rd4, {a};\n  xor.b64 %rd4, %rd4, 5;\n  mov.b64 {target}, %rd4;"
    return f"  {guard}{text}"


def _register(rng: random.Random) -> str:
    return f"%f{rng.randrange(REGISTERS)}"


def _data(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(THREADS, REGISTERS))
    # Few NaNs tell whether each is looked for, many whether the right one passes.
    special = rng.random(data.shape) * rng.choice((1, 10, 40))
    bits = data.view(np.uint64)
    payloads = rng.integers(1, 1 << 52, data.shape, np.uint64) | np.uint64(0x7FF << 52)
    signs = rng.integers(0, 2, data.shape, np.uint64) << np.uint64(63)
    bits[...] = np.where(special < 0.04, payloads | signs, bits)  # quiet and signalling
    data[(special > 0.04) & (special < 0.08)] = np.inf
    data[(special > 0.08) & (special < 0.1)] = -np.inf
    data[(special > 0.1) & (special < 0.14)] = 0
    return data


@pytest.mark.parametrize("seed", range(16))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", "optimised" if seed % 4 == 0 else "quick")
    monkeypatch.setattr(rounding, "_QUIET", 1 << 51 | 1)
    monkeypatch.setitem(rounding.NAN, "double", rounding.NAN["double"] | 2)
    if seed % 3 == 2:  # two warps at a time
        monkeypatch.setattr(warp_fusion, "fused_shape", lambda _, shape: replace(shape, width=64))
        monkeypatch.setattr(warp_fusion, "pays", lambda *_: True)
    text, data = "// marked" + _program(random.Random(seed)), _data(seed)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        out = np.zeros_like(data)
        run_ptx(text, 1, THREADS, (data, out), engine=engine)
        results.append(out.view(np.uint64))
    different = np.argwhere(results[0] != results[1])
    assert not len(different), (
        different[:5],
        results[0][tuple(different[0])],
        results[1][tuple(different[0])],
    )


def test_a_long_chain_is_made_exact_in_parts() -> None:
    steps = "\n".join(f"  fma.rn.f64 %f0, %f0, %f{1 + k % 3}, %f{4 + k % 5};" for k in range(200))
    text = HEAD + "\n".join(f"  ld.global.f64 %f{k}, [%rd1+{8 * k}];" for k in range(REGISTERS))
    text += f"\n{steps}\n  st.global.f64 [%rd2], %f0;\n  ret;\n}}\n"
    data = _data(99)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        out = np.zeros_like(data)
        run_ptx(text, 1, THREADS, (data, out), engine=engine)
        results.append(out.view(np.uint64))
    assert (results[0] == results[1]).all()
    assert len(np.unique(results[0][np.isnan(results[0].view(np.float64))])) > 3  # payloads have passed
