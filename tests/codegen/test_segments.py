"""Static patterns of a few rows far apart: loads and stores that take one access for each row."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.codegen.builder import Builder, vector
from warpglass.codegen.machine import jit
from warpglass.codegen.memory.segments import find_segments, find_singles
from warpglass.errors import KernelFault

# Lane x + width * y moves the element y * pitch + scale * x, but only lanes below a number.
TEXT = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [lanes];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mov.u32 %r6, %ntid.x;
    mad.lo.u32 %r4, %r3, %r6, %r2;
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra out;
    mul.lo.u32 %r5, %r2, {scale};
    mad.lo.u32 %r5, %r3, {pitch}, %r5;
    mul.wide.u32 %rd3, %r5, {size};
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.{type} {value}, [%rd1];
    st.global.{type} [%rd2], {value};
out:
    ret;
"""
TYPES = {
    "u8": ("%rs1", np.uint8),
    "u16": ("%rs1", np.uint16),
    "u32": ("%r9", np.uint32),
    "f64": ("%fd1", np.float64),
}


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    ("width", "scale", "pitch"),
    [
        (16, 1, 640), (4, 1, 640), (8, 3, 640), (1, 1, 640), (16, 1, 20), (8, 1, 10),
        (1, 1, 3), (1, 1, 8), (1, 1, 13), (4, 3, 50),
    ],
)  # fmt: skip
def test_rows_of_a_warp(engine: str, type_: str, width: int, scale: int, pitch: int) -> None:
    value, dtype = TYPES[type_]
    text = kernel(
        TEXT.format(type=type_, value=value, size=np.dtype(dtype).itemsize, scale=scale, pitch=pitch),
        "u64 x, u64 y, u32 lanes",
    )
    rows = 64 // width
    x = np.random.default_rng(3).integers(1, 200, rows * pitch + 32).astype(dtype)
    for lanes in (64, 45):
        y = np.zeros_like(x)
        run_ptx(text, 1, (width, rows), (x, y, np.uint32(lanes)), engine=engine)
        expected = np.zeros_like(x)
        places = [lane // width * pitch + lane % width * scale for lane in range(lanes)]
        expected[places] = x[places]
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_row_outside_is_found(engine: str) -> None:
    text = kernel(TEXT.format(type="u32", value="%r9", size=4, scale=1, pitch=640), "u64 x, u64 y, u32 lanes")
    x = np.zeros(640 + 16, np.uint32)
    run_ptx(text, 1, (16, 2), (x, x, np.uint32(32)), engine=engine)
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 1, (16, 2), (x[:-1].copy(), x, np.uint32(32)), engine=engine)
    assert caught.value.place.thread == (15, 1, 0)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("at", [-1, -2, -3, -4, -7, 1, 4])
@pytest.mark.parametrize("access", ["ld.global.u32 %r9, [%rd1]", "st.global.u32 [%rd1], %r4"])
def test_rows_that_begin_elsewhere_once_their_range_is_known(engine: str, at: int, access: str) -> None:
    """Block 1 accesses `at` bytes from where block 0 did, which reached the whole array."""
    text = kernel(
        f"""
        ld.param.u64 %rd1, [x];
        ld.param.u32 %r1, [at];
        mov.u32 %r2, %ctaid.x;
        mul.lo.u32 %r1, %r1, %r2;
        mul.wide.s32 %rd2, %r1, 1;
        mov.u32 %r3, %tid.x;
        mov.u32 %r4, %tid.y;
        mad.lo.u32 %r4, %r4, 640, %r3;
        mul.wide.u32 %rd3, %r4, 4;
        add.u64 %rd1, %rd1, %rd2;
        add.u64 %rd1, %rd1, %rd3;
        {access};
        ret;
        """,
        "u64 x, u32 at",
    )
    x = np.zeros(640 + 16, np.uint32)
    with pytest.raises(KernelFault) as caught:
        run_ptx(text, 2, (16, 2), (x, np.uint32(at & 0xFFFFFFFF)), engine=engine)
    place = caught.value.place
    assert place.kind == ("misaligned" if at > 0 and at % 4 else "out-of-bounds")
    assert (place.block, place.thread) == ((1, 0, 0), (15, 1, 0) if at == 4 else (0, 0, 0))


