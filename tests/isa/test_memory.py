"""Loads and stores of every type, width of register, vector and space, against byte copies made by NumPy.

Each thread takes elements from an input, puts them into a space, takes them back into registers of the
widest fitting class, and stores those registers whole, so extension shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelFault, UnsupportedError
from warpglass.isa.types import MEMORY

from .oracles import width, wrap

BLOCK, GRID = 40, 3
THREADS = BLOCK * GRID
_SPACES = ("global", "shared", "local", "generic", "generic-shared")
_VECTORS = (1, 2, 4)

# How a thread's element is found among THREADS: the PTX that leaves its index in %r6.
_PATTERNS = {
    "own": ("mov.u32 %r6, %r4;", lambda i: i),
    "reversed": (f"sub.u32 %r6, {THREADS - 1}, %r4;", lambda i: THREADS - 1 - i),
    "strided": (f"mul.lo.u32 %r6, %r4, 7; rem.u32 %r6, %r6, {THREADS};", lambda i: i * 7 % THREADS),
    "block's": ("mov.u32 %r6, %r2;", lambda i: i // BLOCK),
    "pairs": ("and.b32 %r6, %r4, 0xFFFFFFFE;", lambda i: i & ~1),
    "gather": (
        f"mul.lo.u32 %r6, %r4, %r4; add.u32 %r6, %r6, 5; rem.u32 %r6, %r6, {THREADS};",
        lambda i: (i * i + 5) % THREADS,
    ),
}


def _registers(type_: str, first: int, count: int) -> list[str]:
    if type_ in ("f32", "f64"):
        return [f"%{'f' if type_ == 'f32' else 'fd'}{first + k}" for k in range(count)]
    # The widest register that PTX allows; `b` types are not extended beyond it by sign.
    return [f"%rd{first + k}" for k in range(count)]


def _operand(registers: list[str]) -> str:
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


def _store_out(lines: list[str], type_: str, registers: list[str], region: int) -> None:
    for k, register in enumerate(registers):
        kind = type_ if type_[0] == "f" else "b64"
        lines.append(f"st.global.{kind} [%rd3+{(region + k) * THREADS * 8}], {register};")


def _prelude() -> list[str]:
    return [
        ".local .align 16 .b8 own[64];",
        "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd9, [room];",
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;",
        "mad.wide.u32 %rd3, %r4, 8, %rd2;",
    ]


def _address(space: str, size: int) -> tuple[str, str]:
    """PTX for the thread's place in a space, in %rd5 (or %r7), and the word for it in an opcode."""
    if space == "shared":
        return f"mov.u32 %r7, buffer; mad.lo.u32 %r7, %r1, {size}, %r7;", ".shared"
    if space == "generic-shared":
        return (
            f"mov.u64 %rd5, buffer; cvta.shared.u64 %rd5, %rd5; mul.wide.u32 %rd6, %r1, {size};"
            "add.u64 %rd5, %rd5, %rd6;",
            "",
        )
    if space == "local":
        return "mov.u64 %rd5, own; add.u64 %rd5, %rd5, 16;", ".local"
    return (
        f"mul.wide.u32 %rd5, %r4, {size}; add.u64 %rd5, %rd9, %rd5;",
        ".global" if space == "global" else "",
    )


