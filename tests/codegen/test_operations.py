"""The rules of codegen/values/operations.py against what LLVM makes of numbers of 8 bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.test_import_direction import imports_of, module_files
from warpglass.codegen.values.bounds import Interval
from warpglass.codegen.values.operations import OPERATIONS, Operation
from warpglass.codegen.values.value import signed

BITS = 8
ALL = 1 << BITS
_ROUNDS = 60


def result(name: str, a: int, b: int) -> int | None:
    """What LLVM makes of two patterns; None where it does not say."""
    x, y = signed(a, BITS), signed(b, BITS)
    if name in ("shl", "lshr", "ashr"):
        return None if b >= BITS else {"shl": a << b, "lshr": a >> b, "ashr": x >> b}[name] % ALL
    if name in ("udiv", "urem"):
        return None if b == 0 else (a // b if name == "udiv" else a % b)
    if name in ("sdiv", "srem"):
        if y == 0 or (x, y) == (-(ALL >> 1), -1):
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return (quotient if name == "sdiv" else x - quotient * y) % ALL
    plain = {"add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b}
    extremes = {"smin": min(x, y), "smax": max(x, y), "umin": min(a, b), "umax": max(a, b)}
    return {**plain, **{f"llvm.{key}": value for key, value in extremes.items()}}[name] % ALL


ROWS = [row for row in OPERATIONS.values() if row.fold or row.bounds]
by_name = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@by_name
def test_bounds_hold_of_every_result(row: Operation):
    chance = random.Random(row.name)
    for _ in range(_ROUNDS if row.bounds else 0):
        one, two = _interval(chance), _interval(chance)
        known = [(chance.random() < 0.8 and interval) or None for interval in (one, two)]
        assert row.bounds is not None
        bounds = row.bounds(BITS, *known)
        numbers = [range(found[0], found[1] + 1) if found else range(-ALL // 2, ALL // 2) for found in known]
        for x in _some(chance, numbers[0]):
            for y in _some(chance, numbers[1]):
                made = result(row.name, x % ALL, y % ALL)
                assert bounds is None or made is None or bounds[0] <= signed(made, BITS) <= bounds[1]


@by_name
def test_known_low_bits_are_those_of_every_result(row: Operation):
    chance = random.Random(row.name)
    for _ in range(_ROUNDS if row.low_bits else 0):
        counts = [chance.choice((0, 1, 3, 5, BITS)) for _ in range(2)]
        one, two = ((count, chance.randrange(1 << count)) for count in counts)
        assert row.low_bits is not None
        count, residue = row.low_bits(one, two, BITS)
        for a in _some(chance, range(one[1], ALL, 1 << one[0])):
            for b in _some(chance, range(two[1], ALL, 1 << two[0])):
                made = result(row.name, a, b)
                assert made is None or (made - residue) % (1 << count) == 0


@by_name
def test_constants_fold_as_llvm_computes(row: Operation):
    for a in range(0, ALL, 5):
        for b in (*range(12), *range(12, ALL, 9), ALL - 1):
            made = result(row.name, a, b)
            assert row.fold is None or made is None or row.fold(a, b, BITS) % ALL == made
            if row.unit is not None and b == row.unit % ALL:
                assert made == a
            if row.absorbing is not None and b == row.absorbing:
                assert made == b


@by_name
def test_tables_hold_what_llvm_computes(row: Operation):
    if row.table is None:
        return
    for b in (*range(12), 100, 127, 128, ALL - 1):
        left = np.arange(ALL, dtype=np.uint64).reshape(8, 32)
        table = row.table(left, np.full((8, 32), b, np.uint64), BITS)
        if table is None:
            assert result(row.name, 1, b) is None
        else:
            assert table.ravel().tolist() == [result(row.name, a, b) for a in range(ALL)]


def _some(chance: random.Random, numbers: range) -> list[int]:
    """The ends of a range, and some numbers between."""
    return [numbers[0], numbers[-1], *chance.choices(numbers, k=10)]


def _interval(chance: random.Random) -> Interval:
    ends = [chance.choice((-128, -9, -1, 0, 1, 2, 7, 8, 31, 127)) for _ in range(2)]
    return min(ends), max(ends)


def test_facts_know_nothing_of_emission():
    """What values/ imports of codegen is where lanes lie and how many there are."""
    allowed = ("values", "shape", "context", "builder")
    for module in module_files():
        if module.startswith("codegen.values"):
            targets = {found.target for found in imports_of(module) if found.own}
            inside = {target.split(".")[1] for target in targets if target.startswith("codegen.")}
            assert inside <= set(allowed), module
