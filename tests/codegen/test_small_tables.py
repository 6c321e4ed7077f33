"""Loads from tables that registers hold: which elements, of which types, and what lies outside."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.codegen.memory import small_tables
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault
from warpglass.source.compiled import Compiled

TYPES = {
    "u8": ("%rs1", np.uint8),
    "u16": ("%rs1", np.uint16),
    "u32": ("%r9", np.uint32),
    "f32": ("%f1", np.float32),
    "u64": ("%rd9", np.uint64),
    "f64": ("%fd1", np.float64),
}
# Thread t of those with an index loads the element of x with its own, of which only some low bits count.
TEXT = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [place];
    ld.param.u32 %r1, [threads];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra out;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd7, %rd3, %rd4;
    mul.wide.u32 %rd6, %r2, {size};
    add.u64 %rd8, %rd2, %rd6;
    ld.global.u32 %r3, [%rd7];
    and.b32 %r4, %r3, {most};
    add.s32 %r5, %r4, {least};
    mul.wide.s32 %rd5, %r5, {step};
    add.u64 %rd10, %rd1, %rd5;
    ld.global.{type} {value}, [%rd10+{shift}];
    st.global.{type} [%rd8], {value};
out:
    ret;
"""


def _text(type_: str, most: int, *, least: int = 0, apart: int = 1, shift: int = 0) -> str:
    value, dtype = TYPES[type_]
    size = np.dtype(dtype).itemsize
    numbers = {"size": size, "most": most, "least": least, "step": apart * size, "shift": shift * size}
    return kernel(TEXT.format(**numbers, type=type_, value=value), "u64 x, u64 y, u64 place, u32 threads")


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("most", [7, 31, 127, 255])
def test_elements(engine: str, type_: str, most: int) -> None:
    rng, dtype = np.random.default_rng(most), TYPES[type_][1]
    x = np.frombuffer(rng.bytes(8 * (most + 1)), dtype)[: most + 1].copy()
    for block, threads in ((8, 8), (16, 13), (64, 64), (256, 250)):
        place = rng.integers(0, 1 << 32, block).astype(np.uint32)
        place[0] = most
        y = np.zeros(block, dtype)
        run_ptx(_text(type_, most), 1, block, (x, y, place, np.uint32(threads)), engine=engine)
        expected = np.zeros_like(y)
        expected[:threads] = x[place[:threads] & np.uint32(most)]
        assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(
    ("type_", "least", "apart", "shift"),
    [("u8", 7, 1, -5), ("u16", 5, 2, 1), ("f32", 3, 4, -11), ("f32", -1, 1, 1), ("f64", 2, 2, 5)],
)
def test_indices_from_other_numbers_on(engine: str, type_: str, least: int, apart: int, shift: int) -> None:
    """Fields of structures, too, and fewer elements than fill a register, in front of what is not theirs."""
    dtype = TYPES[type_][1]
    first, last = least * apart + shift, (least + 15) * apart + shift
    x = np.arange(1, last + 2).astype(dtype)
    place = np.random.default_rng(1).integers(0, 16, 32).astype(np.uint32)
    place[:2] = 0, 15
    y = np.zeros(32, dtype)
    text = _text(type_, 15, least=least, apart=apart, shift=shift)
    run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    np.testing.assert_array_equal(y, x[first + place * apart])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", ["u8", "u32", "f64"])
