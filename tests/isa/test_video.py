"""Video instructions against a model that follows the PTX manual's pseudocode, in Python's integers, but for
what ptxas makes otherwise of large numbers (isa/video.py).

Instructions are drawn at random with their selectors, saturation, second operations, masks and signs; every
lane has other operands, among them those at the edges of what parts hold. On a GPU the model is tried too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.levels import SEED
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.errors import UnsupportedError
from warpglass.program import build_program

_LANES, _INSTRUCTIONS = 64, 40
_EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 31, 32, 33)
_SIGNS, _PARTS = ("u32", "s32"), ("b0", "b1", "b2", "b3", "h0", "h1")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
_COMPUTE: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda x, y: x + y,
    "vsub": lambda x, y: x - y,
    "vabsdiff": lambda x, y: abs(x - y),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda x, y: (x + y + 1) >> 1 if x + y >= 0 else (x + y) >> 1,
}
SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad")
SIMD = tuple(
    "vadd2 vadd4 vsub2 vsub4 vabsdiff2 vabsdiff4 vmin2 vmin4 vmax2 vmax4 vavrg2 vavrg4 vset2 vset4".split()
)


@dataclass(frozen=True)
class Drawn:
    """One instruction, with places for the registers of its operands, and what it computes."""

    text: str
    model: Callable[[int, int, int], int]


def number(x: int, width: int, signed: bool) -> int:
    """The number that the lowest bits of a pattern are."""
    x &= (1 << width) - 1
    return x - (1 << width) if signed and x >> (width - 1) else x


def part(x: int, selector: str, signed: bool) -> int:
    """What a selector of a scalar instruction names."""
    width = {"b": 8, "h": 16}.get(selector[:1], 32)
    return number(x >> (int(selector[1:] or 0) * width), width, signed)


def saturated(x: int, width: int, signed: bool) -> int:
    """The nearest number of a range."""
    low = -(1 << (width - 1)) if signed else 0
    return min(max(x, low), low + (1 << width) - 1)


# ---------------------------------------------------------------------------------------- scalar
def draw_scalar(opcode: str, rng: random.Random) -> Drawn:
    """A scalar instruction of any form."""
    d, a, b = (rng.choice(_SIGNS) for _ in range(3))
    asel, bsel = (rng.choice(("", *_PARTS)) for _ in range(2))
    sat = opcode != "vset" and rng.random() < 0.5
    form = rng.choice(("plain", "combined", "merged"))
    op2 = rng.choice(("add", "min", "max")) if form == "combined" else ""
    dsel = rng.choice(_PARTS) if form == "merged" else ""
    word = rng.choice(tuple(_COMPARE) if opcode == "vset" else ("clamp", "wrap"))
    if opcode in ("vshl", "vshr"):
        b, types = "u32", f".{d}.{a}.u32{'.sat' if sat else ''}.{word}"
    elif opcode == "vset":
        d, types = a, f".{a}.{b}.{word}"
    else:
        types = f".{d}.{a}.{b}{'.sat' if sat else ''}"

    def compute(x: int, y: int) -> int:
        if opcode == "vset":
            return int(_COMPARE[word](x, y))
        if opcode in ("vshl", "vshr"):
            amount = min(y, 32) if word == "clamp" else y & 31
            return x >> amount if opcode == "vshr" else number(x << amount, 34 if sat else 64, True)
        return _COMPUTE[opcode](x, y)

    def model(x: int, y: int, z: int) -> int:
        result = compute(part(x, asel, a == "s32"), part(y, bsel, b == "s32"))
        width = {"b": 8, "h": 16}.get(dsel[:1], 32)
        if sat and not dsel and d == "u32" and opcode in _COMPUTE:
            result = max(result, 0)
        elif sat:
            result = saturated(result, width, d == "s32")
        if op2:
            narrow = opcode in ("vadd", "vsub") or (sat and opcode in ("vshl", "vshr"))
            mine = number(number(result, 32, True) if narrow else result, 64, d == "s32")
            third = number(z, 32, d == "s32")
            result = {"add": mine + third, "min": min(mine, third), "max": max(mine, third)}[op2]
        if dsel:
            low = int(dsel[1:]) * width
            ones = ((1 << width) - 1) << low
            result = (result << low) & ones | z & ~ones
        return result & 0xFFFFFFFF

    dots = [f".{one}" if one else "" for one in (dsel, asel, bsel)]
    tail = ", {c}" if form != "plain" else ""
    second = f".{op2}" if op2 else ""
    return Drawn(f"{opcode}{types}{second} {{d}}{dots[0]}, {{a}}{dots[1]}, {{b}}{dots[2]}{tail};", model)


def draw_vmad(opcode: str, rng: random.Random) -> Drawn:
    """A vmad with any signs that go together."""
    d, a, b = (rng.choice(_SIGNS) for _ in range(3))
    asel, bsel = (rng.choice(("", *_PARTS)) for _ in range(2))
    po, sat = rng.random() < 0.2, rng.random() < 0.5
    scale = rng.choice(("", ".shr7", ".shr15"))
    minus = ["", "", ""] if po else rng.choice([["", "", ""], ["-", "", ""], ["", "-", ""], ["", "", "-"]])
    product = bool(minus[0] or minus[1])
    signed = "s32" in (a, b) or product or bool(minus[2])

    def model(x: int, y: int, z: int) -> int:
        first, second = part(x, asel, a == "s32"), part(y, bsel, b == "s32")
        result = number(first, 32, True) * number(second, 32, True)
        third = number(z, 32, True)
        result = (-result if product else result) + (-third if minus[2] else third) + po
        if scale:
            result = number(result, 64, signed) >> int(scale[4:])
        return (saturated(result, 32, signed) if sat else result) & 0xFFFFFFFF

    dots = [f".{one}" if one else "" for one in (asel, bsel)]
    types = f".{d}.{a}.{b}{'.po' if po else ''}{'.sat' if sat else ''}{scale}"
    operands = f"{{d}}, {minus[0]}{{a}}{dots[0]}, {minus[1]}{{b}}{dots[1]}, {minus[2]}{{c}}"
    return Drawn(f"{opcode}{types} {operands};", model)


# ---------------------------------------------------------------------------------------- SIMD
def draw_simd(opcode: str, rng: random.Random) -> Drawn:
    """A SIMD instruction of any form."""
    name, count = opcode[:-1], int(opcode[-1])
    width, letter = 32 // count, "h" if count == 2 else "b"
    d, a, b = (rng.choice(_SIGNS) for _ in range(3))
    option = rng.choice(("", ".add", ".sat" if name != "vset" else ""))
    word = rng.choice(tuple(_COMPARE))
    types = f".{a}.{b}.{word}" if name == "vset" else f".{d}.{a}.{b}"
    chosen = [[rng.randrange(2 * count) for _ in range(count)] for _ in range(2)]
    if [4, 2, 0, 1] in chosen:  # ptxas takes .b1024 for a type
        chosen = [[0] * count, [1] * count]
    usual = [list(range(count)), list(range(count, 2 * count))]
    written = [rng.random() < 0.6 for _ in range(2)]
    picks = [one if told else other for one, other, told in zip(chosen, usual, written, strict=True)]
    named = sorted(rng.sample(range(count), rng.randint(1, count)), reverse=True)
    masked = rng.random() < 0.6
    mask = named if masked else list(range(count))

    def model(x: int, y: int, z: int) -> int:
        every = [source >> (width * k) for source in (x, y) for k in range(count)]
        result = z if option == ".add" else 0
        for k in range(count):
            first = number(every[picks[0][k]], width, a == "s32")
            second = number(every[picks[1][k]], width, b == "s32")
            one = int(_COMPARE[word](first, second)) if name == "vset" else _COMPUTE[name](first, second)
            if option == ".sat":
                one = saturated(one, width, d == "s32")
            if option == ".add":
                result += one if k in mask else 0
            else:
                one = one if k in mask else z >> (width * k)
                result |= (one & ((1 << width) - 1)) << (width * k)
        return result & 0xFFFFFFFF

    def text(digits: list[int], told: bool) -> str:
        return f".{letter}{''.join(map(str, digits))}" if told else ""

    sources = [text(one[::-1], told) for one, told in zip(chosen, written, strict=True)]
    operands = f"{{d}}{text(named, masked)}, {{a}}{sources[0]}, {{b}}{sources[1]}, {{c}}"
    return Drawn(f"{opcode}{types}{option} {operands};", model)


# ---------------------------------------------------------------------------------------- tests
def sources(rng: random.Random) -> list[list[int]]:
    """Three operands for each lane."""

    def one() -> int:
        bytes_ = sum(rng.choice((0, 1, 0x7F, 0x80, 0xFF)) << (8 * k) for k in range(4))
        return rng.choice((rng.choice(_EDGES), rng.getrandbits(32), bytes_))

    return [[one() for _ in range(_LANES)] for _ in range(3)]


def program(drawn: list[Drawn]) -> str:
    """A kernel that runs instructions on %r2, %r3 and %r4, every fourth under a guard."""
    lines = [
        "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;",
        "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;",
        *(f"ld.global.u32 %r{2 + k}, [%rd1+{4 * _LANES * k}];" for k in range(3)),
        "setp.lt.u32 %p1, %r1, 20;",
    ]
    for k, one in enumerate(drawn):
        guard = "@%p1 " if k % 4 == 3 else ""
        lines.append(f"mov.u32 %r9, 7; {guard}{one.text.format(d='%r9', a='%r2', b='%r3', c='%r4')}")
        lines.append(f"st.global.u32 [%rd2+{4 * _LANES * k}], %r9;")
    return kernel("\n".join([*lines, "ret;"]), "u64 in, u64 out")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", [*SCALAR, *SIMD])
def test_random_instructions(opcode: str, engine: str):
    rng = random.Random(f"{opcode} {SEED}")
    draw = draw_vmad if opcode == "vmad" else draw_scalar if opcode in SCALAR else draw_simd
    drawn = [draw(opcode, rng) for _ in range(_INSTRUCTIONS)]
    given = sources(rng)
    out = np.zeros((_INSTRUCTIONS, _LANES), np.uint32)
    run_ptx(program(drawn), 1, _LANES, [np.array(given, np.uint32), out], engine=engine)
    for k, one in enumerate(drawn):
        if engine == "gpu" and opcode in SCALAR and "{d}." in one.text:
            continue  # the driver's assembler merges parts otherwise than the manual says
        for lane in range(_LANES):
            operands = [column[lane] for column in given]
            runs = k % 4 != 3 or lane < 20
            expected = one.model(*operands) if runs else 7
            assert out[k, lane] == expected, (one.text, [hex(x) for x in operands], hex(out[k, lane]))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("vmad.u32.u32.u32 %r1, -%r2, %r3, -%r4;", "not both"),
        ("vmad.u32.u32.u32.po %r1, %r2, %r3, -%r4;", ".po adds one"),
        ("vadd.u32.u32.u32 %r1.h2, %r2, %r3, %r4;", "known forms"),
        ("vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "known forms"),
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "only whole registers"),
        ("vadd.u32.u32.u32.min %r1.b0, %r2, %r3, %r4;", "known forms"),
        ("vadd4.u32.u32.u32 %r1.b13, %r2, %r3, %r4;", "known forms"),
        ("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "known forms"),
        ("vset.u32.u32.lo %r1, %r2, %r3;", "known forms"),
        ("add.u32 %r1, -%r2, %r3;", "known forms"),
        ("mad.lo.u32 %r1, %r2.h0, %r3, %r4;", "only whole registers"),
    ],
)
def test_what_ptxas_refuses_too(line: str, words: str):
    with pytest.raises(UnsupportedError) as caught:
        build_program(ptx.parse(kernel(f"{line} ret;"), "k"), "k")
    assert words in str(caught.value)


def test_they_are_printed_as_they_were():
    lines = ["vadd.s32.u32.s32.sat %r1.b2, %r2.h1, %r3.b0, %r4;", "vmad.s32.s32.s32 %r1, -%r2.b1, %r3, %r4;"]
    module = ptx.parse(kernel("\n".join([*lines, "ret;"])), "k")
    printed = ptx.print_module(module)
    assert all(line in printed for line in lines)
    assert ptx.parse(printed, "k").functions[0].registers == module.functions[0].registers
