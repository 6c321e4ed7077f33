"""NaNs of double precision made exact late: random programs whose bits are the reference's.

Hosts pass NaNs much as the hardware does. Here every result that is looked at gets a mark that no host makes.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.generators.loops import THREADS, LoopPrograms, bits_of_both, vary
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.infer import infer_kinds
from warpglass.codegen.values.value import one_value
from warpglass.engine.cpu.prepared import prepare
from warpglass.isa import rounding
from warpglass.source.compiled import Compiled

REGISTERS = 10
_TWO = ("add.rn.f64", "sub.rn.f64", "mul.rn.f64", "div.rn.f64", "min.f64", "max.f64", "copysign.f64")
_ONE = ("neg.f64", "abs.f64", "sqrt.rn.f64", "mov.f64", "add.rn.f64", "mul.rn.f64")


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
    return f"%x{rng.randrange(REGISTERS)}"


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


PROGRAMS = LoopPrograms("f64", REGISTERS, ("f64",), _step)


@pytest.mark.parametrize("seed", range(16))
def test_bits_are_the_references(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vary(seed, monkeypatch)
    monkeypatch.setattr(rounding, "_QUIET", 1 << 51 | 1)
    monkeypatch.setitem(rounding.NAN, "double", rounding.NAN["double"] | 2)
    rng = random.Random(seed)
    leave = f"setp.leu.and.f64 %p3, {_register(rng)}, 0d4000000000000000, %p3;" if seed % 2 else ""
    text = "// marked" + PROGRAMS.text(rng, (14, rng.choice((3, 12, 30)), 8), leave)
    reference, kinds = bits_of_both(text, _data(seed))
    different = np.argwhere(reference != kinds)
    assert not len(different), (
        different[:5],
        reference[tuple(different[0])],
        kinds[tuple(different[0])],
    )


def test_a_long_chain_is_made_exact_in_parts() -> None:
    steps = "\n".join(f"  fma.rn.f64 %x0, %x0, %x{1 + k % 3}, %x{4 + k % 5};" for k in range(200))
    text = PROGRAMS.head + "\n".join(f"  ld.global.f64 %x{k}, [%rd1+{8 * k}];" for k in range(REGISTERS))
    text += f"\n{steps}\n  st.global.f64 [%rd2], %x0;\n  ret;\n}}\n"
    reference, kinds = bits_of_both(text, _data(99))
    assert (reference == kinds).all()
    assert len(np.unique(reference[np.isnan(reference.view(np.float64))])) > 3  # payloads have passed


BOTH_FORMS = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .f64 a)
{
.reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .f64 %fd<6>;
ld.param.u64 %rd1, [x]; ld.param.f64 %fd1, [a];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2;
ld.global.f64 %fd2, [%rd3];
add.rn.f64 %fd3, %fd2, %fd2;
add.rn.f64 %fd4, %fd1, %fd1;
add.rn.f64 %fd5, %fd3, %fd4;
st.global.f64 [%rd3], %fd5;
ret;
}
"""


def test_uniform_results_stay_scalars_behind_vectors() -> None:
    """What is asked of one vector's NaNs says nothing of another value's."""
    made = prepare(Compiled(BOTH_FORMS, "k", "k", "ptx"))
    kinds = infer_kinds(made.program, BlockShape((32, 1, 1)), Promises((1, 1, 1)), made.symbols).kinds
    assert kinds["%fd3"].offsets is None
    assert one_value(kinds["%fd4"].offsets)


def _squares(count: int, between: str = "") -> str:
    """IR of a chain of sums of squares, all of which are stored; `between` is done to each."""
    steps = " ".join(
        f"fma.rn.f64 %fd{k + 1}, %fd{k}, %fd{k}, %fd0; {between.format(k + 1)}" for k in range(count)
    )
    stores = " ".join(f"st.global.f64 [%rd3+{8 * k}], %fd{k + 1};" for k in range(count))
    address = (
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2;"
    )
    text = kernel(f"{address} ld.global.f64 %fd0, [%rd3]; {steps} {stores} ret;", "u64 x")
    made = prepare(Compiled(text, "k", "k", "ptx"))
    code = generate(made.program, BlockShape((64, 1, 1)), made.symbols, (), Promises((1, 1, 1)))
    return code.text(quick=True)


def test_code_is_in_proportion_to_the_chain() -> None:
    assert _squares(32).count("\n") < 3 * _squares(8).count("\n")


def test_a_negation_is_no_place_to_look_at() -> None:
    """Compilers write differences of products as a negation and a sum."""
    assert _squares(2, "neg.f64 %fd{0}, %fd{0};").count("\nrare") == _squares(2).count("\nrare")
