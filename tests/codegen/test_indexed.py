"""Accesses by 32-bit indices that lanes have loaded: which elements, which types, and where they fault."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.codegen.machine import target
from warpglass.codegen.memory import any_form, gather_scatter, picks, records, unchecked
from warpglass.errors import KernelFault

# Thread t moves x[place[t] + shift] to y[t], or x[t] to y[place[t] + shift].
TEXT = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [place];
    ld.param.u32 %r1, [lanes];
    mov.u32 %r8, {mark};
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra out;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd3, %rd3, %rd4;
    ld.global.u32 %r3, [%rd3];
    mul.wide.{sign}32 %rd5, %r3, {step};
    mul.wide.u32 %rd6, %r2, {size};
    {moves}
out:
    ret;
"""
GATHER = """
    add.u64 %rd1, %rd1, %rd5;
    add.u64 %rd2, %rd2, %rd6;
    ld.global.{type} {value}, [%rd1+{shift}];
    st.global.{type} [%rd2], {value};
"""
SCATTER = """
    add.u64 %rd1, %rd1, %rd6;
    add.u64 %rd2, %rd2, %rd5;
    ld.global.{type} {value}, [%rd1];
    st.global.{type} [%rd2+{shift}], {value};
"""
TYPES = {
    "u8": ("%rs1", np.uint8),
    "u16": ("%rs1", np.uint16),
    "u32": ("%r9", np.uint32),
    "f32": ("%f1", np.float32),
    "f64": ("%fd1", np.float64),
}
_MARK = {"mark": 0}  # a number in the text, as code is kept by that
SIGNATURE = "u64 x, u64 y, u64 place, u32 lanes"


