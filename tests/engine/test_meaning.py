"""What addresses mean: elements by the array's real strides, whatever its order, and no contradictions."""

from __future__ import annotations

import dataclasses
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warpglass.engine.cpu.address_space import Meaning, Placed, explain_address
from warpglass.engine.launch.arguments import Allocation, BoundArray
from warpglass.engine.launch.arrays import ArrayView, view_of

BASE = 1 << 40


def _meaning(view: ArrayView, address: int) -> Meaning:
    size = view.owner_high - view.owner_low
    placed = Placed(Allocation("x", view.owner_low, size, False, None), BASE)
    array = BoundArray("x", 0, None, view, 0, view.address - view.owner_low)
    bound: Any = SimpleNamespace(arrays=(array,))
    found = explain_address(address, bound, (placed,))
    assert found is not None
    return found


def _view(array: np.ndarray) -> ArrayView:
    view = view_of(array)
    assert view is not None
    return view


CUTS = {
    "whole": lambda x: x,
    "every second": lambda x: x[::2, :, 1::2],
    "backwards": lambda x: x[::-1, :, ::-1],
    "inner": lambda x: x[1:-1, 1:, :-1],
    "transposed": lambda x: x.transpose(1, 2, 0),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("cut", CUTS)
def test_every_element_is_itself(order: Any, cut: str) -> None:
    array = CUTS[cut](np.zeros((4, 5, 6), np.float32, order=order))
    view = _view(array)
    first = BASE + view.address - view.owner_low
    for indices in product(*map(range, array.shape)):
        address = first + sum(i * stride for i, stride in zip(indices, array.strides, strict=True))
        found = _meaning(view, address)
        assert found.indices == indices
        assert found.allocated
    for beyond in (BASE - 4, BASE + 4 * 120, BASE + 4 * 129):
        found = _meaning(view, beyond)
        inside = all(0 <= i < extent for i, extent in zip(found.indices, array.shape, strict=True))
        assert not inside
        assert not found.allocated


def test_strides_that_leave_the_memory_are_told() -> None:
    """Some compilers count strides of complex numbers in floats: elements within the shape are not there."""
    view = _view(np.zeros((5, 5, 5), np.complex64, order="F"))
    view = dataclasses.replace(view, strides=(16, 80, 400), contiguous=False)
    found = _meaning(view, BASE + 3 * 16 + 2 * 80 + 2 * 400)
    assert found.element(4, flat=False) == "x[3, 2, 2]"
    assert found.extent(flat=False) == (
        "x of shape (5, 5, 5) and strides (16, 80, 400) has only 1000 bytes of memory"
    )
