"""mma and what brings matrices to registers, against matrices in Python and the answers of an H200."""

from __future__ import annotations

import itertools
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.errors import LaunchError, UnsupportedError

from .matrix_inputs import MODES, pack, patterns
from .matrix_kernels import Form, run_forms
from .matrix_oracle import (
    WIDTHS,
    Dot,
    by_bytes,
    chain,
    doubles,
    elements,
    matrix,
    place,
    tensor_core,
)

Shape = tuple[int, int, int]


def extents(shape: str) -> Shape:
    m, n, k = map(int, re.findall(r"\d+", shape))
    return m, n, k


def registers(shape: Shape, width: int, sums: int) -> tuple[int, int, int, int]:
    m, n, k = shape
    d = m * n * sums // (32 * max(32, sums))
    a, b = (rows * k * width // (32 * max(32, width)) for rows in (m, n))
    return d, a, b, d


def check(
    found: np.ndarray,
    dot: Dot,
    shape: Shape,
    width: int,
    sums: int,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
) -> None:
    """Compare every element of every warp's product."""
    wrong: list[str] = []
    whole = zip(
        *(elements(words, bits) for words, bits in ((a, width), (b, width), (c, sums), (found, sums))),
        strict=True,
    )
    for warp, parts in enumerate(whole):
        left, right, own, have = (
            matrix(part, operand, shape, bits)
            for part, operand, bits in zip(parts, "abcc", (width, width, sums, sums), strict=True)
        )
        columns = list(zip(*right, strict=True))
        for i, j in itertools.product(range(shape[0]), range(shape[1])):
            want = dot(left[i], columns[j], own[i][j])
            if want != have[i][j]:
                wrong.append(f"warp {warp}, row {i}, column {j}: {have[i][j]:#x}, should be {want:#x}")
    assert not wrong, f"{len(wrong)} elements: " + "; ".join(wrong[:5])


def float_fragments(
    name: str, types: Sequence[str], counts: Sequence[int], modes: Sequence[str]
) -> list[np.ndarray]:
    """A, B and C, a warp for each mode."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    found: list[np.ndarray] = []
    for position, (type_, count) in enumerate(zip(types, counts, strict=True)):
        per = max(1, 32 // WIDTHS[type_])
        warps = [
            pack(patterns(rng, type_, count * 32 * per, mode, sums=position == 2), type_, 1) for mode in modes
        ]
        found.append(np.concatenate(warps))
    return found


# ---------------------------------------------------------------------------------------- floating point
_TENSOR = [
    *itertools.product(("m16n8k8", "m16n8k16"), ("f16",), ("f16", "f32")),
    *itertools.product(("m16n8k8", "m16n8k16"), ("bf16",), ("f32",)),
    *itertools.product(("m16n8k4", "m16n8k8"), ("tf32",), ("f32",)),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("shape", "type_", "sums"), _TENSOR)
def test_tensor_cores(shape: str, type_: str, sums: str, engine: str):
    size, widths = extents(shape), (WIDTHS[type_], WIDTHS[sums])
    form = Form(f"mma.sync.aligned.{shape}.row.col.{sums}.{type_}.{type_}.{sums}", registers(size, *widths))
    fragments = float_fragments(form.opcode, (type_, type_, sums), form.registers[1:], MODES)
    (found,) = run_forms([form], *fragments, engine=engine)
    check(found, tensor_core(type_, sums), size, *widths, *fragments)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sums", ["f16", "f32"])
@pytest.mark.parametrize("shape", ["m16n8k16", "m16n8k32"])
def test_bytes(shape: str, sums: str, engine: str):
    size, counts = extents(shape), registers(extents(shape), 8, WIDTHS[sums])
    for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
        form = Form(f"mma.sync.aligned.{shape}.row.col.{sums}.{a}.{b}.{sums}", counts)
        modes = ("wide", "near", "tiny", "special")
        fragments = float_fragments(form.opcode, (a, b, sums), counts[1:], modes)
        (found,) = run_forms([form], *fragments, engine=engine)
        check(found, by_bytes(a, b, sums), size, 8, WIDTHS[sums], *fragments)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"])
def test_double_precision(shape: str, engine: str):
    size, modes = extents(shape), ("near", "special", "integers")
    counts = registers(size, 64, 64)
    roundings = ("", ".rn", ".rz", ".rm", ".rp")
    forms = [Form(f"mma.sync.aligned.{shape}.row.col{r}.f64.f64.f64.f64", counts, True) for r in roundings]
    fragments = float_fragments(shape, ("f64",) * 3, counts[1:], modes)
    fragments[2][2] &= np.uint64(1 << 63)  # zeros of either sign
    for rounding, found in zip(roundings, run_forms(forms, *fragments, engine=engine), strict=True):
        dot = doubles(rounding.strip(".") or "rn")
        # Which NaN comes out of directed rounding is not asked.
        kept = slice(None) if rounding in ("", ".rn") else np.array([0, 2])
        check(found[kept], dot, size, 64, 64, *(words[kept] for words in fragments))


def octet_place(operand: str, by_row: bool, lane: int, i: int, singles: bool) -> tuple[int, int]:
    """Row and column within the lane's octet (PTX manual, "mma.m8n8k4 with .f16")."""
    low, quad = lane % 4, 4 * (lane // 16)
    if operand == "c" and singles:
        return (lane & 1) + (i & 2) + quad, (i & 4) + (lane & 2) + (i & 1)
    if operand == "c":
        return low + quad, i
    along, across = (low + quad, i) if (operand == "a") == by_row else (i + quad, low)
    return (along, across) if operand == "a" else (across, along)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("c_type", "d_type"), [("f16", "f16"), ("f16", "f32"), ("f32", "f32")])
def test_octets(c_type: str, d_type: str, engine: str):
    counts = (8 * WIDTHS[d_type] // 32, 2, 2, 8 * WIDTHS[c_type] // 32)
    layouts = list(itertools.product(("row", "col"), repeat=2))
    forms = [Form(f"mma.sync.aligned.m8n8k4.{a}.{b}.{d_type}.f16.f16.{c_type}", counts) for a, b in layouts]
    fragments = float_fragments(
        forms[0].opcode, ("f16", "f16", c_type), counts[1:], ("near", "wide", "special")
    )
    parts = [elements(words, bits) for words, bits in zip(fragments, (16, 16, WIDTHS[c_type]), strict=True)]
    dot = chain(c_type, d_type)
    for layout, found in zip(layouts, run_forms(forms, *fragments, engine=engine), strict=True):
        results = elements(found, WIDTHS[d_type])
        for warp, octet in itertools.product(range(len(found)), range(4)):
            lanes = [lane for lane in range(32) if lane % 16 // 4 == octet]
            a, b, c, d = ({} for _ in range(4))
            for kept, operand, source, by_row, type_ in (
                (a, "a", parts[0], layout[0] == "row", "f16"),
                (b, "b", parts[1], layout[1] == "row", "f16"),
                (c, "c", parts[2], True, c_type),
                (d, "c", results, True, d_type),
            ):
                for lane in lanes:
                    for i, element in enumerate(source[warp][lane]):
                        kept[octet_place(operand, by_row, lane, i, type_ == "f32")] = element
            for i, j in itertools.product(range(8), repeat=2):
                want = dot([a[i, k] for k in range(4)], [b[k, j] for k in range(4)], c[i, j])
                assert d[i, j] == want, (layout, warp, octet, i, j, hex(d[i, j]), hex(want))


# ---------------------------------------------------------------------------------------- integers
def integer_fragments(name: str, counts: Sequence[int]) -> list[np.ndarray]:
    """Any bits; half of C close to the ends of its range."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    a, b, c = (rng.integers(0, 1 << 32, (6, n, 32), dtype=np.uint32) for n in counts)
    ends = np.where(rng.random(c[:3].shape) < 0.5, 0x7FFFF000, 0x80000000 - 0x1000)
    c[:3] = ends + rng.integers(0, 20000, c[:3].shape)
    return [a, b, c]


def integer_matrix(words: np.ndarray, operand: str, shape: Shape, width: int, signed: bool) -> np.ndarray:
    rows = [matrix(parts, operand, shape, width) for parts in elements(words, width)]
    found = np.array(rows, np.int64)
    return np.where(found >> (width - 1) & 1, found - (1 << width), found) if signed else found


_WHOLE = [
    *itertools.product(("m8n8k16", "m16n8k16", "m16n8k32"), (8,)),
    *itertools.product(("m8n8k32", "m16n8k32", "m16n8k64"), (4,)),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("shape", "width"), _WHOLE)
def test_integers(shape: str, width: int, engine: str):
    size = extents(shape)
    counts = registers(size, width, 32)
    ways = list(itertools.product("us", "us", ("", ".satfinite")))
    forms = [
        Form(f"mma.sync.aligned.{shape}.row.col{end}.s32.{a}{width}.{b}{width}.s32", counts)
        for a, b, end in ways
    ]
    fragments = integer_fragments(shape, counts[1:])
    own = integer_matrix(fragments[2], "c", size, 32, signed=True)
    for (a, b, end), found in zip(ways, run_forms(forms, *fragments, engine=engine), strict=True):
        left = integer_matrix(fragments[0], "a", size, width, a == "s")
        exact = left @ integer_matrix(fragments[1], "b", size, width, b == "s") + own
        want = np.clip(exact, -(1 << 31), (1 << 31) - 1) if end else exact.astype(np.int32)
        assert np.array_equal(integer_matrix(found, "c", size, 32, signed=True), want), (a, b, end)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_single_bits(shape: str, engine: str):
    size = extents(shape)
    counts = registers(size, 1, 32)
    ways = ("and", "xor")
    forms = [Form(f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{way}.popc", counts) for way in ways]
    forms += [Form(f"mma.{way}.popc.sync.aligned.{shape}.row.col.s32.b1.b1.s32", counts) for way in ways]
    fragments = integer_fragments(shape, counts[1:])
    a, b, c = (
        integer_matrix(words, operand, size, bits, signed=bits == 32)
        for words, operand, bits in zip(fragments, "abc", (1, 1, 32), strict=True)
    )
    both = a @ b
    either = (a.sum(2)[:, :, None] + b.sum(1)[:, None, :]) - 2 * both
    found = run_forms(forms, *fragments, engine=engine)
    for have, want in zip(found, (both, either) * 2, strict=True):
        assert np.array_equal(integer_matrix(have, "c", size, 32, signed=True), (want + c).astype(np.int32))


# ---------------------------------------------------------------------------------------- answers of an H200
_ANSWERS = Path(__file__).parents[1] / "cases" / "matrix" / "h200.npz"


def stored() -> dict[str, dict[str, np.ndarray]]:
    """Operands and results by form."""
    with np.load(_ANSWERS) as file:
        found: dict[str, dict[str, np.ndarray]] = {}
        for number, opcode in enumerate(json.loads(str(file["forms"]))):
            found[opcode] = {name: file[f"{number}{name}"] for name in "abcd"}
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", list(stored()))
def test_stored_answers(opcode: str, engine: str):
    case = stored()[opcode]
    counts = tuple(case[name].shape[1] for name in "dabc")
    form = Form(opcode, counts, case["a"].dtype == np.uint64)
    (found,) = run_forms([form], case["a"], case["b"], case["c"], engine=engine)
    assert np.array_equal(found, case["d"]), np.argwhere(found != case["d"])[:5]


# ---------------------------------------------------------------------------------------- 8 by 8 halves
def run_shared(body: str, arrays: list[Any], engine: str) -> None:
    """A warp with 2 KiB of shared memory `s`, which the kernel fills from x; %rd9 is its own place in out."""
    lines = """
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [rows]; ld.param.u64 %rd9, [out];
mov.u32 %r90, %tid.x; mul.wide.u32 %rd3, %r90, 4; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r91, [%rd2];
mul.wide.u32 %rd3, %r90, 16; add.u64 %rd9, %rd9, %rd3; mov.u32 %r92, s;
mul.wide.u32 %rd4, %r90, 64; add.u64 %rd4, %rd1, %rd4; mad.lo.u32 %r93, %r90, 64, %r92;
"""
    for k in range(0, 64, 16):
        quad = "{%r80, %r81, %r82, %r83}"
        lines += f"ld.global.v4.b32 {quad}, [%rd4+{k}]; st.shared.v4.b32 [%r93+{k}], {quad};\n"
    lines += "bar.sync 0; add.u32 %r94, %r92, %r91; cvt.u64.u32 %rd5, %r94; cvta.shared.u64 %rd6, %rd5;\n"
    text = kernel(lines + body + "\nret;", "u64 x, u64 rows, u64 out", shared=".align 16 .b8 s[2048]")
    run_ptx(text, 1, 32, arrays, engine=engine)


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "address", [".shared.b16 {}, [%r94]", ".shared::cta.b16 {}, [%r94]", ".b16 {}, [%rd6]"]
)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count: int, trans: str, address: str, engine: str):
    rng = np.random.default_rng(count)
    x, out = rng.integers(0, 1 << 16, 1024, dtype=np.uint16), np.zeros((32, 4), np.uint32)
    rows = rng.permutation(128).astype(np.uint32)[:32] * 16
    rows[8 * count :] = 5  # nobody asks for these
    listed = ", ".join(f"%r{k}" for k in range(count))
    body = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}" + address.format("{" + listed + "}") + ";\n"
    body += "\n".join(f"st.global.b32 [%rd9+{4 * k}], %r{k};" for k in range(count))
    run_shared(body, [x, rows, out], engine)
    for k in range(count):
        block = np.stack([x[row // 2 : row // 2 + 8] for row in rows[8 * k : 8 * k + 8]])
        block = block.T if trans else block
        have = np.ascontiguousarray(out[:, k]).view(np.uint16)
        assert np.array_equal(have, block.ravel()), k


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(count: int, trans: str, engine: str):
    rng = np.random.default_rng(count)
    x, out = np.zeros(1024, np.uint16), np.zeros(1024, np.uint16)
    rows = rng.permutation(128).astype(np.uint32)[:32] * 16
    rows[8 * count :] = 5
    values = rng.integers(0, 1 << 16, (count, 8, 8), dtype=np.uint16)
    x[: 64 * count] = values.ravel()
    body = "\n".join(f"ld.shared.b32 %r{k}, [%r95+{128 * k}];" for k in range(count))
    listed = ", ".join(f"%r{k}" for k in range(count))
    body = f"mad.lo.u32 %r95, %r90, 4, %r92;\n{body}\nbar.sync 0;\n"
    body += f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r94], {{{listed}}};\nbar.sync 0;\n"
    body += "ld.param.u64 %rd9, [out]; mul.wide.u32 %rd7, %r90, 64; add.u64 %rd9, %rd9, %rd7;\n"
    for k in range(0, 64, 16):
        body += f"ld.shared.v4.b32 {{%r70, %r71, %r72, %r73}}, [%r93+{k}];"
        body += f"st.global.v4.b32 [%rd9+{k}], {{%r70, %r71, %r72, %r73}};\n"
    run_shared(body, [x, rows, out], engine)
    want = x.copy()
    for k in range(count):
        for r in range(8):
            row = rows[8 * k + r] // 2
            want[row : row + 8] = values[k].T[r] if trans else values[k][r]
    assert np.array_equal(out, want)


@pytest.mark.parametrize("engine", ENGINES)
def test_movmatrix(engine: str):
    x, out = np.arange(1024, dtype=np.uint16), np.zeros((32, 4), np.uint32)
    body = "mad.lo.u32 %r95, %r90, 4, %r92; ld.shared.b32 %r1, [%r95];\n"
    body += "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.b32 [%rd9], %r2;"
    run_shared(body, [x, np.zeros(32, np.uint32), out], engine)
    have = np.ascontiguousarray(out[:, 0]).view(np.uint16)
    assert np.array_equal(have, x[:64].reshape(8, 8).T.ravel())


@pytest.mark.parametrize("engine", ["reference", "kinds"])
def test_ldmatrix_of_a_misaligned_row(engine: str):
    rows = np.arange(32, dtype=np.uint32) * 16
    rows[3] += 8
    body = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r94]; st.global.b32 [%rd9], %r0;"
    with pytest.raises(LaunchError, match="no multiple of 16"):
        run_shared(body, [np.zeros(1024, np.uint16), rows, np.zeros(128, np.uint32)], engine)


# ---------------------------------------------------------------------------------------- what is not there
@pytest.mark.parametrize(
    ("instruction", "name"),
    [
        (
            "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {L4}, {L4}, {L4}, {L4}, %r9, 0x0",
            "mma.sp.sync",
        ),
        ("wgmma.fence.sync.aligned", "wgmma.fence"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {L4}, %rd1, %rd2, 1, 1, 1, 0, 0",
            "wgmma.mma_async",
        ),
        ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1]", "tcgen05.commit"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {L4}, {L4}, {L4}, {L4}",
            "mma.sync.aligned.m16n8k8",
        ),
    ],
)
def test_other_matrix_instructions_are_refused_by_name(instruction: str, name: str):
    text = kernel(instruction.replace("{L4}", "{%r0, %r1, %r2, %r3}") + ";\nret;")
    with pytest.raises(UnsupportedError, match=re.escape(name)):
        run_ptx(text, 1, 32, [], engine="kinds")


def test_places_cover_each_matrix_once():
    for shape, width in itertools.product(("m16n8k16", "m8n8k16", "m16n8k32"), (8, 16)):
        size = extents(shape)
        for operand, total in (("a", size[0] * size[2]), ("b", size[2] * size[1]), ("c", size[0] * size[1])):
            held = {place(operand, size, width, lane, i) for lane in range(32) for i in range(total // 32)}
            assert len(held) == total
