"""Native functions compute what they do as plain Python; what is not of their language is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from types import FunctionType
from typing import Any

import pytest

from warpglass.codegen import compile_ir, link
from warpglass.observe.detectors.intrinsics import load, load_byte, load_half, store, store_byte, store_half
from warpglass.observe.natives import NotNative, Translation

Words = Any  # an annotation other than int and bool: an address

LIMIT, TABLE = 40, (3, -1, 4, 1, -5, 9, 2, 6)


class Colour(IntEnum):
    RED = 1
    GREEN = 7


def arithmetic(a, b, c):
    return (a + b * 3 - (b ^ c)) | (a & ~c) << (b & 7) >> 2


def divisions(a, b, c):
    divisor = b if b != 0 else -7
    return (a // divisor) * 1000 + a % divisor


def comparisons(a, b, c):
    chain = 1 if a < b <= c != 3 else 0
    among = (a in (b, 5, c)) + 2 * (b not in TABLE) + (4 if 0 < a in (c, 3) else 0)
    return (a == b) + 2 * (a > c) + 4 * (b >= c) + 8 * chain + 16 * (a < b < c) + 32 * among


def logic(a, b, c):
    either, both = a or b, a and b and c
    neither = not (a or b)
    return either + 3 * both + 5 * neither + (7 if not a and (b or not c) else 11)


def extremes(a, b, c):
    return min(a, b, c) * 5 + max(a, max(b, c))


def constants(a, b, c):
    return TABLE[a & 7] + LIMIT + Colour.GREEN + (b == Colour.RED) * True


def ranges(a, b, c):
    total = last = 0
    for i in range(a & 15):
        total += i
        i = i * 100  # does not change how often
        last = i
    for i in range(b & 15, c & 31, 1 + (a & 3)):
        if i == 9:
            continue
        if i > 20:
            break
        total = total * 3 + i
    for i in range(7, a & 3, -2):
        total ^= i << 4
    return total + last


def tuples(a, b, c):
    total = 0
    for one in (a, b, c, 5):
        if one == 3:
            continue
        for other in TABLE:
            if other == one:
                break
            total += other * one
        total = total ^ one
    return total


def loops(a, b, c):
    low, high, steps = 0, b & 1023, 0
    while low < high:
        middle = (low + high) >> 1
        steps += 1
        if middle < (c & 511):
            low = middle + 1
        elif middle == a:
            return -steps
        else:
            high = middle
    while True:
        steps += 1
        if steps > 12:
            return low * 100 + steps


def swapped(a: int, b: int):
    return b, a


def passed_on(a, b):
    return swapped(a, b - 1)


def either(a, b):
    return (a, b) if a < b else swapped(a, b)


def calls(a, b, c):
    a, b = b, a
    a, c = either(a, c)
    b, c = (c, b) if b == 3 else either(b, 5) if a > 1 else (7, b)
    x = y = arithmetic(a, b, c)
    p, q = passed_on(x, y)
    no_result(a)
    return (p - q) * 3 + y


def no_result(a):
    """Nothing."""
    if a == 0:
        return
    pass


def reverse(words: Words, count: int, twice: bool):
    for i in range(count // 2):
        other = words[count - 1 - i]
        words[count - 1 - i] = words[i]
        words[i] = other
    words[0] += 5
    return 2 * words[1] if twice else words[1]


def outer(words: Words, count: int):
    return reverse(words, count, True)


PURE = (arithmetic, divisions, comparisons, logic, extremes, constants, ranges, tuples, loops, calls)
NATIVES = (*PURE, swapped, either, passed_on, no_result, reverse, outer)
VALUES = (-(1 << 40), -17, -3, -1, 0, 1, 2, 3, 5, 9, 64, 700, (1 << 35) + 3)


@pytest.fixture(scope="module")
def native() -> Callable[..., Any]:
    linked = link(compile_ir(Translation(NATIVES, {f.__name__: f for f in (*PURE, swapped, outer)}).text()))

    def call(function: FunctionType, *words: int, results: int = 1) -> tuple[int, ...]:
        found = (ctypes.c_int64 * results)()
        kinds = [ctypes.c_void_p] + [ctypes.c_int64] * len(words)
        ctypes.CFUNCTYPE(None, *kinds)(linked.address(function.__name__))(found, *words)
        return tuple(found)

    return call


def wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


@pytest.mark.parametrize("function", PURE, ids=lambda function: function.__name__)
def test_natives_compute_what_python_does(native: Callable[..., Any], function: FunctionType) -> None:
    for a in VALUES:
        for b in VALUES:
            for c in VALUES:
                assert native(function, a, b, c) == (wrapped(int(function(a, b, c))),), (a, b, c)


def test_several_words_are_returned_at_an_address(native: Callable[..., Any]) -> None:
    assert native(swapped, 3, -4, results=2) == (-4, 3)


def test_subscripts_read_and_write_words(native: Callable[..., Any]) -> None:
    words = [1, 2, 3, 4, 5]
    memory = (ctypes.c_int64 * 5)(*words)
    assert native(outer, ctypes.addressof(memory), 5) == (outer(words, 5),)
    assert list(memory) == words


def memory(at):
    store_byte(at + 1, 0x1FF)
    store_half(at + 3, -2)
    store(at + 8, load_half(at + 3) * 1000 + load_byte(at + 1))
    return load(at + 8)


def test_memory_of_any_alignment() -> None:
    linked = link(compile_ir(Translation([memory], {"memory": memory}, inlined=[memory]).text()))
    room, found = (ctypes.c_uint8 * 32)(), ctypes.c_int64()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    kind(linked.address("memory"))(ctypes.addressof(found), ctypes.addressof(room) + 1)
    assert found.value == -2 * 1000 + 255
    assert bytes(room[:9]) == b"\0\0\xff\0\xfe\xff\xff\xff\0"


def other_number(a):
    if a:
        return 1, 2
    return a


def no_end(a):
    if a:
        return 1


def unknown_call(a):
    return abs(a)


def unknown_value(a):
    return a + native_text


def unknown_statement(a):
    try:
        return a
    finally:
        pass


def unknown_operation(a):
    return a / 2


def too_few(a):
    return swapped(a)  # pyright: ignore[reportCallIssue]


def by_name(a):
    return swapped(a, b=a)


def optional(a, b=1):
    return a


def floating(a):
    return a * 2.0


def identical(a):
    return a is a + 1


def uneven(a):
    a, b = (a, 1) if a else a
    return a + b


native_text = "no word"
WRONG = {
    other_number: "different numbers of words",
    no_end: "may end without",
    unknown_call: r"calls 'abs\(a\)'",
    unknown_value: "uses 'native_text'",
    unknown_statement: "says 'try:",
    unknown_operation: "operation Div",
    too_few: "gives swapped 1 arguments",
    by_name: "calls 'swapped",
    optional: "optional",
    floating: "uses '2.0'",
    identical: "compares by Is",
    uneven: "chooses between different numbers",
}


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_what_is_not_of_the_language_is_refused_with_its_place(function: FunctionType) -> None:
    with pytest.raises(NotNative, match=WRONG[function]) as caught:
        Translation([function, swapped], {"run": function}).text()
    line = function.__code__.co_firstlineno
    name, at, _ = str(caught.value).split(":", 2)
    assert name == __file__
    assert line <= int(at) <= line + 5
