"""Cases for integer arithmetic beyond one row: carry chains, saturation, selection, conversion, vector moves.

The oracles compute with Python's unbounded integers; the engine's meanings are made of machine operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .cases import case, clamp, packed
from .oracles import width, wrap


# ---------------------------------------------------------------------------------------- arithmetic
def _arithmetic() -> None:
    case("saturate", "add.sat.s32 {r}, {a}, {b};", "s32 s32", "s32", lambda a, b: clamp("s32", a + b))
    case("saturate", "sub.sat.s32 {r}, {a}, {b};", "s32 s32", "s32", lambda a, b: clamp("s32", a - b))
    case(
        "saturate",
        "mad.hi.sat.s32 {r}, {a}, {b}, {c};",
        "s32 s32 s32",
        "s32",
        lambda a, b, c: clamp("s32", (a * b >> 32) + c),
    )
    for type_ in "u16 u32 u64 s16 s32 s64".split():
        case(
            "sad",
            f"sad.{type_} {{r}}, {{a}}, {{b}}, {{c}};",
            f"{type_} " * 3,
            type_,
            lambda a, b, c: c + abs(a - b),
        )
    for order in ("min.relu.s32", "min.s32.relu"):
        case("relu", f"{order} {{r}}, {{a}}, {{b}};", "s32 s32", "s32", lambda a, b: max(0, min(a, b)))
    for order in ("max.relu.s32", "max.s32.relu"):
        case("relu", f"{order} {{r}}, {{a}}, {{b}};", "s32 s32", "s32", lambda a, b: max(0, a, b))


def _24_bits() -> None:
    for type_ in ("u32", "s32"):
        for half, shift in (("lo", 0), ("hi", 16)):

            def product(a: int, b: int, kind: str = f"{type_[0]}24", shift: int = shift) -> int:
                return wrap(kind, a) * wrap(kind, b) >> shift

            def sum_(a: int, b: int, c: int, product: Callable[[int, int], int] = product) -> int:
                return product(a, b) + c

            case("mul24", f"mul24.{half}.{type_} {{r}}, {{a}}, {{b}};", f"{type_} " * 2, type_, product)
            case("mad24", f"mad24.{half}.{type_} {{r}}, {{a}}, {{b}}, {{c}};", f"{type_} " * 3, type_, sum_)

    def saturated(a: int, b: int, c: int) -> int:
        return clamp("s32", wrap("s32", wrap("s24", a) * wrap("s24", b) >> 16) + c)

    case("mad24", "mad24.hi.sat.s32 {r}, {a}, {b}, {c};", "s32 s32 s32", "s32", saturated)


# ---------------------------------------------------------------------------------------- carry chains
def _chains() -> None:
    """Three instructions in a row; the last adds 0 and 0 and the carry, to show it."""
    for type_ in "u32 s32 u64 s64".split():
        bits = width(type_)
        ones = (1 << bits) - 1

        def added(a: int, b: int, c: int, d: int, bits: int = bits, ones: int = ones) -> tuple[int, int, int]:
            low = (a & ones) + (b & ones)
            high = (c & ones) + (d & ones) + (low >> bits)
            return low, high, high >> bits

        def subtracted(
            a: int, b: int, c: int, d: int, bits: int = bits, ones: int = ones
        ) -> tuple[int, int, int]:
            low = (a & ones) - (b & ones)
            high = (c & ones) - (d & ones) - (low < 0)
            return low, high, -(high < 0)

        four, three = f"{type_} " * 4, f"{type_} " * 3
        for name, oracle in (("add", added), ("sub", subtracted)):
            text = (
                f"{name}.cc.{type_} {{r}}, {{a}}, {{b}}; {name}c.cc.{type_} {{s}}, {{c}}, {{d}}; "
                f"{name}c.{type_} {{t}}, 0, 0;"
            )
            case("carry", text, four, three, oracle)

        def kept(a: int, b: int, ones: int = ones) -> tuple[int, int, int]:
            return a - b, (a & ones) >= (b & ones), -((a & ones) < (b & ones))

        text = (
            f"sub.cc.{type_} {{r}}, {{a}}, {{b}}; addc.cc.{type_} {{s}}, 0, 0; "
            f"sub.cc.{type_} {{s}}, {{a}}, {{b}}; addc.{type_} {{s}}, 0, 0; "
            f"add.cc.{type_} {{t}}, {{s}}, -1; subc.{type_} {{t}}, 0, 0;"
        )
        # A subtraction leaves a carry where it does not borrow, which additions then read.
        case("carry", text, f"{type_} {type_}", three, kept)

        def multiplied(
            a: int, b: int, c: int, d: int, type_: str = type_, bits: int = bits, ones: int = ones
        ) -> tuple[int, ...]:
            low = (a * b & ones) + (c & ones)
            high = (a * b >> bits & ones) + (d & ones) + (low >> bits)
            again = (a * d & ones) + (c & ones) + (high >> bits)
            top = (a * d >> bits & ones) + (b & ones) + (again >> bits)
            return low, high, again, top

        text = (
            f"mad.lo.cc.{type_} {{r}}, {{a}}, {{b}}, {{c}}; madc.hi.cc.{type_} {{s}}, {{a}}, {{b}}, {{d}}; "
            f"madc.lo.cc.{type_} {{t}}, {{a}}, {{d}}, {{c}}; madc.hi.{type_} {{u}}, {{a}}, {{d}}, {{b}};"
        )
        case("carry", text, four, four, multiplied)

        def multiplied_high(
            a: int, b: int, c: int, d: int, bits: int = bits, ones: int = ones
        ) -> tuple[int, int]:
            high = (a * b >> bits & ones) + (c & ones)
            return high, a * b + d + (high >> bits)

        text = f"mad.hi.cc.{type_} {{r}}, {{a}}, {{b}}, {{c}}; madc.lo.{type_} {{s}}, {{a}}, {{b}}, {{d}};"
        case("carry", text, four, f"{type_} {type_}", multiplied_high)


# ---------------------------------------------------------------------------------------- selection
def _choices() -> None:
    for type_ in "b16 b32 b64 u16 u32 u64 s16 s32 s64".split():
        text = f"slct.{type_}.s32 {{r}}, {{a}}, {{b}}, {{c}};"
        case("slct", text, f"{type_} {type_} s32", type_, lambda a, b, c: a if c >= 0 else b)
    comparisons: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    comparisons |= {"lo": comparisons["lt"], "ls": comparisons["le"]}
    comparisons |= {"hi": comparisons["gt"], "hs": comparisons["ge"]}
    combinations: dict[str, Callable[[bool, bool], bool]] = {
        "and": lambda p, q: p and q,
        "or": lambda p, q: p or q,
        "xor": lambda p, q: p != q,
    }
    for type_, name, number in _compared(comparisons):
        dtype, true = (("u32", -1), ("s32", -1), ("f32", 0x3F800000))[number % 3]

        def plain(a: int, b: int, name: str = name, true: int = true) -> int:
            return true if comparisons[name](a, b) else 0

        text = f"set.{name}.{dtype}.{type_} {{r}}, {{a}}, {{b}};".replace(
            "{r}", "%f50" if dtype == "f32" else "{r}"
        )
        text += " mov.b32 {r}, %f50;" if dtype == "f32" else ""
        case("set", text, f"{type_} {type_}", "b32", plain)
        for bool_, combine in combinations.items():

            def combined(
                a: int,
                b: int,
                c: int,
                name: str = name,
                true: int = true,
                combine: Callable[[bool, bool], bool] = combine,
            ) -> int:
                return true if combine(comparisons[name](a, b), not c) else 0

            head = f"set.{name}.{bool_}.{dtype}.{type_}"
            target = "%f50" if dtype == "f32" else "{r}"
            text = f"{head} {target}, {{a}}, {{b}}, !{{c}};"
            text += " mov.b32 {r}, %f50;" if dtype == "f32" else ""
            if (number + len(bool_)) % 2:
                case("set", text, f"{type_} {type_} pred", "b32", combined)


def _compared(names: dict[str, Callable[[int, int], bool]]) -> Iterator[tuple[str, str, int]]:
    number = 0
    for type_ in "b16 b32 b64 u16 u32 u64 s16 s32 s64".split():
        for name in names:
            if type_[0] == "b" and name not in ("eq", "ne"):
                continue
            if type_[0] == "s" and name in ("lo", "ls", "hi", "hs"):
                continue
            number += 1
            yield type_, name, number


# ---------------------------------------------------------------------------------------- conversion
def _saturates(dtype: str, atype: str) -> bool:
    """Whether a type has values that the other has not; ptxas refuses .sat elsewhere."""
    return clamp(dtype, clamp(atype, 1 << 70)) != clamp(atype, 1 << 70) or clamp(
        dtype, clamp(atype, -(1 << 70))
    ) != clamp(atype, -(1 << 70))


def _conversions() -> None:
    types = "u8 u16 u32 u64 s8 s16 s32 s64".split()
    for dtype in types:
        for atype in types:
            if _saturates(dtype, atype):
                text = f"cvt.sat.{dtype}.{atype} {{r}}, {{a}};"

                def saturated(a: int, dtype: str = dtype) -> int:
                    return wrap(dtype, clamp(dtype, a))

                case("cvt-sat", text, atype, dtype, saturated, immediates=False)
    for type_ in "u16 s16 u8 s8 u4 s4 u2 s2".split():
        bits = int(type_[1:])

        def pack(a: int, b: int, c: int = 0, type_: str = type_, bits: int = bits) -> int:
            return packed([clamp(type_, b), clamp(type_, a)], bits) | c << 2 * bits

        if bits == 16:
            case("cvt-pack", f"cvt.pack.sat.{type_}.s32 {{r}}, {{a}}, {{b}};", "s32 s32", "b32", pack)
        else:
            text = f"cvt.pack.sat.{type_}.s32.b32 {{r}}, {{a}}, {{b}}, {{c}};"
            case("cvt-pack", text, "s32 s32 b32", "b32", pack)


# ---------------------------------------------------------------------------------------- vectors
def _moves() -> None:
    case("mov", "mov.b32 {r}, {{{a}, {b}}};", "b16 b16", "b32", lambda a, b: a | b << 16)
    case("mov", "mov.b64 {r}, {{{a}, {b}}};", "b32 b32", "b64", lambda a, b: a | b << 32)
    case(
        "mov",
        "mov.b64 {r}, {{{a}, {b}, {c}, {d}}};",
        "b16 b16 b16 b16",
        "b64",
        lambda *values: packed(list(values), 16),
    )
    case("mov", "mov.b32 {{{r}, {s}}}, {a};", "b32", "b16 b16", lambda a: (a, a >> 16), immediates=False)
    case("mov", "mov.b64 {{{r}, {s}}}, {a};", "b64", "b32 b32", lambda a: (a, a >> 32), immediates=False)
    case("mov", "mov.b64 {{_, {r}}}, {a};", "b64", "b32", lambda a: a >> 32, immediates=False)
    case(
        "mov",
        "mov.b64 {{{r}, {s}, {t}, {u}}}, {a};",
        "b64",
        "b16 b16 b16 b16",
        lambda a: tuple(a >> 16 * k for k in range(4)),
        immediates=False,
    )
    text = "mov.b128 %rq1, {{{a}, {b}}}; mov.b128 %rq2, %rq1; mov.b128 {{{r}, {s}}}, %rq2;"
    case("mov", text, "b64 b64", "b64 b64", lambda a, b: (a, b), immediates=False)


for _make in (_arithmetic, _24_bits, _chains, _choices, _conversions, _moves):
    _make()