def test_a_table_shorter_than_its_indices(engine: str, type_: str) -> None:
    """Lanes that stay within it get its elements; one that does not faults."""
    dtype = TYPES[type_][1]
    x, y = np.arange(1, 21).astype(dtype), np.zeros(32, dtype)
    place = np.arange(32, dtype=np.uint32)[::-1] % np.uint32(20)
    run_ptx(_text(type_, 31), 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    np.testing.assert_array_equal(y, x[place])
    place[[11, 17]] = 20
    with pytest.raises(KernelFault) as caught:
        run_ptx(_text(type_, 31), 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (11, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_misaligned_table(engine: str) -> None:
    x, y = np.arange(64, dtype=np.uint32), np.zeros(32, np.uint32)
    place = np.arange(32, dtype=np.uint32)[::-1].copy()
    text = _text("u32", 31).replace("[%rd10+0]", "[%rd10+2]")
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (0, 0, 0)


@pytest.mark.skipif(not small_tables.picks_bits(), reason="the processor cannot pick bytes")
@pytest.mark.parametrize(("most", "one", "two"), [(63, 1, 0), (127, 0, 1), (255, 0, 2), (511, 0, 0)])
def test_registers_hold_the_table(most: int, one: int, two: int) -> None:
    """Bytes are picked from one register of 64, or two at a time, unless they are too many."""
    made = prepare(Compiled(_text("u8", most), "k", "k", "ptx"))
    code = generate(made.program, BlockShape((32, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
    text = code.text(quick=False)
    found = [
        text.count(f"call <64 x i8> @llvm.x86.avx512.{name}.qi.512") for name in ("permvar", "vpermi2var")
    ]
    assert found == [one, two]


# Each thread fills a part of a table in shared memory, then looks up round after round by what it has found,
# counting from an element of the table on; behind the table there is another variable.
SHARED = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [place];
    mov.u32 %r2, %tid.x;
    cvt.u64.u32 %rd4, %r2;
    mul.wide.u32 %rd5, %r2, 4;
    mul.wide.u32 %rd6, %r2, {size};
    mov.u64 %rd11, table;
    add.u64 %rd7, %rd1, %rd6;
    ld.global.{type} {value}, [%rd7];
    add.u64 %rd8, %rd11, %rd6;
    st.shared.{type} [%rd8], {value};
    bar.sync 0;
    add.u64 %rd3, %rd3, %rd5;
    mov.u32 %r4, 0;
again:
    ld.global.{sign}32 %r3, [%rd3];
    mul.wide.{sign}32 %rd12, %r3, {size};
    add.u64 %rd13, %rd11, %rd12;
    ld.shared.{type} {value}, [%rd13+{shift}];
    add.u64 %rd14, %rd2, %rd6;
    st.global.{type} [%rd14], {value};
    add.u64 %rd2, %rd2, {row};
    add.u64 %rd3, %rd3, 256;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 3;
    @%p1 bra again;
    ret;
"""


def _in_shared(type_: str, *, sign: str = "s", first: int = 0, elements: int = 40, behind: int = 24) -> str:
    value, dtype = TYPES[type_]
    size = np.dtype(dtype).itemsize
    numbers = {"size": size, "shift": first * size, "row": 64 * size}
    text = SHARED.format(**numbers, type=type_, value=value, sign=sign)
    tables = f".align 8 .b8 table[{elements * size}], .align 8 .b8 more[{behind * size}]"
    return kernel(text, "u64 x, u64 y, u64 place", shared=tables)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    ("sign", "first", "low", "high"),
    [("s", 0, 0, 40), ("s", 5, -5, 35), ("u", 0, 0, 40), ("u", 3, 0, 37), ("s", 0, 0, 64)],
)
def test_a_table_in_shared_memory(
    engine: str, type_: str, sign: str, first: int, low: int, high: int
) -> None:
    """Of indices that were loaded nothing is known; some go on into what is behind the table."""
    dtype = TYPES[type_][1]
    x, y = np.arange(1, 65).astype(dtype), np.zeros((4, 64), dtype)
    place = np.random.default_rng(high).integers(low, high, (3, 64)).astype(np.int32)
    run_ptx(_in_shared(type_, sign=sign, first=first), 1, 64, (x, y, place), engine=engine)
    np.testing.assert_array_equal(y[:3], x[first + place])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("sign", "su")
@pytest.mark.parametrize("number", [-6, 64, 1 << 30, -(1 << 31)])
def test_who_leaves_shared_memory(engine: str, sign: str, number: int) -> None:
    x, y = np.arange(64, dtype=np.uint8), np.zeros((4, 64), np.uint8)
    place = np.random.default_rng(3).integers(0, 35, (3, 64)).astype(np.int32)
    place[1, 13] = number
    with pytest.raises(KernelFault) as caught:
        run_ptx(_in_shared("u8", sign=sign, first=5), 1, 64, (x, y, place), engine=engine)
    assert caught.value.place.thread == (13, 0, 0)


@pytest.mark.skipif(not small_tables.picks_bits(), reason="the processor cannot pick bytes")
def test_what_is_held_of_shared_memory() -> None:
    """Small variables that a loop does not change."""
    for text, held in (
        (_in_shared("u8"), True),
        (_in_shared("u8", sign="u"), True),
        (_in_shared("u8", elements=257), False),
        (_in_shared("u8").replace("st.global", "st.shared"), False),
        (_in_shared("u8").replace("@%p1 bra again", ""), False),
    ):
        made = prepare(Compiled(text.replace("    ;", ""), "k", "k", "ptx"))
        shape = BlockShape((64, 1, 1), made.program.shared.static)
        code = generate(made.program, shape, made.symbols, (), Promises((1, 1, 1)))
        assert ("call <64 x i8> @llvm.x86.avx512.permvar.qi.512" in code.text(quick=False)) == held, text
