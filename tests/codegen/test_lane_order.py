"""Which lanes of a loop go first, and whether they had better go together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from warpglass.codegen.builder import Builder
from warpglass.codegen.lane_loops.costs import Costs
from warpglass.codegen.lane_loops.order import order_helper
from warpglass.codegen.machine import jit

LONG = 70_000  # rounds that no lane goes alone


def _run(width: int, emit: Callable[[Builder], None], rounds: np.ndarray, mask: int, out: np.ndarray) -> None:
    """Run code of a function of `%rounds`, `%mask` and `%out`."""
    declarations = set[str]()
    helper = order_helper(declarations, width)
    b = Builder(declarations, width)
    b.emit(f"%mask = load {b.lanes}, ptr %mask.p")
    emit(b)
    lines = "\n".join(b.lines)
    loads = "\n".join(
        f"  %{name}.at = getelementptr ptr, ptr %words, i64 {k}\n  %{name} = load ptr, ptr %{name}.at"
        for k, name in enumerate(("rounds", "mask.p", "out"))
    )
    function = f"define i64 @run(ptr %words) #0 {{\n{loads}\n{lines}\n  ret i64 0\n}}\n"
    code = jit.load_object(jit.compile_ir("\n".join(sorted(declarations)) + helper + function))
    bits = np.array([mask & (2**64 - 1), mask >> 64], np.uint64)
    words = np.array([rounds.ctypes.data, bits.ctypes.data, out.ctypes.data])
    code.run(words.ctypes.data)


def _aligned(values: np.ndarray) -> np.ndarray:
    room = np.zeros(values.size + 8, np.int64)
    start = -room.ctypes.data % 64 // 8
    room[start : start + values.size] = values
    return room[start : start + values.size]


@pytest.mark.parametrize("longest", [3, 8, 9, 500])
@pytest.mark.parametrize("width", [8, 16, 32, 64, 128])
@pytest.mark.parametrize("several", [False, True])
def test_lanes_of_fewest_rounds_go_first(several: bool, width: int, longest: int) -> None:
    """Those of as many in their order, and behind all of a mask the others, whatever their rounds.

    Unless there are many rounds: then only lanes of which several go at once are put in order.
    """
    rng = np.random.default_rng(width)
    active = rng.random(width) < 0.7
    rounds = _aligned(np.where(active, rng.integers(1, longest + 1, width), rng.integers(0, LONG, width)))
    order = np.zeros(2 * width, np.uint8)
    mask = sum(1 << int(lane) for lane in np.flatnonzero(active))

    def emit(b: Builder) -> None:
        args = [("ptr", "%rounds"), (b.lanes, "%mask"), ("i1", str(several).lower()), ("ptr", "%out")]
        b.call("void", "wg_order_lanes", args)

    _run(width, emit, rounds, mask, order)
    in_order = several or int(rounds[active].max()) <= 8
    keys = np.where(active, rounds if in_order else 0, LONG)
    assert order[:width].tolist() == np.argsort(keys, kind="stable").tolist()


@pytest.mark.parametrize(
    ("rounds", "active", "together"),
    [([7] * 32, 32, True), ([1] * 31 + [50], 32, False), ([50] * 32, 2, False), ([LONG] * 32, 32, True)],
)
def test_lanes_go_together_where_that_takes_less(rounds: list[int], active: int, together: bool) -> None:
    """That is, where all have about as many rounds and most act."""
    found = np.zeros(1, np.uint8)

    def emit(b: Builder) -> None:
        after = b.value(f"sub {b.vector('i64')} {b.load(b.vector('i64'), '%rounds')}, {b.splat('i64', '1')}")
        better, _ = Costs(alone=100, several=100, together=1000, waits=False).ways(b, after, "%mask")
        b.store("i8", b.value(f"zext i1 {better} to i8"), "%out")

    _run(32, emit, _aligned(np.array(rounds)), (1 << active) - 1, found)
    assert bool(found[0]) == together


@pytest.mark.parametrize(
    ("rounds", "active", "found"),
    [([3] * 32, 32, "alone"), ([9] * 32, 32, "several"), ([2, 40], 2, "several")],
)
def test_lanes_of_many_rounds_go_at_once(rounds: list[int], active: int, found: str) -> None:
    """Then a round takes less of each, so they do not go together."""
    ways = np.zeros(2, np.uint8)
    costs = Costs(alone=100, several=25, together=5000 if found == "alone" else 1200, waits=True)

    def emit(b: Builder) -> None:
        after = b.value(f"sub {b.vector('i64')} {b.load(b.vector('i64'), '%rounds')}, {b.splat('i64', '1')}")
        for k, way in enumerate(costs.ways(b, after, "%mask")):
            b.store("i8", b.value(f"zext i1 {way} to i8"), b.offset("%out", k))

    padded = np.array(rounds + [LONG] * (32 - len(rounds)))
    _run(32, emit, _aligned(padded), (1 << active) - 1, ways)
    assert ways.tolist() == [found == "together", found == "several"]
