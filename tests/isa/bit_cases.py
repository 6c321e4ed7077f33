"""Cases for bits, bit fields, bytes and packed integers: the manual's definitions taken literally."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .cases import bit, case, clamp, packed, parts
from .oracles import width, wrap


# ---------------------------------------------------------------------------------------- bits
def _find(type_: str, shift: bool) -> Callable[[int], int]:
    def found(a: int) -> int:
        top = width(type_) - 1
        a = ~a if a < 0 else a
        position = next((k for k in range(top, -1, -1) if bit(a, k)), None)
        return -1 if position is None else top - position if shift else position

    return found


def _nth(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if bit(mask, base) else -1
    seen, position = 0, base
    while 0 <= position < 32:
        seen += bit(mask, position)
        if seen == abs(offset):
            return position
        position += 1 if offset > 0 else -1
    return -1


def _places(top: int, *numbers: int) -> tuple[int, ...]:
    """Starts and lengths as an H200 reads them: the low byte for 32-bit fields, all of it for 64-bit ones."""
    return tuple(number & 255 if top == 31 else min(number, 255) for number in numbers)


def _extract(type_: str) -> Callable[[int, int, int], int]:
    top = width(type_) - 1

    def extracted(a: int, start: int, length: int) -> int:
        start, length = _places(top, start, length)
        sign = bit(a, min(start + length - 1, top)) if type_[0] == "s" and length else 0
        bits = [bit(a, start + k) if k < length and start + k <= top else sign for k in range(top + 1)]
        return packed(bits, 1)

    return extracted


def _insert(type_: str) -> Callable[[int, int, int, int], int]:
    top = width(type_) - 1

    def inserted(a: int, b: int, start: int, length: int) -> int:
        start, length = _places(top, start, length)
        inside = range(start, min(start + length, top + 1))
        return packed([bit(a, k - start) if k in inside else bit(b, k) for k in range(top + 1)], 1)

    return inserted


def _mask(mode: str) -> Callable[[int, int], int]:
    def mask(start: int, length: int) -> int:
        start, length = (start & 31, length & 31) if mode == "wrap" else (start, length)
        return packed([int(start <= k < start + length) for k in range(32)], 1)

    return mask


def _extend(mode: str, type_: str) -> Callable[[int, int], int]:
    def extended(a: int, length: int) -> int:
        length = length & 31 if mode == "wrap" else length
        if length == 0:
            return 0
        return a if length >= 32 else wrap(f"{type_[0]}{length}", a)

    return extended


def _bits() -> None:
    for type_ in "u32 u64 s32 s64".split():
        case("bfind", f"bfind.{type_} {{r}}, {{a}};", type_, "u32", _find(type_, shift=False))
        case("bfind", f"bfind.shiftamt.{type_} {{r}}, {{a}};", type_, "u32", _find(type_, shift=True))
        case(
            "bfe",
            f"bfe.{type_} {{r}}, {{a}}, {{b}}, {{c}};",
            f"{type_} field field",
            type_,
            _extract(type_),
        )
    for type_ in ("b32", "b64"):
        text = f"bfi.{type_} {{r}}, {{a}}, {{b}}, {{c}}, {{d}};"
        case("bfi", text, f"{type_} {type_} field field", type_, _insert(type_))
        case("cnot", f"cnot.{type_} {{r}}, {{a}};", type_, type_, lambda a: a == 0)
    case("cnot", "cnot.b16 {r}, {a};", "b16", "b16", lambda a: a == 0)
    case("fns", "fns.b32 {r}, {a}, {b}, {c};", "b32 lane offset", "b32", _nth)
    for mode in ("clamp", "wrap"):
        case("bmsk", f"bmsk.{mode}.b32 {{r}}, {{a}}, {{b}};", "position position", "b32", _mask(mode))
        for type_ in ("u32", "s32"):
            text = f"szext.{mode}.{type_} {{r}}, {{a}}, {{b}};"
            case("szext", text, f"{type_} position", type_, _extend(mode, type_))
        limit = (lambda n: n & 31) if mode == "wrap" else (lambda n: min(n, 32))

        def left(a: int, b: int, n: int, limit: Callable[[int], int] = limit) -> int:
            return ((b << 32 | a) << limit(n)) >> 32

        def right(a: int, b: int, n: int, limit: Callable[[int], int] = limit) -> int:
            return (b << 32 | a) >> limit(n)

        case("shf", f"shf.l.{mode}.b32 {{r}}, {{a}}, {{b}}, {{c}};", "b32 b32 position", "b32", left)
        case("shf", f"shf.r.{mode}.b32 {{r}}, {{a}}, {{b}}, {{c}};", "b32 b32 position", "b32", right)


def _lookup(table: int) -> Callable[[int, int, int], int]:
    def looked_up(a: int, b: int, c: int) -> int:
        return packed([bit(table, bit(a, k) << 2 | bit(b, k) << 1 | bit(c, k)) for k in range(32)], 1)

    return looked_up


def _lop3() -> None:
    three = "b32 b32 b32"
    for table in (0x00, 0x01, 0x1B, 0x3C, 0x4D, 0x69, 0x80, 0x8E, 0x96, 0xB2, 0xCA, 0xE8, 0xF0, 0xFE, 0xFF):
        case("lop3", f"lop3.b32 {{r}}, {{a}}, {{b}}, {{c}}, {table:#x};", three, "b32", _lookup(table))
    for table in (0x00, 0x1B, 0x80, 0x96):
        for name, combine in (("and", lambda p, q: p and q), ("or", lambda p, q: p or q)):
            for sign in ("", "!"):

                def both(
                    a: int,
                    b: int,
                    c: int,
                    q: int,
                    table: int = table,
                    combine: Callable[[bool, bool], bool] = combine,
                    sign: str = sign,
                ) -> tuple[int, bool]:
                    result = _lookup(table)(a, b, c)
                    return result, combine(result != 0, bool(q) != bool(sign))

                text = f"lop3.{name}.b32 {{r}}|{{s}}, {{a}}, {{b}}, {{c}}, {table:#x}, {sign}{{d}};"
                case("lop3", text, f"{three} pred", "b32 pred", both)


# ---------------------------------------------------------------------------------------- bytes
def _permute(a: int, b: int, selector: int) -> int:
    pool = parts(a, 4, "u32") + parts(b, 4, "u32")
    chosen = [(pool[selector >> 4 * k & 7], bit(selector, 4 * k + 3)) for k in range(4)]
    return packed([0xFF * bit(byte, 7) if sign else byte for byte, sign in chosen], 8)


# The bytes of b:a that each mode picks, highest first, for selectors 0 to 3.
_MODES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def _bytes() -> None:
    case("prmt", "prmt.b32 {r}, {a}, {b}, {c};", "b32 b32 selector", "b32", _permute)
    for mode, picks in _MODES.items():

        def permuted(a: int, b: int, c: int, picks: tuple[str, ...] = picks) -> int:
            return _permute(a, b, int(picks[c & 3], 16))

        case("prmt", f"prmt.b32.{mode} {{r}}, {{a}}, {{b}}, {{c}};", "b32 b32 selector", "b32", permuted)


def _dots() -> None:
    for x in ("u32", "s32"):
        for y in ("u32", "s32"):

            def four(a: int, b: int, c: int, x: str = x, y: str = y) -> int:
                return c + sum(p * q for p, q in zip(parts(a, 4, x), parts(b, 4, y), strict=True))

            case("dp4a", f"dp4a.{x}.{y} {{r}}, {{a}}, {{b}}, {{c}};", "b32 b32 b32", "b32", four)
            for half in ("lo", "hi"):

                def two(
                    a: int, b: int, c: int, x: str = x, y: str = y, first: int = 2 * (half == "hi")
                ) -> int:
                    chosen = parts(b, 4, y)[first : first + 2]
                    return c + sum(p * q for p, q in zip(parts(a, 2, x), chosen, strict=True))

                case("dp2a", f"dp2a.{half}.{x}.{y} {{r}}, {{a}}, {{b}}, {{c}};", "b32 b32 b32", "b32", two)


def _pairs() -> None:
    operations: dict[str, Callable[[int, int], int]] = {
        "add.u16x2": lambda a, b: a + b,
        "add.s16x2": lambda a, b: a + b,
        "min.u16x2": min,
        "min.s16x2": min,
        "max.u16x2": max,
        "max.s16x2": max,
        "min.relu.s16x2": lambda a, b: max(0, min(a, b)),
        "max.relu.s16x2": lambda a, b: max(0, a, b),
        "min.s16x2.relu": lambda a, b: max(0, min(a, b)),
        "max.s16x2.relu": lambda a, b: max(0, a, b),
    }
    for name, operation in operations.items():

        def both(
            a: int,
            b: int,
            operation: Callable[[int, int], int] = operation,
            type_: str = "s" if "s16" in name else "u",
        ) -> int:
            pairs = zip(parts(a, 2, type_), parts(b, 2, type_), strict=True)
            return packed([operation(x, y) for x, y in pairs], 16)

        case("pairs", f"{name} {{r}}, {{a}}, {{b}};", "b32 b32", "b32", both, immediates=False)


_VIDEO: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}


def _video() -> None:
    kinds = [(d, x, y) for d in ("u32", "s32") for x in ("u32", "s32") for y in ("u32", "s32")]
    options = ("", ".sat", ".add") * 3
    for name, count, ((d, x, y), option) in itertools.product(
        _VIDEO, (2, 4), zip(kinds, options, strict=False)
    ):

        def results(
            a: int,
            b: int,
            c: int,
            name: str = name,
            count: int = count,
            types: tuple[str, str, str] = (d, x, y),
            option: str = option,
        ) -> int:
            dtype, xtype, ytype = types
            pairs = zip(parts(a, count, xtype), parts(b, count, ytype), strict=True)
            found = [_VIDEO[name](p, q) for p, q in pairs]
            if option == ".sat":
                found = [clamp(f"{dtype[0]}{32 // count}", value) for value in found]
            return c + sum(found) if option == ".add" else packed(found, 32 // count)

        text = f"{name}{count}.{d}.{x}.{y}{option} {{r}}, {{a}}, {{b}}, {{c}};"
        case(f"{name}{count}", text, "b32 b32 b32", "b32", results, brief=True)


for _make in (_bits, _lop3, _bytes, _dots, _pairs, _video):
    _make()