@pytest.mark.sampled(quick=12, ci=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", _SPACES)
@pytest.mark.parametrize("type_", MEMORY.split())
def test_copies_through_a_space(type_: str, space: str, engine: str):
    lines, regions = _prelude(), []
    for count in _VECTORS:
        size = width(type_) // 8 * count
        if size > 16:
            continue
        vec = f".v{count}" if count > 1 else ""
        for volatile in ("", ".volatile") if count == 1 and space != "local" else ("",):
            place, word = _address(space, size)
            base = "%r7" if space == "shared" else "%rd5"
            first, second = _registers(type_, 20, count), _registers(type_, 30, count)
            lines += [
                f"mad.wide.u32 %rd4, %r4, {size}, %rd1;",
                f"ld.global{vec}.{type_} {_operand(first)}, [%rd4];",
                place,
                f"st{volatile}{word}{vec}.{type_} [{base}], {_operand(first)};",
                f"ld{volatile}{word}{vec}.{type_} {_operand(second)}, [{base}];",
            ]
            _store_out(lines, type_, second, len(regions))
            regions += [(count, k, "own") for k in range(count)]
    _check(type_, lines, regions, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["u8", "s16", "b32", "f32", "u64", "f64"])
def test_loads_in_patterns(type_: str, engine: str):
    lines, regions = _prelude(), []
    for count in _VECTORS:
        size = width(type_) // 8 * count
        if size > 16:
            continue
        vec = f".v{count}" if count > 1 else ""
        forms = ("ld.global", "ldu.global", *(("ld.global.nc", "ld") if count == 1 else ()))
        for name, (index, _) in _PATTERNS.items():
            for form in forms:
                registers = _registers(type_, 20, count)
                lines += [
                    f"{index} mad.wide.u32 %rd4, %r6, {size}, %rd1;",
                    f"{form}{vec}.{type_} {_operand(registers)}, [%rd4];",
                ]
                _store_out(lines, type_, registers, len(regions))
                regions += [(count, k, name) for k in range(count)]
    _check(type_, lines, regions, engine)


def _check(type_: str, lines: list[str], regions: list[tuple[int, int, str]], engine: str) -> None:
    text = kernel(
        "\n".join([*lines, "ret;"]),
        "u64 in, u64 out, u64 room",
        shared=".align 16 .b8 buffer[1024]",
    )
    source = np.random.default_rng(width(type_)).integers(0, 256, THREADS * 32).astype(np.uint8)
    output = np.zeros(len(regions) * THREADS, np.uint64)
    run_ptx(text, GRID, BLOCK, [source, output, np.zeros(THREADS * 4, np.uint64)], engine=engine)
    elements = source.view(f"u{width(type_) // 8}")
    for region, (count, k, pattern) in enumerate(regions):
        index = _PATTERNS[pattern][1]
        have = output[region * THREADS : (region + 1) * THREADS].tolist()
        for thread in range(THREADS):
            want = wrap(type_, int(elements[index(thread) * count + k])) & ((1 << 64) - 1)
            assert have[thread] == want, f"{type_} v{count} element {k}, {pattern}, thread {thread}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", MEMORY.split())
def test_guarded_accesses_touch_only_their_lanes(type_: str, engine: str):
    """Lanes whose guard fails keep their registers, and their addresses may be anything."""
    size = width(type_) // 8
    register = _registers(type_, 20, 1)[0]
    kind = type_ if type_[0] == "f" else "b64"
    preset = "0d3FF0000000000000" if type_ == "f64" else "0f3F800000" if type_ == "f32" else "77"
    lines = [
        *_prelude(),
        "and.b32 %r8, %r4, 3; setp.eq.u32 %p1, %r8, 1;",
        f"mad.wide.u32 %rd4, %r4, {size}, %rd1; mad.wide.u32 %rd6, %r4, {size}, %rd9;",
        "@!%p1 mov.u64 %rd4, 12345; @!%p1 mov.u64 %rd6, 54321;",
        f"mov.{kind} {register}, {preset};",
        f"@%p1 ld.global.{type_} {register}, [%rd4];",
        f"@%p1 st.global.{type_} [%rd6], {register};",
    ]
    _store_out(lines, type_, [register], 0)
    text = kernel("\n".join([*lines, "ret;"]), "u64 in, u64 out, u64 room")
    source = np.random.default_rng(3).integers(0, 256, THREADS * 8).astype(np.uint8)
    output, room = np.zeros(THREADS, np.uint64), np.zeros(THREADS * 8, np.uint8)
    run_ptx(text, GRID, BLOCK, [source, output, room], engine=engine)
    elements, written = source.view(f"u{size}"), room.view(f"u{size}")
    fallback = {"f64": 0x3FF0000000000000, "f32": 0x3F800000}.get(type_, 77)
    for thread in range(THREADS):
        loaded = int(elements[thread])
        active = thread % 4 == 1
        assert int(output[thread]) == (wrap(type_, loaded) & ((1 << 64) - 1) if active else fallback)
        assert int(written[thread]) == (loaded if active else 0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["u8", "b16", "u32", "f32", "b64", "f64"])
