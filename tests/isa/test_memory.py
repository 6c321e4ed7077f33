"""Loads and stores of every type, width of register, vector and space, against byte copies made by NumPy.

Each thread takes elements from an input, puts them into a space, takes them back into registers of the
widest fitting class, and stores those registers whole, so extension shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel
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
        for name, (index, _) in _PATTERNS.items():
            for form in ("ld.global", "ld.global.nc", "ld") if count == 1 else ("ld.global",):
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
