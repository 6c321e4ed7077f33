"""What a vector's lanes load one by one from memory: stored in parts that processors hand on at once."""

from __future__ import annotations

import re

import pytest

from warpglass.codegen.builder import Builder
from warpglass.isa.types import BITS


@pytest.mark.parametrize("width", [1, 8, 32, 128])
@pytest.mark.parametrize("type_", ["ptr", "i64", "double", "float", "i16", "i8"])
def test_parts_are_short_and_side_by_side(type_: str, width: int):
    b = Builder(set(), width)
    b.store_for_lanes(type_, "%value", "%place")
    bits = 64 if type_ == "ptr" else BITS[type_]
    stores = [line for line in b.lines if "store" in line]
    lanes = [int(found[1]) if (found := re.search(r"<(\d+) x", line)) else 1 for line in stores]
    assert sum(lanes) == width
    assert all(bits * count <= 256 for count in lanes)
    starts = [int(found[1]) for line in b.lines if (found := re.search(r"getelementptr.* i64 (\d+)", line))]
    assert [0, *starts] == [sum(lanes[:k]) * bits // 8 for k in range(len(lanes))]