def test_the_highest_lane_wins_a_shared_address(type_: str, engine: str):
    """PTX leaves open which lane wins; the engine promises the last of the warp."""
    if engine == "gpu":
        pytest.skip("PTX leaves open which lane wins")
    size = width(type_) // 8
    register = _registers(type_, 20, 1)[0]
    lines = [*_prelude(), f"mad.wide.u32 %rd4, %r4, {size}, %rd1; ld.global.{type_} {register}, [%rd4];"]
    for k, index in enumerate(("shr.u32 %r6, %r1, 2;", "mov.u32 %r6, 0;", "and.b32 %r6, %r1, 7;")):
        lines += [
            f"{index} mad.lo.u32 %r6, %r2, 64, %r6; mad.wide.u32 %rd6, %r6, {size}, %rd2;",
            f"st.global.{type_} [%rd6+{k * THREADS * 16}], {register};",
        ]
    text = kernel("\n".join([*lines, "ret;"]), "u64 in, u64 out, u64 room")
    source = np.random.default_rng(4).integers(0, 256, THREADS * 8).astype(np.uint8)
    output = np.zeros(3 * THREADS * 16, np.uint8)
    run_ptx(text, GRID, BLOCK, [source, output, np.zeros(8, np.uint8)], engine=engine)
    elements = source.view(f"u{size}")
    for k, index in enumerate((lambda t: t >> 2, lambda t: 0, lambda t: t & 7)):
        want = {
            block * 64 + index(t): elements[block * BLOCK + t] for block in range(GRID) for t in range(BLOCK)
        }
        stored = output[k * THREADS * 16 :].view(f"u{size}")
        assert all(stored[place] == value for place, value in want.items())


# ---------------------------------------------------------------------------------------- wide elements
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", _SPACES)
def test_128_bits_through_a_space(space: str, engine: str):
    place, word = _address(space, 16)
    base = "%r7" if space == "shared" else "%rd5"
    order = "" if space == "local" else ".relaxed.gpu"
    lines = [
        *_prelude(),
        "mad.wide.u32 %rd4, %r4, 16, %rd1; ld.global.b128 %rq1, [%rd4];",
        "mov.b128 {%rd20, %rd21}, %rq1; not.b64 %rd20, %rd20; mov.b128 %rq1, {%rd21, %rd20};",
        f"{place} st{order}{word}.b128 [{base}], %rq1; ld{order}{word}.b128 %rq2, [{base}];",
        "mad.wide.u32 %rd3, %r4, 16, %rd2; st.global.b128 [%rd3], %rq2; ret;",
    ]
    source = np.random.default_rng(5).integers(0, 1 << 63, (THREADS, 2)).astype(np.uint64)
    output = np.zeros_like(source)
    text = kernel("\n".join(lines), "u64 in, u64 out, u64 room", shared=".align 16 .b8 buffer[1024]")
    run_ptx(text, GRID, BLOCK, [source, output, np.zeros(THREADS * 2, np.uint64)], engine=engine)
    assert (output[:, 0] == source[:, 1]).all()
    assert (output[:, 1] == ~source[:, 0]).all()


# The GPU that these are tested on otherwise has none: they need an sm_100.
@pytest.mark.sampled(quick=8)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("hint", ["", ".L2::evict_first", ".L2::evict_last.L2::cache_hint"])
@pytest.mark.parametrize("head", [".global", ""])
@pytest.mark.parametrize(("count", "type_"), [(8, "b32"), (8, "f32"), (4, "b64"), (4, "f64")])
def test_256_bits(count: int, type_: str, head: str, hint: str, engine: str):
    registers = _operand([_wide_register(type_, 20 + k) for k in range(count)])
    policy = ", %rd60" if "cache_hint" in hint else ""
    forms = f"{head}{hint}.v{count}.{type_}"
    lines = [
        *_prelude(),
        "createpolicy.fractional.L2::evict_first.b64 %rd60, 0.5;",
        "sub.u32 %r5, %r3, %r1; sub.u32 %r5, %r5, 1; mad.lo.u32 %r5, %r2, %r3, %r5;",
        "mad.wide.u32 %rd4, %r5, 32, %rd1; mad.wide.u32 %rd3, %r4, 32, %rd2;",
        f"ld{forms} {registers}, [%rd4]{policy}; st{forms} [%rd3], {registers}{policy}; ret;",
    ]
    source = np.random.default_rng(6).integers(0, 1 << 63, (GRID, BLOCK, 4)).astype(np.uint64)
    output = np.zeros_like(source)
    text = kernel("\n".join(lines), "u64 in, u64 out, u64 room")
    run_ptx(text, GRID, BLOCK, [source, output, np.zeros(1)], engine=engine)
    assert (output == source[:, ::-1]).all()
    with pytest.raises(KernelFault, match="no multiple of 32"):
        run_ptx(text, GRID, BLOCK, [source.reshape(-1)[1:], output, np.zeros(1)], engine=engine)
    with pytest.raises(KernelFault, match="32-byte read") as caught:
        run_ptx(
            text, 1, BLOCK, [source.reshape(-1)[: 4 * BLOCK - 4].copy(), output, np.zeros(1)], engine=engine
        )
    assert caught.value.place.thread == (0, 0, 0)


