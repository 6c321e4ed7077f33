"""Approximate functions of single precision, bit for bit: the engine, the model and a GPU agree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel

from .answer_forms import all_forms, operands
from .answers import load
from .multifunction_unit import QUOTIENTS, UNIT, Floats, square

_BLOCK = 256
_EDGES = (
    *(0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x7F800000, 0x7F800001, 0x7FC00000),
    *(0x7F7FFFFF, 0x7E800000, 0x7E800001, 0x7E7FFFFF, 0x7F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001),
    *(0x40000000, 0x40800000, 0x40FFFFFF, 0x41000000, 0x42FC0000, 0x42FC0001, 0x42FFFFFF, 0x43000000),
    *(0x43000001, 0x437FFFFF, 0x43800000, 0x3B7FFFFF, 0x3B800000, 0x40490FDB, 0x3FC90FDB, 0x4B000000),
)


def _arguments(seed: int, count: int) -> Floats:
    """Edges, both signs, then any bits, then numbers of ordinary size and whole ones."""
    rng = np.random.default_rng(seed)
    edges = np.array([edge | sign for edge in _EDGES for sign in (0, 1 << 31)], np.uint32)
    drawn = rng.integers(0, 1 << 32, (count - len(edges)) // 2, np.uint32).view(np.float32)
    rest = count - len(edges) - len(drawn)
    usual = rng.normal(0, 1, rest).astype(np.float32) * 2.0 ** rng.integers(-10, 12, rest).astype(np.float32)
    usual[::16] = np.rint(usual[::16])
    return np.concatenate([edges.view(np.float32), drawn, usual.astype(np.float32)])


def _text(opcodes: list[str], sources: int) -> str:
    """Every instruction on an element of each source; results lie one array behind the other."""
    lines = [
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;",
        "mad.lo.u32 %r5, %r2, %r3, %r1; mul.wide.u32 %rd1, %r5, 4; mul.lo.u32 %r6, %r3, %r4;",
        "mul.wide.u32 %rd2, %r6, 4; ld.param.u64 %rd3, [out]; add.u64 %rd3, %rd3, %rd1;",
    ]
    for k in range(sources):
        lines.append(f"ld.param.u64 %rd4, [s{k}]; add.u64 %rd4, %rd4, %rd1; ld.global.f32 %f{k}, [%rd4];")
    listed = ", ".join(f"%f{k}" for k in range(sources))
    lines += [
        f"{op}.f32 %f9, {listed}; st.global.f32 [%rd3], %f9; add.u64 %rd3, %rd3, %rd2;" for op in opcodes
    ]
    parameters = ", ".join([*(f"u64 s{k}" for k in range(sources)), "u64 out"])
    return kernel("\n".join([*lines, "ret;"]), parameters)


def _run(opcodes: list[str], sources: list[Floats], engine: str, block: int = _BLOCK) -> dict[str, Floats]:
    count = len(sources[0])
    out = np.zeros((len(opcodes), count), np.float32)
    run_ptx(_text(opcodes, len(sources)), count // block, block, [*sources, out], engine=engine)
    return dict(zip(opcodes, out, strict=True))


def _assert_same(opcode: str, sources: list[Floats], have: Floats, want: Floats) -> None:
    wrong = np.flatnonzero(have.view(np.uint32) != want.view(np.uint32))
    shown = [
        f"{opcode} of {', '.join(f'{one.view(np.uint32)[k]:#010x}' for one in sources)} is "
        f"{have.view(np.uint32)[k]:#010x}, should be {want.view(np.uint32)[k]:#010x}"
        for k in wrong[:4]
    ]
    assert not shown, "\n".join([f"{len(wrong)} of {len(have)} are wrong", *shown])


@pytest.mark.parametrize("engine", [*ENGINES, pytest.param("gpu", marks=pytest.mark.gpu)])
def test_functions_have_the_bits_of_the_unit(engine: str):
    x = _arguments(1, 1 << 22 if engine == "gpu" else 1 << 15)
    for opcode, have in _run(list(UNIT), [x], engine).items():
        with np.errstate(all="ignore"):
            _assert_same(opcode, [x], have, _with_one_nan(UNIT[opcode](x)))


def test_every_distance_has_the_sum_of_the_unit():
    """All that meets the squarer, and no argument for which the engine leaves the usual way."""
    row = int(np.random.default_rng(5).integers(127 << 6, 129 << 6))
    x = (np.arange(1 << 17, dtype=np.uint32) + np.uint32(row << 17)).view(np.float32)
    for opcode, have in _run(list(UNIT), [x], "kinds").items():
        with np.errstate(all="ignore"):
            _assert_same(opcode, [x], have, _with_one_nan(UNIT[opcode](x)))


def test_uniform_arguments_have_the_same_results():
    x = _arguments(2, 1 << 9)
    for opcode, have in _run(list(UNIT), [x], "kinds", block=1).items():
        with np.errstate(all="ignore"):
            _assert_same(opcode, [x], have, _with_one_nan(UNIT[opcode](x)))


@pytest.mark.parametrize("engine", [*ENGINES, pytest.param("gpu", marks=pytest.mark.gpu)])
def test_quotients_are_products_with_a_reciprocal(engine: str):
    x, y = (np.random.default_rng(seed).permutation(_arguments(seed, 1 << 14)) for seed in (3, 4))
    for opcode, have in _run(list(QUOTIENTS), [x, y], engine).items():
        with np.errstate(all="ignore"):
            _assert_same(opcode, [x, y], have, _with_one_nan(QUOTIENTS[opcode](x, y)))


def _with_one_nan(x: Floats) -> Floats:
    return np.where(np.isnan(x), np.array(0x7FFFFFFF, np.uint32).view(np.float32), x)


@cache
def _answers() -> dict[str, list[tuple[int, int]]]:
    """Arguments and results of the functions, as a GPU gave them, by opcode."""
    stored, found = load()[1], {}
    for form in all_forms():
        opcode = form.opcode.removesuffix(".f32")
        if opcode in UNIT and opcode != form.opcode:
            answer = stored[form.text]
            given = operands(form.sources, form.lanes, in_warp=False)[0]
            found.setdefault(opcode, []).extend(zip(given, answer.lanes[0], strict=True))
    return found


@pytest.mark.parametrize("opcode", UNIT)
def test_model_agrees_with_the_answers_of_a_gpu(opcode: str):
    given, want = (np.array(one, np.uint32).view(np.float32) for one in zip(*_answers()[opcode], strict=True))
    with np.errstate(all="ignore"):
        _assert_same(opcode, [given], _with_one_nan(UNIT[opcode](given)), want)


@pytest.mark.parametrize("bits", [16, 17])
def test_square_is_near_the_exact_one(bits: int):
    distance = np.arange(1 << bits)
    error = square(distance, bits) * 2.0**-15 - (distance / 2.0**bits) ** 2
    assert -0.002 < error.min() <= error.max() <= 0
