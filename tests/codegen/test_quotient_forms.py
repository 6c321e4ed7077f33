"""Threads' numbers divided by constants: rows, columns, words of bit masks. Their accesses keep a form."""

from __future__ import annotations

import random

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.program import find_quotients

BLOCK, GRID = 64, 37
THREADS = BLOCK * GRID
GUARDED, CERTAIN, NONE = "guarded", "certain", "none"
# Of launches that repeat their integers; w is 96 there, v 1000, u 24 and p 256.
FORMS = {
    "i >> 5": CERTAIN,
    "i / 32u": CERTAIN,
    "i / 2": CERTAIN,
    "i / w": CERTAIN,
    "i % w": CERTAIN,
    "i % w * 40 + i / w": CERTAIN,
    "(unsigned)i / (unsigned)w % 5": CERTAIN,
    "i / p": CERTAIN,
    "(i + 1) % p": GUARDED,
    "(i + 3) & 255": GUARDED,
    "i / v": GUARDED,
    "i % v": GUARDED,
    "(i + 7) % v + i / v": GUARDED,
    "i / 1000": GUARDED,
    "i / 96": CERTAIN,
    "i % 1000": GUARDED,
    "(int)((long long)(i + 5) / v)": GUARDED,
    "(int)((long long)(i + 5) % v)": GUARDED,
    "i - i / w * w": CERTAIN,
    "i / u": NONE,
    "i % u": NONE,
    "i / 100": NONE,
}
_SIZES = {"w": 96, "v": 1000, "u": 24, "p": 256}
_PARAMETERS = ", ".join(f"int {name}" for name in _SIZES)


def _kernel(index: str) -> wg.Kernel:
    return wg.compile(
        f"""extern "C" __global__ void k(const int* x, int* y, {_PARAMETERS}) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          int at = {index};
          y[i] = x[at] + at;
        }}""",
        "k",
    )