def _wide_register(type_: str, number: int) -> str:
    return f"%{ {'b32': 'r', 'b64': 'rd', 'f32': 'f', 'f64': 'fd'}[type_] }{number}"


# ---------------------------------------------------------------------------------------- hints
_L1 = ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
_HINTED_LOADS = [
    *(f"ld.global.{cache}" for cache in ("ca", "cg", "cs", "lu", "cv")),
    *(f"ld.global.L1::{priority}" for priority in _L1),
    *(f"ld.global.L2::{size}B" for size in (64, 128, 256)),
    "ld.L1::evict_last.L2::128B",
    "ld.weak.global.L1::evict_first",
    "ld.volatile.global.L2::64B",
    "ld.relaxed.gpu.global.L1::no_allocate.L2::128B",
    "ld.acquire.sys.global.L2::cache_hint",
    "ld.mmio.relaxed.sys.global",
    "ld.global.nc.L1::no_allocate.L2::256B",
    "ld.global.nc.L1::evict_last.L2::cache_hint",
    "ld.global.cg.nc.L2::cache_hint.L2::128B",
    "ld.global.L1::evict_first.L2::cache_hint.L2::64B",
]
_HINTED_STORES = [
    *(f"st.global.{cache}" for cache in ("wb", "cg", "cs", "wt")),
    *(f"st.global.L1::{priority}" for priority in _L1),
    "st.L1::no_allocate",
    "st.relaxed.gpu.global.L1::evict_last",
    "st.release.sys.global.L2::cache_hint",
    "st.mmio.relaxed.sys.global",
    "st.global.cs.L2::cache_hint",
    "st.weak.global.L1::evict_first.L2::cache_hint",
]
_POLICIES = [
    "createpolicy.fractional.L2::evict_last.b64 %rd60;",
    "createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %rd60, 0.25;",
    "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd60, [%rd1], 64, 1024;",
    "createpolicy.range.L2::evict_unchanged.b64 %rd60, [%rd1], %r3, %r3;",
    "createpolicy.cvt.L2.b64 %rd60, 0x14F0000000000000;",
]
# Of addresses that nobody may access, too: prefetching is no access.
_HINTS = [
    *(f"prefetch{space}.{level}" for space in (".global", "") for level in ("L1", "L2")),
    "prefetch.local.L1",
    "prefetch.global.L2::evict_last",
    "prefetch.global.L2::evict_normal",
    "prefetchu.L1",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_hints_change_nothing(engine: str):
    lines = [*_prelude(), "mad.wide.u32 %rd4, %r4, 4, %rd1; mad.wide.u32 %rd3, %r4, 4, %rd2;"]
    lines += [f"{policy}" for policy in _POLICIES]
    lines += [f"{hint} [%rd4];" for hint in _HINTS]
    lines += ["and.b64 %rd8, %rd2, -128; applypriority.global.L2::evict_normal [%rd8], 128;"]
    for k, load in enumerate(_HINTED_LOADS):
        policy = ", %rd60" if "cache_hint" in load else ""
        lines.append(f"{load}.u32 %r20, [%rd4]{policy};")
        store = _HINTED_STORES[k % len(_HINTED_STORES)]
        policy = ", %rd60" if "cache_hint" in store else ""
        lines.append(f"{store}.u32 [%rd3+{4 * k * THREADS}], %r20{policy};")
    source = np.random.default_rng(7).integers(0, 1 << 31, THREADS).astype(np.uint32)
    output = np.zeros((len(_HINTED_LOADS), THREADS), np.uint32)
    text = kernel("\n".join([*lines, "ret;"]), "u64 in, u64 out, u64 room")
    run_ptx(text, GRID, BLOCK, [source, output, np.zeros(1)], engine=engine)
    assert (output == source).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("hint", [hint for hint in _HINTS if "local" not in hint])
def test_prefetching_what_is_not_there_is_no_fault(hint: str, engine: str):
    """The manual says nothing of it; ptxas leaves out what has a known address or no effect behind it."""
    body = (
        f"ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; {hint} [%rd2]; st.global.u64 [%rd1], %rd2; ret;"
    )
    out = np.zeros(1, np.uint64)
    try:
        run_ptx(kernel(body, "u64 out, u64 a"), 1, 1, [out, np.uint64(12345)], engine=engine)
    except KernelFault as fault:
        if engine == "gpu":
            lab.reset("gpu")
        pytest.fail(f"{hint} of an address that is nowhere: {fault}")
    assert out[0] == 12345


@pytest.mark.parametrize("engine", ENGINES)
def test_discarded_memory_can_be_written_again(engine: str):
    body = (
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 128, %rd1;"
        "discard.global.L2 [%rd1], 128; discard.L2 [%rd1], 128; st.global.u32 [%rd1], %r1;"
        "applypriority.L2::evict_normal [%rd1], 128; ret;"
    )
    x = np.zeros((32, 32), np.uint32)
    run_ptx(kernel(body, "u64 x"), 1, 32, [x], engine=engine)
    assert x[:, 0].tolist() == list(range(32))


# ---------------------------------------------------------------------------------------- addresses
@pytest.mark.parametrize("engine", ENGINES)
def test_isspacep_knows_where_generic_addresses_lead(engine: str):
    """Columns: an address of shared, local and global memory; rows: the spaces asked for."""
    spaces = ("shared", "shared::cta", "local", "global")
    lines = [
        *_prelude(),
        "mov.u64 %rd10, buffer; cvta.shared.u64 %rd10, %rd10;",
        "mov.u64 %rd11, own; cvta.local.u64 %rd11, %rd11;",
        "mul.wide.u32 %rd12, %r1, 4; add.u64 %rd10, %rd10, %rd12;",
    ]
    for row, space in enumerate(spaces):
        for column, register in enumerate(("%rd10", "%rd11", "%rd1")):
            place = (row * 3 + column) * THREADS * 4
            lines.append(f"isspacep.{space} %p1, {register}; selp.u32 %r20, 1, 0, %p1;")
            lines.append(f"mad.wide.u32 %rd13, %r4, 4, %rd2; st.global.u32 [%rd13+{place}], %r20;")
    lines += [
        "cvta.to.shared::cta.u64 %rd14, %rd10; cvt.u32.u64 %r21, %rd14; st.shared.u32 [%r21], %r1; ret;"
    ]
    output = np.zeros((4, 3, THREADS), np.uint32)
    text = kernel("\n".join(lines), "u64 in, u64 out, u64 room", shared=".align 16 .b8 buffer[1024]")
    run_ptx(text, GRID, BLOCK, [np.zeros(4), output, np.zeros(1)], engine=engine)
    want = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (output == np.array(want)[:, :, None]).all()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(
    "line",
    [
        "ld.global.v2.u32 {%r20, %r21, %r22}, [%rd1];",
        "ld.global.u32 {%r20, %r21}, [%rd1];",
        "ld.global.v8.u16 {%rs1,%rs2,%rs3,%rs4,%rs5,%rs6,%rs7,%rs8}, [%rd1];",
        "ld.shared.v8.u32 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%r1];",
        "ld.global.v2.b128 {%rq1, %rq2}, [%rd1];",
        "ld.global.b32 %r20, [%rd1], %rd2;",
        "st.global.L2::cache_hint.b32 [%rd1], %r20;",
        "ld.relaxed.gpu.global.cg.b32 %r20, [%rd1];",
    ],
)
def test_forms_that_ptx_does_not_have(line: str, engine: str):
    with pytest.raises(UnsupportedError, match="known forms"):
        run_ptx(kernel(f"{line} ret;", "u64 x"), 1, 1, [np.zeros(4)], engine=engine)