def test_what_clusters_are() -> None:
    assert find_segments([*range(16), *range(640, 656)]) is not None
    assert find_segments(range(0, 32 * 100, 100)) is None  # too many
    assert find_segments(range(64)) is None  # too wide


def test_rows_close_together_have_a_register_each_where_that_is_less() -> None:
    """Of two rows of a tile with a border, as of 20 elements for 16; not of one element in two."""
    rows = [*range(16), *range(20, 36)]
    assert [(one.start, one.width) for one in find_segments(rows, 16) or ()] == [(0, 16), (20, 16)]
    assert find_segments(rows) is None
    assert [one.width for one in find_segments(range(0, 32, 2), 16) or ()] == [32]
    eights = [8 * row + column for row in range(0, 6, 2) for column in range(6)]
    assert find_segments(eights, 16) == find_segments(eights)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("width", [32, 16, 8])
def test_rows_that_share_a_vector(engine: str, width: int) -> None:
    """All lanes of a row load the same two elements: each is one load for the row."""
    text = kernel(
        """
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        mov.u32 %r2, %tid.x;
        mov.u32 %r3, %tid.y;
        mov.u32 %r6, %ntid.x;
        mad.lo.u32 %r4, %r3, %r6, %r2;
        mul.wide.u32 %rd3, %r3, 64;
        mul.wide.u32 %rd4, %r4, 4;
        add.u64 %rd1, %rd1, %rd3;
        add.u64 %rd2, %rd2, %rd4;
        ld.global.v2.u32 {%r7, %r8}, [%rd1+8];
        mad.lo.u32 %r9, %r7, 1000, %r8;
        st.global.u32 [%rd2], %r9;
        ret;
        """,
        "u64 x, u64 y",
    )
    rows = 64 // width
    x, y = np.arange(1, rows * 16 + 1, dtype=np.uint32), np.zeros(64, np.uint32)
    run_ptx(text, 1, (width, rows), (x, y), engine=engine)
    pairs = x.reshape(rows, 16)[:, 2:4].astype(np.int64) @ [1000, 1]
    np.testing.assert_array_equal(y, np.repeat(pairs, width))


def test_few_single_elements_are_loaded_apart() -> None:
    assert [len(own) for own in find_singles([[0, 0, 16], [1, 1, 17]]) or ()] == [2, 2]
    assert find_singles([[0, 1, 16], [2, 3, 17]]) is None
    assert find_singles([[16 * k for k in range(5)], [16 * k + 1 for k in range(5)]]) is None


@pytest.mark.parametrize("run", [1, 2, 4, 8])
@pytest.mark.parametrize("step", [2, 4])
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_masks_that_are_spread_over_places(run: int, step: int, width: int, bits: int) -> None:
    """LLVM broke down on masks in four bits of eight that a shuffle with zeros had put there."""
    places = width * step
    owners = [k // (run * step) * run + k % run if k // run % step == 0 else None for k in range(places)]
    declarations: set[str] = set()
    b = Builder(declarations, width)
    value = b.load(vector(f"i{bits}", places), "%from", ", align 4")
    b.masked_store(f"i{bits}", places, value, "%to", b.owned("%mask", bits, owners))
    loads = "\n".join(
        f"%{name} = load {type_}, ptr %{name}.p"
        for name, type_ in (("from", "ptr"), ("to", "ptr"), ("mask", b.lanes))
    )
    pointers = "".join(
        f"%{name}.p = getelementptr ptr, ptr %words, i64 {k}\n"
        for k, name in enumerate(("from", "to", "mask"))
    )
    lines = "\n".join(b.lines)
    function = f"define i64 @run(ptr %words) #0 {{\n{pointers}{loads}\n{lines}\nret i64 0\n}}\n"
    code = jit.load_object(jit.compile_ir("\n".join([*sorted(declarations), function])))
    mask = 0xDEADBEEFCAFE1234 % (1 << width)
    integers = np.dtype(f"i{bits // 8}")
    given, found = np.arange(1, places + 1).astype(integers), np.zeros(places, integers)
    words = np.array([given.ctypes.data, found.ctypes.data, mask], np.uint64)
    code.run(words.ctypes.data)
    acts = [owner is not None and bool(mask >> owner & 1) for owner in owners]
    np.testing.assert_array_equal(found, np.where(acts, given, 0))