@pytest.mark.parametrize(("index", "form"), FORMS.items())
def test_forms(index: str, form: str) -> None:
    prepared = prepare(_kernel(index).compile())
    known = {16 + 4 * k: size for k, size in enumerate(_SIZES.values())}
    shape = BlockShape((BLOCK, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, Promises((GRID, 1, 1), known, exact=True))
    steps = [step for block in version.program.blocks for step in block.steps]
    (address,) = [
        step.address_register
        for step in steps
        if step.match.load_or_store is not None and not step.match.load_or_store.writes
    ]
    assert address is not None
    kind = version.inference.kinds[address]
    found = NONE if kind.offsets is None else CERTAIN if kind.ok is None else GUARDED
    assert found == form


def _expression(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(("i", "i", "t", str(chance.randrange(64))))
    a = _expression(chance, depth - 1)
    number = chance.choice((1, 2, 3, 8, 32, 64, 96, 100, 255, 256, 1000, 1024))
    divisor = chance.choice((*_SIZES, f"{number}", f"{number}"))
    match chance.randrange(8):
        case 0 | 1:
            return f"({a}) / {divisor}"
        case 2 | 3:
            return f"({a}) % {divisor}"
        case 4:
            return f"(({a}) >> {chance.randrange(8)})"
        case 5:
            return f"(({a}) & {number - 1})"
        case 6:
            return f"(({a}) * {chance.randrange(1, 9)} + {_expression(chance, depth - 1)})"
        case _:
            return f"(({a}) {chance.choice('+-')} {chance.randrange(100)})"


@pytest.mark.parametrize("seed", range(12))
def test_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random expressions, of any sign, by launches that repeat their integers."""
    monkeypatch.setenv("WARPGLASS_TIER", "optimised")
    chance = random.Random(seed)
    parts = [_expression(chance, chance.randrange(1, 4)) for _ in range(4)]
    signs = chance.choice(("int", "unsigned", "long long"))
    stored = [f"{{ {signs} at = {part}; y[{k}] = at + x[at & 4095]; }}" for k, part in enumerate(parts)]
    kernel = wg.compile(
        f"""extern "C" __global__ void k(const int* x, int* y, {_PARAMETERS}) {{
          {signs} i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
          y += 4 * (blockIdx.x * blockDim.x + threadIdx.x);
          {" ".join(stored)}
        }}""",
        "k",
    )
    x = np.random.default_rng(seed).integers(0, 1 << 30, 4096).astype(np.int32)
    sizes = [np.int32(size) for size in _SIZES.values()]
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        y = np.zeros(4 * THREADS, np.int32)
        with engine_mode(engine):
            for _ in range(3):  # the third one is known to repeat
                y[:] = 0
                wg.run(kernel, GRID, BLOCK, (x, y, *sizes), device="cpu")
        results.append(y)
    assert np.array_equal(results[0], results[1]), parts


@pytest.mark.parametrize("signs", ["int", "unsigned", "long long", "unsigned long long"])
def test_divisions_that_compilers_write_as_multiplications(signs: str) -> None:
    """Numerators of all lengths and signs, by constants; what is told from the multiplication is exact."""
    chance = random.Random(signs)
    type_ = {"int": np.int32, "unsigned": np.uint32, "long long": np.int64}.get(signs, np.uint64)
    bits = 8 * np.dtype(type_).itemsize
    large = {chance.randrange(40, 1 << chance.randrange(6, bits - 1)) for _ in range(40)}
    divisors = sorted({*range(2, 40), *large})
    numbers = [number + chance.randrange(-2, 3) for number in (1 << k for k in range(bits)) for _ in range(4)]
    numbers += [divisor * chance.randrange(1, 50) + chance.randrange(-1, 2) for divisor in divisors * 4]
    numbers += [] if signs.startswith("u") else [-number for number in numbers]
    limits, suffix = np.iinfo(type_), {"int": "", "unsigned": "u", "long long": "ll"}.get(signs, "ull")
    a = np.array([min(max(number, limits.min), limits.max) for number in numbers], type_)
    stored = [
        f"y[{2 * k} * n + i] = a / {d}u; y[{2 * k + 1} * n + i] = a % {d}u;".replace("u", suffix)
        for k, d in enumerate(divisors)
    ]
    kernel = wg.compile(
        f"""extern "C" __global__ void k(const {signs}* x, {signs}* y, int n) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          {signs} a = x[i];
          {" ".join(stored)}
        }}""",
        "k",
    )
    y = np.zeros((len(divisors), 2, len(a)), type_)
    wg.run(kernel, -(-len(a) // 64), 64, (a, y, np.int32(len(a))), device="cpu")
    program = prepare(kernel.compile()).program
    told = [
        step
        for block in find_quotients(program).blocks
        for step in block.steps
        if step.instruction.opcode == "div"
    ]
    assert len(told) > len(divisors) // 2
    for k, divisor in enumerate(divisors):
        found = zip(a.tolist(), y[k, 0].tolist(), y[k, 1].tolist(), strict=True)
        for number, quotient, rest in found:
            expected = abs(number) // divisor * (1 if number > 0 else -1)
            assert (quotient, rest) == (expected, number - expected * divisor), (number, divisor)


def test_what_is_left_by_a_divisor_that_may_be_zero() -> None:
    source = """extern "C" __global__ void k(const int* x, const int* by, int* y) {
      int i = threadIdx.x, quotient = x[i] / by[i];
      y[i] = x[i] - quotient * by[i];
    }"""
    kernel = wg.compile(source, "k")
    opcodes = {
        step.instruction.opcode
        for block in find_quotients(prepare(kernel.compile()).program).blocks
        for step in block.steps
    }
    assert "rem" in opcodes
    x = np.array([7, -7, 0, -(1 << 31), (1 << 31) - 1, 5, -(1 << 31), 1] * 8, np.int32)
    by = np.array([0, 0, 0, -1, -1, -3, 1 << 30, 0] * 8, np.int32)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        y = np.zeros_like(x)
        with engine_mode(engine):
            wg.run(kernel, 1, 64, (x, by, y), device="cpu")
        results.append(y)
    assert np.array_equal(results[0], results[1])
