"""Loads of neighbours at addresses of lanes' own: which are found, what they load, and where they fault."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.kernel import generate
from warpglass.codegen.machine import target
from warpglass.codegen.memory import any_form, gather_scatter, picks, records, unchecked
from warpglass.codegen.memory.neighbours import find_neighbours
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault
from warpglass.source.compiled import Compiled

# Thread t stores several elements of x, from place[t] on, to its row of y.
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
    {address}
    add.u64 %rd1, %rd1, %rd5;
    mul.wide.u32 %rd6, %r2, {row};
    add.u64 %rd2, %rd2, %rd6;
    {moves}
out:
    ret;
"""
SIGNATURE = "u64 x, u64 y, u64 place, u32 lanes"
TYPES = {
    "u8": ("%rs", np.uint8),
    "u16": ("%rs", np.uint16),
    "u32": ("%r1", np.uint32),
    "f32": ("%f", np.float32),
    "f64": ("%fd", np.float64),
}
# How the address is computed: by an index of 32 bits, or so that no more is known of it.
ADDRESSES = ("mul.wide.s32 %rd5, %r3, {size};", "cvt.s64.s32 %rd5, %r3;\n    mul.lo.u64 %rd5, %rd5, %rd7;")
# The mark is a number in the text, as code is kept by that.
_MARK = {"mark": 0}