@pytest.fixture(params=[True, False], ids=["gathers", "loads"], autouse=True)
def gathers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of code, where the processor has gathers."""
    quick = request.param and target.vector_bytes() == 64
    for module in (gather_scatter, any_form, picks, records, unchecked):
        monkeypatch.setattr(module, "gathers_quickly", lambda: quick)
    monkeypatch.setitem(_MARK, "mark", int(quick))


def _text(moves: str, type_: str, *, sign: str = "s", step: int = 0, shift: int = 0) -> str:
    value, dtype = TYPES[type_]
    size = np.dtype(dtype).itemsize
    moves = moves.format(type=type_, value=value, shift=shift * size)
    return kernel(TEXT.format(sign=sign, step=step or size, size=size, moves=moves, **_MARK), SIGNATURE)


def _unaligned(values: np.ndarray, by: int) -> np.ndarray:
    """The same values in memory of the host that starts so many elements behind an aligned place."""
    raw = np.zeros(values.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 64 + by * values.itemsize
    found = raw[start : start + values.nbytes].view(values.dtype)
    found[:] = values
    return found


def _places(kind: str, rng: np.random.Generator, lanes: int) -> np.ndarray:
    return {
        "apart": rng.permutation(500)[:lanes],
        "run": np.arange(lanes) + 7,
        "one": np.full(lanes, 41),
        "pairs": np.arange(lanes) // 2 * 2,
        "ends": np.where(np.arange(lanes) % 3, 0, 499),
    }[kind].astype(np.int32)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("kind", ["apart", "run", "one", "pairs", "ends"])
def test_elements(engine: str, type_: str, kind: str) -> None:
    rng, dtype = np.random.default_rng(5), TYPES[type_][1]
    x = rng.integers(1, 250, 500).astype(dtype)
    for lanes, by in ((64, 0), (64, 1), (45, 3)):
        place = _places(kind, rng, 64)
        y = np.zeros(64, dtype)
        args = (_unaligned(x, by), y, place, np.uint32(lanes))
        run_ptx(_text(GATHER, type_), 1, 64, args, engine=engine)
        expected = np.zeros_like(y)
        expected[:lanes] = x[place[:lanes]]
        np.testing.assert_array_equal(y, expected)
        y, expected = (np.zeros(500, dtype) for _ in range(2))
        run_ptx(_text(SCATTER, type_), 1, 64, (x, y, place, np.uint32(lanes)), engine=engine)
        for lane in range(lanes):
            expected[place[lane]] = x[lane]
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", ["v2.u8", "v4.u8", "v2.u16", "v4.u16", "v2.f32", "v4.f32", "v2.f64"])
@pytest.mark.parametrize("kind", ["apart", "run", "one", "pairs", "ends"])
def test_vectors(engine: str, type_: str, kind: str) -> None:
    """Of narrow elements they are words, and 16 bytes may be a load for each lane."""
    count, element = int(type_[1]), type_[3:]
    register, dtype = TYPES[element]
    values = ", ".join(f"{register[:-1]}{k + 1}" for k in range(count))
    rng, size = np.random.default_rng(7), count * np.dtype(dtype).itemsize
    x = rng.integers(1, 250, (500, count)).astype(dtype)
    for lanes in (64, 45, 2):
        place = _places(kind, rng, 64)
        for moves in (GATHER, SCATTER):
            moved = moves.format(type=type_, value=f"{{{values}}}", shift=0)
            text = TEXT.format(sign="s", step=size, size=size, mark=_MARK["mark"], moves=moved)
            y = np.zeros((500, count), dtype)
            run_ptx(kernel(text, SIGNATURE), 1, 64, (x, y, place, np.uint32(lanes)), engine=engine)
            expected = np.zeros_like(y)
            for lane in range(lanes):
                if moves is GATHER:
                    expected[lane] = x[place[lane]]
                else:
                    expected[place[lane]] = x[lane]
            np.testing.assert_array_equal(y, expected)
    args = (x[:400], np.zeros((400, count), dtype), np.full(64, 400, np.int32), np.uint32(3))
    with pytest.raises(KernelFault) as caught:
        run_ptx(kernel(text, SIGNATURE), 1, 64, args, engine=engine)
    assert caught.value.place.thread == (0, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("moves", [GATHER, SCATTER], ids=["load", "store"])
@pytest.mark.parametrize(
    ("type_", "first", "wrong"),
    [("u32", 0, 100), ("u32", 0, -1), ("u8", 0, 100), ("u8", 8, -9), ("f64", 3, 97), ("u16", -4, 104)],
)
def test_the_elements_at_the_ends_and_behind(
    engine: str, moves: str, type_: str, first: int, wrong: int
) -> None:
    """Index 0 is the element `first`."""
    dtype = TYPES[type_][1]
    x, y = np.arange(100).astype(dtype), np.zeros(100, dtype)
    place = np.tile(np.array([-first, 99 - first, 40 - first, 12 - first], np.int32), 8)
    text = _text(moves, type_, shift=first)
    run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    place[[9, 20]] = wrong
    place[20] = wrong
    run_ptx(text, 1, 32, (x, y, place, np.uint32(9)), engine=engine)
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (9, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("number", [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x40000000])
@pytest.mark.parametrize("sign", ["s", "u"])
@pytest.mark.parametrize("run", [False, True])
def test_indices_of_all_bits_fault(engine: str, number: int, sign: str, run: bool) -> None:
    """Even where numbers wrap around from one lane to the next."""
    x = np.zeros(64, np.uint32)
    place = np.zeros(32, np.uint32)
    place[:] = (number - 3 + np.arange(32)) % (1 << 32) if run else number
    text = _text(GATHER, "u32", sign=sign)
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x, x.copy(), place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (0, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_run_that_wraps_from_the_last_number_to_the_first(engine: str) -> None:
    """Lanes behind the wrap are 2^34 bytes below the others, wherever those are."""
    x = np.arange(64, dtype=np.uint32)
    text = _text(GATHER, "u32").replace(
        "ld.global.u32 %r9, [%rd1", "sub.u64 %rd1, %rd1, 8589934528;\n    ld.global.u32 %r9, [%rd1"
    )
    place = (0x7FFFFFFF - 15 + np.arange(32)).astype(np.uint32)
    y = np.zeros(32, np.uint32)
    run_ptx(text, 1, 32, (x, y, place, np.uint32(16)), engine=engine)
    np.testing.assert_array_equal(y[:16], x[:16])
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (16, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("step", [8, 12, 16, 32])
def test_elements_of_structures(engine: str, step: int) -> None:
    x, y = np.arange(400, dtype=np.uint32), np.zeros(32, np.uint32)
    place = np.random.default_rng(4).permutation(48)[:32].astype(np.int32)
    run_ptx(_text(GATHER, "u32", step=step, shift=1), 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    np.testing.assert_array_equal(y, x[place * (step // 4) + 1])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("shift", ["shl.b32 %r3, %r3, 2", "shr.u32 %r3, %r3, 6", "add.s32 %r3, %r3, 4"])
@pytest.mark.parametrize("extend", ["u64.u32", "s64.s32"])
@pytest.mark.parametrize("low", [0x3FC, 0x7FFFFFFC, 0xFFFFFFFC, -4])
def test_places_that_are_low_bits(engine: str, shift: str, extend: str, low: int) -> None:
    """A byte of a word as a place in a table: compilers extend the word, and mask that."""
    text = _text(GATHER, "u32").replace(
        "mul.wide.s32 %rd5, %r3, 4", f"{shift};\n    cvt.{extend} %rd5, %r3;\n    and.b64 %rd5, %rd5, {low}"
    )
    x, y = np.arange(256, dtype=np.uint32), np.zeros(32, np.uint32)
    place = np.random.default_rng(2).integers(0, 1 << 32, 32).astype(np.uint32)
    if low != 0x3FC:
        place &= np.uint32(0x3C)
    opcode, amount = shift.split(".")[0], int(shift[-1])
    moved = {"shl": place << amount, "shr": place >> amount, "add": place + np.uint32(amount)}[opcode]
    run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    np.testing.assert_array_equal(y, x[(moved & np.uint32(low % (1 << 32))) // 4])


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_misaligned_start(engine: str) -> None:
    x, y = np.arange(64, dtype=np.uint32), np.zeros(32, np.uint32)
    place = np.arange(32, dtype=np.int32)[::-1].copy()
    text = _text(GATHER, "u32").replace("[%rd1+0]", "[%rd1+2]")
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (0, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("step", "most"), [(256, 15), (256, 0x7FFFFFFF), (128, 15), (4, 15), (2, 30)])
def test_places_beside_the_thread_s_own(engine: str, step: int, most: int) -> None:
    """As in histograms that each thread has for itself: a loaded row and the thread's column."""
    text = kernel(
        f"""
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        ld.param.u64 %rd3, [place];
        mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd4, %r2, 4;
        add.u64 %rd3, %rd3, %rd4;
        add.u64 %rd1, %rd1, %rd4;
        add.u64 %rd2, %rd2, %rd4;
        ld.global.u32 %r3, [%rd3];
        and.b32 %r3, %r3, {most};
        mul.wide.u32 %rd5, %r3, {step};
        add.u64 %rd1, %rd1, %rd5;
        ld.global.u32 %r9, [%rd1+8];
        add.u32 %r9, %r9, 1;
        st.global.u32 [%rd1+8], %r9;
        st.global.u32 [%rd2], %r9;
        ret;
        """,
        "u64 x, u64 y, u64 place",
    )
    place = np.random.default_rng(6).integers(0, 16, 32).astype(np.uint32) & ~np.uint32(4 // step)
    places = place * step // 4 + np.arange(32) + 2
    x = np.arange(places.max() + 1, dtype=np.uint32) * 100
    expected, y = x.copy(), np.zeros(32, np.uint32)
    np.put(expected, places, x[places] + 1)
    run_ptx(text, 1, 32, (x, y, place), engine=engine)
    if len(set(places)) == 32:
        np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(y, expected[places])
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, 32, (x[:-1].copy(), y, place), engine=engine)
    assert caught.value.place.thread == (int(places.argmax()), 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(
    ("most", "other", "sign"),
    [(7, 31, "s"), (7, 0x7FFFFFFF, "s"), (0x0FFFFFFF, 31, "u"), (7, 0xFFFFFFFF, "u")],
)
def test_a_row_and_a_column_of_each_lane(engine: str, most: int, other: int, sign: str) -> None:
    """Elements at `row * 32 + column` that were both loaded, whether or not their sum surely has 32 bits."""
    text = kernel(
        f"""
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        ld.param.u64 %rd3, [place];
        mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd4, %r2, 4;
        add.u64 %rd3, %rd3, %rd4;
        add.u64 %rd2, %rd2, %rd4;
        ld.global.u32 %r3, [%rd3];
        ld.global.u32 %r4, [%rd3+256];
        and.b32 %r3, %r3, {most};
        and.b32 %r4, %r4, {other};
        mul.wide.{sign}32 %rd5, %r3, 128;
        mul.wide.{sign}32 %rd6, %r4, 4;
        add.u64 %rd7, %rd5, %rd6;
        add.u64 %rd1, %rd1, %rd7;
        ld.global.u32 %r9, [%rd1+8];
        st.global.u32 [%rd2], %r9;
        ret;
        """,
        "u64 x, u64 y, u64 place",
    )
    rng = np.random.default_rng(8)
    x, y = np.arange(300, dtype=np.uint32), np.zeros(64, np.uint32)
    row, column = rng.integers(0, 8, 64), rng.integers(0, 32, 64)
    place = np.concatenate([row, column]).astype(np.uint32)
    run_ptx(text, 1, 64, (x, y, place), engine=engine)
    np.testing.assert_array_equal(y, x[row * 32 + column + 2])
    place[64 + 11] = 1000
    if other > 1000:
        with pytest.raises(KernelFault) as caught:
            run_ptx(text, 1, 64, (x, y, place), engine=engine)
        assert caught.value.place.thread == (11, 0, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("threads", [32, 19])
@pytest.mark.parametrize("scatters", [False, True])
def test_lanes_that_lie_side_by_side_again(engine: str, threads: int, *, scatters: bool) -> None:
    """Many rounds in which they do or do not: where they often did not, nobody looks for a while."""
    base, own = ("%rd1", "%rd2") if not scatters else ("%rd2", "%rd1")
    text = kernel(
        f"""
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        ld.param.u64 %rd3, [place];
        mov.u32 %r2, %tid.x;
        setp.ge.u32 %p1, %r2, {threads};
        @%p1 bra out;
        mul.wide.u32 %rd4, %r2, 4;
        add.u64 %rd3, %rd3, %rd4;
        add.u64 %rd8, {own}, %rd4;
        mov.u32 %r5, 0;
    again:
        ld.global.u32 %r3, [%rd3];
        mul.wide.s32 %rd5, %r3, 4;
        add.u64 %rd9, {base}, %rd5;
        ld.global.u32 %r9, [{"%rd8" if scatters else "%rd9"}];
        st.global.u32 [{"%rd9" if scatters else "%rd8"}], %r9;
        add.u64 %rd3, %rd3, 128;
        add.u64 %rd8, %rd8, 128;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p2, %r5, 2700;
        @%p2 bra again;
    out:
        ret;
        """,
        "u64 x, u64 y, u64 place",
    )
    rng, parts = np.random.default_rng(9), (600, 200, 200, 100, 1300, 300)
    rounds = sum(parts)
    place = np.stack([rng.permutation(32) for _ in range(rounds)]) + 32 * np.arange(rounds)[:, None]
    runs = rng.random(rounds) < np.repeat([0.0, 1.0, 0.5, 0.9, 0.0, 1.0], parts)
    place[runs] = np.sort(place[runs], axis=1)
    x, y = rng.integers(0, 1 << 32, 32 * rounds).astype(np.uint32), np.zeros(32 * rounds, np.uint32)
    run_ptx(text, 1, 32, (x, y, place.astype(np.int32)), engine=engine)
    expected, acting = np.zeros_like(y), place[:, :threads]
    if scatters:
        expected[acting] = x.reshape(rounds, 32)[:, :threads]
    else:
        expected.reshape(rounds, 32)[:, :threads] = x[acting]
    np.testing.assert_array_equal(y, expected)