@pytest.fixture(params=[True, False], ids=["gathers", "loads"], autouse=True)
def gathers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of code, where the processor has gathers."""
    quick = request.param and target.vector_bytes() == 64
    for module in (gather_scatter, any_form, picks, records, unchecked):
        monkeypatch.setattr(module, "gathers_quickly", lambda: quick)
    monkeypatch.setitem(_MARK, "mark", int(quick))


def _text(type_: str, offsets: tuple[int, ...], address: str = ADDRESSES[0], between: str = "") -> str:
    register, dtype = TYPES[type_]
    size = np.dtype(dtype).itemsize
    loads = [f"ld.global.{type_} {register}{k}, [%rd1+{one * size}];" for k, one in enumerate(offsets)]
    stores = [f"st.global.{type_} [%rd2+{k * size}], {register}{k};" for k in range(len(offsets))]
    moves = "\n    ".join([*between.join(f"{one}\n" for one in loads).split("\n"), *stores])
    head = f"mov.u64 %rd7, {size};\n    " if "%rd7" in address else ""
    body = TEXT.format(
        **_MARK, address=head + address.format(size=size), row=size * len(offsets), moves=moves
    )
    return kernel(body, SIGNATURE)


def _both(text: str, x: np.ndarray, place: np.ndarray, count: int) -> list[np.ndarray | str]:
    """What each engine stores, or the message of its fault."""
    results: list[np.ndarray | str] = []
    for engine in CPU_ENGINES:
        y = np.zeros((place.size, count), x.dtype)
        try:
            run_ptx(text, 1, place.size, (x, y, place, np.uint32(place.size)), engine=engine)
            results.append(y)
        except KernelFault as fault:
            results.append(str(fault))
    return results


def _found(text: str) -> list[dict[int, int]]:
    """The places in words that the steps of each group begin at."""
    prepared = prepare(Compiled(text, "k", "k", "ptx"))
    version = with_kinds(prepared.program, BlockShape((96, 1, 1)), prepared.symbols, Promises((1, 1, 1)))
    found = find_neighbours(version.program, version.inference.kinds)
    return [dict(one.places) for one in {id(one): one for one in found.values()}.values()]


@pytest.mark.parametrize(
    ("type_", "offsets", "words"),
    [
        ("f32", (0, 1), [[0, 4]]),
        ("f32", (1, 0), [[4, 0]]),
        ("u32", (5, -3, 4, -2), [[4, 0], [0, 4]]),
        ("u8", (2, 0, 1), [[2, 0, 1]]),
        ("u8", (0, 4), []),
        ("u16", (-1, 0, 1), [[0, 2]]),
    ],
)
def test_loads_of_one_word_are_found(type_: str, offsets: tuple[int, ...], words: list[list[int]]):
    found = [list(places.values()) for places in _found(_text(type_, offsets))]
    assert sorted(found) == sorted(words)


# How many loads are found together, by the bytes that are loaded: where gathers are quick, and elsewhere.
@pytest.mark.parametrize(
    ("type_", "offsets", "quick", "slow"),
    [
        ("f32", (0, 1, 2, 3, 4, 5, 6, 7), {32: 8}, {32: 8}),
        ("f32", (6, 0, 3), {32: 3}, {32: 3}),
        ("f32", (0, 1, 2), {8: 2}, {16: 3}),
        ("f32", (0, 2), {}, {16: 2}),
        ("f32", (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), {32: 8, 8: 2}, {32: 8, 8: 2}),
        ("f64", (2, 0, 1), {32: 3}, {32: 3}),
        ("f64", (0, 1), {}, {16: 2}),
        ("f64", (0, 4), {}, {}),
        ("u8", (0, 4, 8, 12), {}, {}),
    ],
)
def test_members_of_structures_are_found(
    type_: str, offsets: tuple[int, ...], quick: dict[int, int], slow: dict[int, int]
) -> None:
    prepared = prepare(Compiled(_text(type_, offsets), "k", "k", "ptx"))
    version = with_kinds(prepared.program, BlockShape((96, 1, 1)), prepared.symbols, Promises((1, 1, 1)))
    found = find_neighbours(version.program, version.inference.kinds).values()
    sizes = {one.bytes: len(one.places) for one in found}
    assert sizes == (quick if records.gathers_quickly() else slow)


def test_nothing_is_found_across_a_store():
    store = "st.global.f32 [%rd2], %f0;\n"
    assert not _found(_text("f32", (0, 1), between=store))


def test_a_store_between_is_seen():
    """Threads overwrite what their own second load and others' then reads."""
    store = "st.global.f32 [%rd1+4], %f0;\n"
    text, place = _text("f32", (0, 1), between=store), np.array([5, 9, 2, 5] * 8, np.int32)
    results: list[bytes] = []
    for engine in CPU_ENGINES:
        x, y = np.arange(16, dtype=np.float32), np.zeros((32, 2), np.float32)
        run_ptx(text, 1, 32, (x, y, place, np.uint32(32)), engine=engine)
        results.append(x.tobytes() + y.tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("address", ADDRESSES, ids=["index", "address"])
@pytest.mark.parametrize(
    "offsets",
    [(0, 1), (1, 0), (-1, 1, 0), (2, 0, 1, 3), (7, 0, 3), (4, 2, 0, 6, 1, 3, 5, 7), tuple(range(-1, 12))],
)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("lanes", [64, 41])
def test_neighbours_are_the_references(type_: str, offsets: tuple[int, ...], address: str, lanes: int):
    rng = np.random.default_rng(lanes)
    x = rng.integers(0, 1 << 30, 300).astype(TYPES[type_][1])
    text = _text(type_, offsets, address)
    inside = 300 - max(offsets)
    for place in (
        rng.integers(1, inside, lanes),
        np.arange(lanes) + 5,
        np.full(lanes, inside - 1),
        inside - 1 - np.arange(lanes),
        np.where(np.arange(lanes) % 7 == 3, inside - 1, 1),
    ):
        reference, kinds = _both(text, x, place.astype(np.int32), len(offsets))
        assert isinstance(reference, np.ndarray)
        assert isinstance(kinds, np.ndarray)
        assert reference.tobytes() == kinds.tobytes()


@pytest.mark.parametrize("offsets", [(0, 1), (1, 0), (3, 0, 6, 5)])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("wrong", [-1, 299, 294, 300, 1 << 20])
def test_faults_are_the_references(type_: str, offsets: tuple[int, ...], wrong: int):
    rng = np.random.default_rng(7)
    place = rng.integers(1, 250, 64).astype(np.int32)
    place[[37, 50]] = wrong
    x = np.arange(300).astype(TYPES[type_][1])
    reference, kinds = _both(_text(type_, offsets), x, place, len(offsets))
    if 0 <= wrong < 300 - max(offsets):
        assert np.array_equal(reference, kinds)
    else:
        assert isinstance(reference, str)
        assert reference == kinds


@pytest.mark.parametrize("type_", ["v2.f32", "v4.f32", "v2.f64"])
def test_vectors_side_by_side(type_: str) -> None:
    """Structures of several vectors, the last of which ends with the array."""
    count, element = int(type_[1]), type_[3:]
    register, dtype = TYPES[element]
    size = count * np.dtype(dtype).itemsize
    loads, stores = [], []
    for k in range(3):
        names = ", ".join(f"{register}{k * count + j}" for j in range(count))
        loads.append(f"ld.global.{type_} {{{names}}}, [%rd1+{k * size}];")
        stores.append(f"st.global.{type_} [%rd2+{k * size}], {{{names}}};")
    address = ADDRESSES[0].format(size=size)
    moves = "\n    ".join([*loads[::-1], *stores])
    text = kernel(TEXT.format(**_MARK, address=address, row=3 * size, moves=moves), SIGNATURE)
    x = np.random.default_rng(3).integers(0, 1 << 20, 100 * count).astype(dtype)
    for last in (97, 98):
        place = np.random.default_rng(4).integers(0, 98, 64).astype(np.int32)
        place[40] = last
        reference, kinds = _both(text, x, place, 3 * count)
        assert isinstance(reference, str) == (last == 98)
        assert np.array_equal(reference, kinds)


INTERPOLATION = """extern "C" __global__ void k(const float* t, const float* x, float* y) {
    float p = x[threadIdx.x]; int k = p; y[threadIdx.x] = t[k] + (p - k) * (t[k + 1] - t[k]); }"""
COMPLEX = """extern "C" __global__ void k(const float2* t, const float* x, float* y) {
    int k = x[threadIdx.x]; y[threadIdx.x] = t[k].x * t[k].y; }"""


@pytest.mark.parametrize("text", [INTERPOLATION, COMPLEX])
def test_pairs_are_one_gather(text: str, monkeypatch: pytest.MonkeyPatch):
    if target.vector_bytes() < 64:
        pytest.skip("the processor has no gathers that are named")
    for module in (gather_scatter, any_form, picks, records, unchecked):
        monkeypatch.setattr(module, "gathers_quickly", lambda: True)
    prepared = prepare(wg.compile(text, "k").compile())
    shape, promises = BlockShape((64, 1, 1)), Promises((1, 1, 1))
    code = generate(prepared.program, shape, prepared.symbols, (), promises).ir
    assert "mask.gather.dpq.512" in code
